import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { check } from '../../release/check.ts'
import { allItems } from '../../release/items.ts'
import type { Finding } from '../../release/project.ts'
import { statusLines } from '../../release/status.ts'
import { readTable, rootFor } from '../checkout.ts'
import { answer } from '../answer.ts'
import { explain } from '../command-help.ts'
import { generatedFiles } from '../generated.ts'
import { addReleaseBuild } from './release-build.ts'
import { addReleaseLock } from './release-lock.ts'
import { addReleaseNew } from './release-new.ts'
import { addReleasePublish } from './release-publish.ts'
import { addReleaseSign } from './release-sign.ts'
import { addReleaseVerify } from './release-verify.ts'

/** `gatehouse release check|status|generate|new|lock|build|sign|verify|publish`. */
export function addRelease(program: Command): void {
  const release = explain(program.command('release'), { example: 'gatehouse release check --strict' }).description(
    'Looks after the release records in releases/, and builds, signs and publishes what they describe.',
  )
  addCheck(release)
  addStatus(release)
  addGenerate(release)
  addReleaseNew(release)
  addReleaseLock(release)
  addReleaseBuild(release)
  addReleaseSign(release)
  addReleaseVerify(release)
  addReleasePublish(release)
}

/** The code of the whole product is loaded only for the commands that compare it with the records. */
const loadProject = () => import('../project.ts')
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
