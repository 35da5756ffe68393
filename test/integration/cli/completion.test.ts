import { spawnSync } from 'node:child_process'
import test from 'ava'
import { gatehouseHere } from '../../support/cli.ts'

/** How to ask a real shell for its completions at the end of a command line. */
interface Shell {
  readonly name: string
  readonly offers: (script: string, words: readonly string[]) => { readonly command: string; readonly input: string }
}

const list = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ')

const shells: readonly Shell[] = [
  {
    name: 'bash',
    offers: (script, words) => ({
      command: 'bash',
      input: `${script}\nCOMP_WORDS=(${list(words)}); COMP_CWORD=${words.length - 1}; _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`,
    }),
  },
  {
    name: 'zsh',
    // The completion system needs a terminal; the script asks it for three functions only.
    offers: (script, words) => ({
      command: 'zsh',
      input: `compdef() {}; _files() { echo FILES }; _describe() { print -l -- "\${(@)\${(P)4}%%:*}" }\n${script}\nwords=(${list(words)}); CURRENT=${words.length}; _gatehouse`,
    }),
  },
  {
    name: 'fish',
    offers: (script, words) => ({ command: 'fish', input: `${script}\ncomplete -C '${words.join(' ')}' | string replace -r '\\t.*' ''` }),
  },
]

const installed = (name: string) => spawnSync(name, ['-c', 'true']).error === undefined

for (const { name, offers } of shells) {
  // Loud on purpose: a machine without the shell must not look as if it had been tested.
  const check = installed(name) ? test : test.skip
  check(`${name} completes commands, options and their values`, async (t) => {
    const { status, stdout: script } = await gatehouseHere(['completion', name])
    t.is(status, 0)
    const offered = (...words: readonly string[]) => {
      const { command, input } = offers(script, ['gatehouse', ...words])
      const { stdout, stderr } = spawnSync(command, ['-c', input], { encoding: 'utf8' })
      t.is(stderr, '')
      return stdout.split('\n').filter((line) => line !== '' && (name === 'zsh' || line.startsWith(words.at(-1) ?? '')))
    }
    t.true(['release', 'notes', 'path', 'env', 'completion'].every((command) => offered('').includes(command)))
    t.deepEqual(
      ['check', 'generate', 'status'].filter((command) => !offered('release', '').includes(command)),
      [],
    )
    t.false(offered('release', '').includes('notes'))
    t.deepEqual(
      offered('completion', '')
        .filter((word) => /^[a-z]/.test(word))
        .toSorted(),
      ['bash', 'fish', 'zsh'],
    )
    t.true(offered('path', '--').includes('--no-volume'))
    // The value of an option is not taken for a command.
    t.true(offered('--root', 'release', 'path', '--').includes('--json'))
    t.false(offered('--root', 'release', 'path', '--').includes('--strict'))
    t.false(offered('--root', '').includes('release'))
  })
}

test('another shell is refused by name', async (t) => {
  const { status, stderr } = await gatehouseHere(['completion', 'tcsh'])
  t.is(status, 2)
  t.regex(stderr, /'tcsh' is invalid.*bash, zsh, fish/)
})
