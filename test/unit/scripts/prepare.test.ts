// A fresh clone with small packages, prepared by the scripts of package.json with the npm of this machine.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'

const root = path.resolve(import.meta.dirname, '../../..')
const { scripts } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { readonly scripts: Record<string, string> }

test('`npm start` installs what production needs; `npm test` adds the rest, takes nothing away, and neither is undone', async (t) => {
  const clone = await smallClone(t)
  const tool = () => installedVersion(clone, 'tool')
  t.regex(prepare(clone, 'start'), /^Installing what is missing/)
  t.deepEqual([installedVersion(clone, 'used'), tool()], ['1.0.0', null])
  t.is(prepare(clone, 'start'), '', 'a second start has nothing to do')

  // A Gatehouse may run from these packages meanwhile: what is there is not removed first.
  const mark = path.join(clone, 'node_modules', 'used', 'of-the-first')
  await writeFile(mark, '')
  t.regex(prepare(clone, 'test'), /^Installing what is missing/)
  t.is(tool(), '1.0.0')
  t.true(existsSync(mark))
  t.deepEqual([prepare(clone, 'start'), prepare(clone, 'test'), tool()], ['', '', '1.0.0'])

  for (const file of ['package.json', 'package-lock.json']) await cp(path.join(clone, 'next', file), path.join(clone, file))
  prepare(clone, 'start')
  t.deepEqual([installedVersion(clone, 'used'), tool()], ['1.1.0', '1.1.0'], 'a new lock file leaves a checkout of development one')
})

test('each command of development prepares its packages before it runs', (t) => {
  const needy = ['test', 'build', 'rehearse', 'bench', 'docs:generate', 'examples:record', 'typecheck', 'lint', 'format', 'format:check']
  for (const name of needy) t.is(scripts[`pre${name}`], 'node scripts/prepare.mjs', name)
})

/** The checkout of a project with the package `used` and, for development, `tool`. */
async function smallClone(t: ExecutionContext): Promise<string> {
  const clone = await mkdtemp(path.join(tmpdir(), 'gatehouse-clone-'))
  t.teardown(() => rm(clone, { recursive: true }))
  for (const file of ['prepare.mjs', 'link-postgres.mjs', 'prepare'])
    await cp(path.join(root, 'scripts', file), path.join(clone, 'scripts', file), { recursive: true })
  for (const name of ['used', 'tool'])
    for (const version of ['1.0.0', '1.1.0']) {
      const folder = path.join(clone, 'packages', `${name}-${version}`)
      await mkdir(folder, { recursive: true })
      await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name, version }))
    }
  npm(clone, 'pack', './packages/used-1.0.0', './packages/used-1.1.0', './packages/tool-1.0.0', './packages/tool-1.1.0')
  await lockVersion(clone, '1.1.0')
  for (const file of ['package.json', 'package-lock.json']) await cp(path.join(clone, file), path.join(clone, 'next', file))
  await lockVersion(clone, '1.0.0')
  return clone
}

async function lockVersion(clone: string, version: string): Promise<void> {
  const { prestart, pretest } = scripts
  const manifest = {
    name: 'small',
    version: '1.0.0',
    scripts: { prestart, pretest },
    dependencies: { used: `file:used-${version}.tgz` },
    devDependencies: { tool: `file:tool-${version}.tgz` },
  }
  await writeFile(path.join(clone, 'package.json'), JSON.stringify(manifest))
  npm(clone, 'install', '--package-lock-only')
}

/** Runs what npm runs before this script. Returns what it tells. */
function prepare(clone: string, script: 'start' | 'test'): string {
  return npm(clone, 'run', '--silent', `pre${script}`)
}

function npm(clone: string, ...command: readonly string[]): string {
  const { npm_execpath: _cli, npm_node_execpath: _node, ...env } = process.env
  const run = spawnSync('npm', [...command, '--offline', '--no-audit', '--no-fund'], { cwd: clone, env, encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`npm ${command.join(' ')}: ${run.stderr}${run.stdout}`)
  return run.stderr
}

function installedVersion(clone: string, name: string): string | null {
  const file = path.join(clone, 'node_modules', name, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version : null
}
