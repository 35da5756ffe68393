// Writes the generated parts of the documents: the figures of README.md from bench/RESULTS.md, the settings table of docs/reference/settings.md, the
// tables of codes in docs/operations/troubleshooting.md, every field of a config in docs/guide; every check, the outcomes of translation and all
// rights in docs/reference, and the last, for review, in test/golden/permissions.txt; the types of the console. With `--check` it writes no file and fails on drift.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { troubleshootingParts } from './documents/troubleshooting.ts'
import { settingsTable } from '../src/config/index.ts'
import { consoleTypes } from './documents/console-types.ts'
import { connectionParts } from './documents/connections.ts'
import { configParts } from './documents/configs.ts'
import { figureParts } from './documents/figures.ts'
import { guardrailParts } from './documents/guardrails.ts'
import { storedParts } from './documents/stored.ts'
import { matrixParts, permissionsParts } from './documents/permissions.ts'

const root = path.resolve(import.meta.dirname, '..')

/** The table of translation comes from the data of tests. The sources of an earlier release have none, and keep the table. */
async function fromConformance(): Promise<readonly (readonly [string, Readonly<Record<string, string>>])[]> {
  if (!existsSync(path.join(root, 'test/conformance/cases.ts'))) return []
  const { dialectParts } = await import('./documents/dialects.ts')
  return [['docs/reference/dialects.md', dialectParts()]]
}

/** Each document, and the contents between its markers `<!-- name:start -->` and `<!-- name:end -->`. */
const documents: readonly (readonly [file: string, parts: Readonly<Record<string, string>>])[] = [
  // The sources of an earlier release have no benchmark, and keep the figures.
  ...(existsSync(path.join(root, 'bench/RESULTS.md')) ? [['README.md', figureParts()] as const] : []),
  ['docs/reference/settings.md', { settings: settingsTable() }],
  ['docs/operations/sizing.md', { ...connectionParts(), ...storedParts() }],
  ['docs/operations/troubleshooting.md', troubleshootingParts()],
  ['docs/reference/permissions.md', permissionsParts()],
  ['docs/reference/guardrails.md', guardrailParts()],
  ['docs/guide/configs.md', configParts()],
  ...(await fromConformance()),
  ['test/golden/permissions.txt', matrixParts()],
]

/** The text with the part between the markers replaced; throws when they are missing. */
function withPart(text: string, name: string, part: string): string {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  if (!text.includes(start) || !text.includes(end)) throw new Error(`the markers ${start} and ${end} are missing`)
  return `${text.slice(0, text.indexOf(start) + start.length)}\n${part}\n${text.slice(text.indexOf(end))}`
}

/** Files that are generated whole. */
const files: readonly (readonly [file: string, text: string])[] = [['console/src/api/types.ts', consoleTypes()]]

const textOf = (file: string): string => (existsSync(path.join(root, file)) ? readFileSync(path.join(root, file), 'utf8') : '')

const wholes = [
  ...documents.map(
    ([file, parts]) => [file, Object.entries(parts).reduce((text, [name, part]) => withPart(text, name, part), textOf(file))] as const,
  ),
  ...files,
]

for (const [file, generated] of wholes) {
  const at = path.join(root, file)
  if (generated === textOf(file)) continue
  if (process.argv.includes('--check')) {
    console.error(`${file} does not match the code: run "npm run docs:generate".`)
    process.exitCode = 1
  } else {
    writeFileSync(at, generated)
    console.log(`${file}: written`)
  }
}
