import path from 'node:path'
import type { Command } from 'commander'
import { hasRecords } from '../app/level/release-records.ts'
import type { ReleaseRecord } from '../release/record.ts'
import { findRelease, type ReleaseTable } from '../release/table.ts'
import { UsageError } from './failure.ts'

export { readTable, recordFiles } from '../app/level/release-records.ts'

/** The folder that holds `releases/`: the value of `--root`, or the nearest above this program. */
export function rootFor(command: Command): string {
  const named: unknown = command.optsWithGlobals()['root']
  const root = typeof named === 'string' ? path.resolve(named) : above(import.meta.dirname)
  if (root === null || !hasRecords(root)) throw new UsageError(`${root ?? 'this program'} has no releases/charts.yaml`)
  return root
}

function above(folder: string): string | null {
  if (hasRecords(folder)) return folder
  const parent = path.dirname(folder)
  return parent === folder ? null : above(parent)
}

/** The named release; throws UsageError when it does not exist. */
export function releaseNamed(table: ReleaseTable, version: string): ReleaseRecord {
  const release = findRelease(table, version)
  if (release !== null) return release
  throw new UsageError(`there is no release ${version}; the releases are ${table.releases.map((known) => known.version).join(', ')}`)
}
