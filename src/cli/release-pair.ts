import type { Command } from 'commander'
import type { ReleaseTable } from '../release/table.ts'
import { compareVersions } from '../release/version.ts'
import { readTable, releaseNamed, rootFor } from './checkout.ts'
import { UsageError } from './failure.ts'

/** The two releases that a command's arguments `<from> <to>` name; throws UsageError unless both exist and lead upward. */
export function readReleasePair(command: Command): { readonly table: ReleaseTable; readonly from: string; readonly to: string } {
  const [from = '', to = ''] = command.args
  const table = readTable(rootFor(command))
  for (const version of [from, to]) releaseNamed(table, version)
  if (compareVersions(from, to) > 0) throw new UsageError(`${to} comes before ${from}: an upgrade leads to a later release`)
  return { table, from, to }
}
