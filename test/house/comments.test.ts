// Doc comments begin with a verb (functions) or a noun (types), and not with a headless clause: "Returns the owner of …", not "Whose …".
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const src = path.resolve(import.meta.dirname, '../../src')

/** The most headless doc comments in each folder of src. A number may only fall: lower it when you have rewritten some. */
const ceilings: Readonly<Record<string, number>> = {
  app: 0,
  cli: 0,
  config: 0,
  distribution: 0,
  features: 0,
  gateway: 33,
  lib: 0,
  release: 0,
}

/** Returns the doc comments of a file that open with a question word, each with its line. */
const headless = (file: string): readonly string[] => {
  const lines = readFileSync(path.join(src, file), 'utf8').split('\n')
  return lines.flatMap((line, at) => {
    const first = lines[at - 1]?.trim() === '/**' ? /^\s*\* (.*)$/ : /^\s*\/\*\* (.*)$/
    const comment = first.exec(line)?.[1] ?? ''
    return /^(?:What|Whether|Who|Whose|Whom|Where|Which)\b/.test(comment) ? [`src/${file}:${at + 1}: ${comment}`] : []
  })
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

test('no folder of src is without a ceiling', (t) => {
  const folders = new Set(files.filter((file) => file.includes(path.sep)).map((file) => file.split(path.sep)[0] ?? ''))
  t.deepEqual([...folders].toSorted(), Object.keys(ceilings).toSorted())
})

for (const [folder, ceiling] of Object.entries(ceilings))
  test(`src/${folder} has at most ${ceiling} headless doc comments`, (t) => {
    const found = files.filter((file) => file.startsWith(folder + path.sep)).flatMap(headless)
    t.true(found.length <= ceiling, `rewrite ${found.length - ceiling} of these:\n${found.slice(0, 20).join('\n')}`)
  })
