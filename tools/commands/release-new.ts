import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { stringify } from 'yaml'
import { ReleaseRecord } from '../../src/release/record.ts'
import { scaffold } from '../records/scaffold.ts'
import type { ReleaseTable } from '../../src/release/table.ts'
import { compareVersions, isVersion } from '../../src/release/version.ts'
import { rootFor } from '../../src/cli/checkout.ts'
import { explain } from '../../src/cli/command-help.ts'
import { CommandError, UsageError } from '../../src/cli/failure.ts'

interface Options {
  readonly date: string
  readonly print?: true
}

/** `gatehouse release new <version>`. */
export const addReleaseNew = (release: Command): Command =>
  explain(release.command('new'), {
    example: 'gatehouse release new 1.13.0 --date 2026-03-20',
    exits: { 1: 'the record exists already, or another one is faulty' },
  })
    .description('Writes the record of a new release, filled with the features, settings, operations and migrations that no record names.')
    .argument('<version>', 'the new release, after all others')
    .addOption(new Option('--date <date>', 'when it is published').argParser(readDate).default(today(), 'today'))
    .option('--print', 'write the record to standard output, and no file')
    .action(async (version: string, { date, print }: Options, command: Command) => {
      const root = rootFor(command)
      // The code of the whole product is loaded only here, because it determines the additions.
      const { readProject } = await import('../records/project.ts')
      const { readMigrations } = await import('../../src/app/database/schema/migration-files.ts')
      const project = readProject(root)
      const file = path.join('releases', `${version}.yaml`)
      checkVersion(version, project.table)
      if (existsSync(path.join(root, file))) throw new CommandError(`${file} exists already`)
      const migrations = await readMigrations(path.join(root, 'migrations'))
      const draft = scaffold(project, { version, date, phases: Object.fromEntries(migrations.map(({ id, phase }) => [id, phase])) })
      const text = stringify(compact(draft), { lineWidth: 120 })
      if (print) return console.log(text.trimEnd())
      writeFileSync(path.join(root, file), text)
      console.log(
        `${file}: written. Write its notes, look at its floors, then run "gatehouse release generate" and "gatehouse release check".`,
      )
    })

function checkVersion(version: string, { releases }: ReleaseTable): void {
  if (!isVersion(version)) throw new UsageError(`${version} is no version: write major.minor.patch, such as 1.13.0`)
  const newest = releases.at(-1)?.version
  if (newest !== undefined && compareVersions(version, newest) <= 0) throw new UsageError(`${version} does not come after ${newest}`)
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

function readDate(text: string): string {
  const { success, data } = ReleaseRecord.shape.date.safeParse(text)
  if (success) return data
  throw new InvalidArgumentError('write a date such as 2026-03-20')
}

/** Leaves out empty fields, as records do. */
function compact(draft: object): object {
  return Object.fromEntries(
    Object.entries(draft).flatMap(([name, value]: [string, unknown]) => {
      const kept = typeof value === 'object' && value !== null && !Array.isArray(value) ? compact(value) : value
      const empty = typeof kept === 'object' && kept !== null && Object.keys(kept).length === 0
      return empty ? [] : [[name, kept]]
    }),
  )
}
