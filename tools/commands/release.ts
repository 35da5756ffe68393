import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { answer } from '../../src/cli/answer.ts'
import { readTable, rootFor } from '../../src/cli/checkout.ts'
import { explain } from '../../src/cli/command-help.ts'
import { allItems } from '../../src/release/items.ts'
import type { Finding } from '../../src/release/project.ts'
import { check } from '../records/check.ts'
import { generatedFiles } from '../records/generated.ts'
import { statusLines } from '../records/status.ts'
import { addReleaseBuild } from './release-build.ts'
import { addReleaseLock } from './release-lock.ts'
import { addReleaseNew } from './release-new.ts'

/** Adds `check|status|generate|new|lock|build`, which work on a checkout, to the commands of `gatehouse release`. */
export function addMakersRelease(release: Command): void {
  release.description('Looks after the release records in releases/, and builds, signs and publishes what they describe.')
  addCheck(release)
  addStatus(release)
  addGenerate(release)
  addReleaseNew(release)
  addReleaseLock(release)
  addReleaseBuild(release)
}

/** The code of the whole product is loaded only for the commands that compare it with the records. */
const loadProject = () => import('../records/project.ts')
const readProject = async (command: Command) => (await loadProject()).readProject(rootFor(command))

const addCheck = (release: Command) =>
  explain(release.command('check'), {
    example: 'gatehouse release check --strict',
    exits: { 1: 'a rule found a fault, or a release record is faulty' },
  })
    .description('Compares the records with the announced releases, the code and the generated files (rules R1 to R15).')
    .option('--strict', 'entries that are recorded and not implemented yet fail too')
    .option('--json', 'the findings, as a JSON array of { rule, where, message, pending? }')
    .action(async ({ strict, json }: { strict?: true; json?: true }, command: Command) => {
      const project = await readProject(command)
      const findings = check(project)
      const failures = findings.filter(({ pending }) => strict || !pending)
      answer(json, findings, [...failures.map(describe), summary(project.table.releases.length, findings)].join('\n'))
      process.exitCode = failures.length > 0 ? 1 : 0
    })

const describe = ({ rule, where, message }: Finding) => `${rule.padEnd(3)}  ${where}: ${message}`

function summary(releases: number, findings: readonly Finding[]): string {
  const pending = findings.filter((finding) => finding.pending).length
  return `${releases} releases, ${findings.length - pending} faults, ${pending} pending`
}

const addStatus = (release: Command) =>
  explain(release.command('status'), { example: 'gatehouse release status', exits: { 1: 'a release record is faulty' } })
    .description('Lists the implemented and pending entries, release by release.')
    .option('--json', 'a JSON array of { version, kind, name, implemented }')
    .action(async ({ json }: { json?: true }, command: Command) => {
      const project = await readProject(command)
      answer(json, allItems(project), statusLines(project).join('\n'))
    })

const addGenerate = (release: Command) =>
  explain(release.command('generate'), {
    example: 'gatehouse release generate --check',
    exits: { 1: 'a file does not match the records, or a release record is faulty' },
  })
    .description("Writes the files generated from the records and the settings: CHANGELOG.md and the chart's.")
    .option('--check', 'only compare, and fail when a file does not match the records')
    .action(async (options: { check?: true }, command: Command) => {
      const root = rootFor(command)
      const { chartSources } = await loadProject()
      const stale = generatedFiles(root, readTable(root), chartSources()).filter(({ found, expected }) => found !== expected)
      for (const file of stale) {
        if (!options.check) write(path.join(root, file.path), file.expected)
        console.log(options.check ? `${file.path} does not match the records: run "gatehouse release generate"` : `${file.path}: written`)
      }
      process.exitCode = options.check && stale.length > 0 ? 1 : 0
    })

function write(file: string, content: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, content)
}
