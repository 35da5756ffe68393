import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { check } from '../../release/check.ts'
import { allItems } from '../../release/items.ts'
import type { Finding } from '../../release/project.ts'
import { statusLines } from '../../release/status.ts'
import { readTable, rootFor } from '../checkout.ts'
import { generatedFiles } from '../generated.ts'

/** `gatehouse release check|status|generate`. */
export function addRelease(program: Command): void {
  const release = program
    .command('release')
    .description('Looks after the release records in releases/.')
    .addHelpText('after', '\nExample:\n  gatehouse release check --strict')
  addCheck(release)
  addStatus(release)
  addGenerate(release)
}

/** The code of the whole product is loaded only for the commands that compare it with the records. */
const readProject = async (command: Command) => (await import('../project.ts')).readProject(rootFor(command))

const addCheck = (release: Command) =>
  release
    .command('check')
    .description('Compares the records with the announced releases, the code and the generated files (rules R1 to R14).')
    .option('--strict', 'what is recorded and not implemented yet fails too')
    .option('--json', 'the findings, as a JSON array of { rule, where, message, pending? }')
    .addHelpText('after', '\nExample:\n  gatehouse release check --strict')
    .action(async ({ strict, json }: { strict?: true; json?: true }, command: Command) => {
      const project = await readProject(command)
      const findings = check(project)
      const failures = findings.filter(({ pending }) => strict || !pending)
      if (json) console.log(JSON.stringify(findings, null, 2))
      else for (const line of [...failures.map(describe), summary(project.table.releases.length, findings)]) console.log(line)
      process.exitCode = failures.length > 0 ? 1 : 0
    })

const describe = ({ rule, where, message }: Finding) => `${rule.padEnd(3)}  ${where}: ${message}`

function summary(releases: number, findings: readonly Finding[]): string {
  const pending = findings.filter((finding) => finding.pending).length
  return `${releases} releases, ${findings.length - pending} faults, ${pending} pending`
}

const addStatus = (release: Command) =>
  release
    .command('status')
    .description('Tells release by release what is implemented and what is pending.')
    .option('--json', 'a JSON array of { version, kind, name, implemented }')
    .addHelpText('after', '\nExample:\n  gatehouse release status')
    .action(async ({ json }: { json?: true }, command: Command) => {
      const project = await readProject(command)
      console.log(json ? JSON.stringify(allItems(project), null, 2) : statusLines(project).join('\n'))
    })

const addGenerate = (release: Command) =>
  release
    .command('generate')
    .description('Writes what is made from the records: CHANGELOG.md.')
    .option('--check', 'write nothing, and fail when a file is not what the records say')
    .addHelpText('after', '\nExample:\n  gatehouse release generate --check')
    .action((options: { check?: true }, command: Command) => {
      const root = rootFor(command)
      const stale = generatedFiles(root, readTable(root)).filter(({ found, expected }) => found !== expected)
      for (const file of stale) {
        if (!options.check) writeFileSync(path.join(root, file.path), file.expected)
        console.log(
          options.check ? `${file.path} does not say what the records say: run "gatehouse release generate"` : `${file.path}: written`,
        )
      }
      process.exitCode = options.check && stale.length > 0 ? 1 : 0
    })
