import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { preflightChecks } from '../../src/cli/preflight/checks.ts'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const page = read('docs/operations/troubleshooting.md')

/** The rows of the page's tables that have something in each of their cells, by their first. */
const explained = new Set([...page.matchAll(/^\| `([\w-]+)`(?: \(\d{3}\))? \| \S[^|]*\S \| \S[^|]*\S \|$/gm)].map(([, name = '']) => name))

test('the troubleshooting page explains every code that an answer can carry', (t) => {
  const codes = [...read('src/lib/errors.ts').matchAll(/^ {2}(\w+): \{ status: (\d{3}), type: /gm)]
  t.true(codes.length > 30)
  t.deepEqual(
    codes.filter(([, code = '', status = '']) => !page.includes(`| \`${code}\` (${status}) |`)).map(([, code]) => code),
    [],
  )
})

test('the troubleshooting page explains every refusal to start, every check, and every finding', (t) => {
  const refusals = [
    ...(/type RefusalCode =([^\n]*(?:\n {2}\|[^\n]*)*)/.exec(read('src/app/boot-refusal.ts'))?.[1] ?? '').matchAll(/'(\w+)'/g),
  ].map(([, code = '']) => code)
  t.true(refusals.length > 3)
  const findings = [...read('src/cli/doctor/findings.ts').matchAll(/^ {2}'?([\w-]+)'?: \{$/gm)].map(([, id = '']) => id)
  t.true(findings.length > 8)
  const faults = [...read('src/distribution/fault.ts').matchAll(/^ {2}\| '(\w+)'$/gm)].map(([, code = '']) => code)
  t.true(faults.length > 10)
  const names = [...refusals, ...findings, ...faults, ...preflightChecks.map(({ id }) => id)]
  t.deepEqual(
    names.filter((name) => !explained.has(name)),
    [],
  )
})

test('the checks tell what they are about and what to do', (t) => {
  for (const { id, about, remedy } of preflightChecks) {
    t.regex(about, /^[`A-Z][\s\S]*\.$/, id)
    t.regex(remedy, /^[`A-Z][\s\S]*[.`]$/, id)
  }
})
