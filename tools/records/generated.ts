import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { changelog } from '../../src/release/notes.ts'
import type { Project } from '../../src/release/project.ts'
import type { ReleaseTable } from '../../src/release/table.ts'
import { chartFiles, type ChartSources } from '../chart/files.ts'

/** The files that are made from the records and the code, as they are and as they should be. */
export function generatedFiles(root: string, table: ReleaseTable, sources: ChartSources): Project['generated'] {
  const file = path.join(root, 'CHANGELOG.md')
  return [
    {
      path: 'CHANGELOG.md',
      found: existsSync(file) ? readFileSync(file, 'utf8') : null,
      expected: changelog(table.releases, sources.built),
    },
    ...chartFiles(root, table, sources),
  ]
}
