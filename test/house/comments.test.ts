// Doc comments begin with a verb (functions) or a noun (types), and not with a headless clause: "Returns the owner of …", not "Whose …".
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { breaksOf, commentsOf, isNoNoun, paragraphsOf, rules } from '../support/english.ts'

const src = path.resolve(import.meta.dirname, '../../src')

/** The most headless doc comments in each folder of src. A number may only fall: lower it when you have rewritten some. */
const ceilings: Readonly<Record<string, number>> = {
  app: 0,
  cli: 0,
  config: 0,
  demo: 0,
  distribution: 0,
  features: 0,
  gateway: 8,
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

type Rule = keyof typeof rules

/** The most breaks of each rule of plain English. A number may only fall: set it to the present count, which the test prints, when you have rewritten some. */
const plain: Readonly<Record<Rule, Readonly<Record<'src' | 'tests' | 'docs', number>>>> = {
  'opens with Of, In or By in place of a noun': { src: 12, tests: 15, docs: 8 },
  'has a bare who, whoever, what or whatever': { src: 70, tests: 60, docs: 140 },
  'lets code tell, say, hear or know': { src: 45, tests: 40, docs: 30 },
  'has nobody, somebody, everybody or nothing as an actor': { src: 55, tests: 20, docs: 35 },
}

/** The most types whose name is no noun phrase. */
const bareTypes = 10

interface Text {
  /** `file:line`. */
  readonly at: string
  readonly text: string
}

const root = path.resolve(src, '..')
const sources = (folder: string, ending: string): readonly string[] =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(folder, name))
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')
const comments = (folder: string): readonly Text[] =>
  sources(folder, '.ts').flatMap((file) => commentsOf(read(file)).map(({ line, text }) => ({ at: `${file}:${line}`, text })))
const pages = ['README.md', 'ARCHITECTURE.md', ...sources('docs/guide', '.md'), ...sources('docs/operations', '.md')]

const texts: Readonly<Record<'src' | 'tests' | 'docs', readonly Text[]>> = {
  src: ['src', 'tools'].flatMap(comments),
  tests: ['test', 'scripts', 'bench'].flatMap(comments),
  docs: pages.flatMap((page) => paragraphsOf(read(page)).map((text) => ({ at: page, text }))),
}

for (const [rule, ceilingsOf] of Object.entries(plain) as readonly [Rule, (typeof plain)[Rule]][])
  for (const [group, ceiling] of Object.entries(ceilingsOf) as readonly ['src' | 'tests' | 'docs', number][])
    test(`at most ${ceiling} times a sentence of ${group} ${rule}`, (t) => {
      const found = texts[group].filter(({ text }) => breaksOf(rules[rule], text) > 0)
      const count = found.reduce((sum, { text }) => sum + breaksOf(rules[rule], text), 0)
      t.log(count)
      t.true(count <= ceiling, `rewrite ${count - ceiling} of these:\n${found.map(({ at, text }) => `${at}: ${text}`).join('\n')}`)
    })

test(`at most ${bareTypes} types have a name that is no noun phrase`, (t) => {
  const found = [...sources('src', '.ts'), ...sources('tools', '.ts')].flatMap((file) =>
    [...read(file).matchAll(/^\s*(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm)]
      .filter(([, name = '']) => isNoNoun(name))
      .map(([, name = '']) => `${file}: ${name}`),
  )
  t.log(found.length)
  t.true(found.length <= bareTypes, `rename ${found.length - bareTypes} of these:\n${found.join('\n')}`)
})
