import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, YAMLParseError } from 'yaml'
import { parseTable, RecordError, type ReleaseTable } from '../../release/table.ts'
import { findProjectPath } from '../database/project-path.ts'

/** Returns true if a folder contains release records. */
export const hasRecords = (root: string): boolean => existsSync(path.join(root, 'releases', 'charts.yaml'))

/** The names of the records below a folder. */
export const recordFiles = (root: string): readonly string[] =>
  readdirSync(path.join(root, 'releases')).filter((file) => file.endsWith('.yaml') && file !== 'charts.yaml')

/** All records below a folder; throws RecordError naming every fault. */
export function readTable(root: string): ReleaseTable {
  const read = (file: string) => readYaml(path.join(root, 'releases', file))
  return parseTable(Object.fromEntries(recordFiles(root).map((file) => [file, read(file)])), read('charts.yaml'))
}

/** The records that are part of this installation. */
export function readOwnTable(): ReleaseTable {
  const folder = findProjectPath('releases')
  if (folder === null) throw new Error('the folder `releases` of the installation is missing')
  return readTable(path.dirname(folder))
}

function readYaml(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof YAMLParseError) throw new RecordError([`${path.basename(file)}: ${error.message}`])
    throw error
  }
}
