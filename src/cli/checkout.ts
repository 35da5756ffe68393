import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { parse, YAMLParseError } from 'yaml'
import type { ReleaseRecord } from '../release/record.ts'
import { findRelease, parseTable, RecordError, type ReleaseTable } from '../release/table.ts'
import { UsageError } from './failure.ts'

/** The folder that holds `releases/`: what `--root` names, or the nearest above this program. */
export function rootFor(command: Command): string {
  const named: unknown = command.optsWithGlobals()['root']
  const root = typeof named === 'string' ? path.resolve(named) : above(import.meta.dirname)
  if (root === null || !existsSync(chartsIn(root))) throw new UsageError(`${root ?? 'this program'} has no releases/charts.yaml`)
  return root
}

const chartsIn = (root: string) => path.join(root, 'releases', 'charts.yaml')

function above(folder: string): string | null {
  if (existsSync(chartsIn(folder))) return folder
  const parent = path.dirname(folder)
  return parent === folder ? null : above(parent)
}

/** The names of the records in a checkout. */
export const recordFiles = (root: string): readonly string[] =>
  readdirSync(path.join(root, 'releases')).filter((file) => file.endsWith('.yaml') && file !== 'charts.yaml')

/** All records of a checkout; throws RecordError naming every fault. */
export function readTable(root: string): ReleaseTable {
  const read = (file: string) => readYaml(path.join(root, 'releases', file))
  return parseTable(Object.fromEntries(recordFiles(root).map((file) => [file, read(file)])), read('charts.yaml'))
}

function readYaml(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof YAMLParseError) throw new RecordError([`${path.basename(file)}: ${error.message}`])
    throw error
  }
}

/** The release that somebody named; throws UsageError when there is none. */
export function releaseNamed(table: ReleaseTable, version: string): ReleaseRecord {
  const release = findRelease(table, version)
  if (release !== null) return release
  throw new UsageError(`there is no release ${version}; the releases are ${table.releases.map((known) => known.version).join(', ')}`)
}
