import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { releaseOf } from '../../../release/version.ts'
import { findProjectPath } from '../project-path.ts'
import { splitStatements, type Statement } from './sql-statements.ts'

export interface MigrationFile {
  /** Release folder and name, e.g. `v01.03.00/001-tenancy`; also the order. */
  readonly id: string
  /** SHA-256 of the file, hex. */
  readonly checksum: string
  /** The release of its folder. */
  readonly release: string
  /**
   * `expand` files add parts that newer processes use. `backfill` files are one statement each that background work repeats in batches. `contract`
   * files remove parts that older processes still use; only `finalize` runs them.
   */
  readonly phase: 'expand' | 'backfill' | 'contract'
  /** False: its statements commit one by one, and each must be safe to run again. */
  readonly transactional: boolean
  readonly statements: readonly Statement[]
}

/** All migrations of this build, in order. */
export async function readMigrations(directory = findProjectPath('migrations')): Promise<readonly MigrationFile[]> {
  if (directory === null) throw new Error('the folder `migrations` of the installation is missing')
  const names = await readdir(directory, { recursive: true })
  const ids = names.filter((name) => /^v\d\d\.\d\d\.\d\d\/[\w-]+\.sql$/.test(name)).map((name) => name.slice(0, -'.sql'.length))
  return Promise.all(ids.toSorted().map(async (id) => parse(id, await readFile(join(directory, `${id}.sql`), 'utf8'))))
}

function parse(id: string, sql: string): MigrationFile {
  const phase = headerValue(sql, 'phase')
  if (phase !== 'expand' && phase !== 'backfill' && phase !== 'contract')
    throw new Error(`migration ${id} must begin with "-- phase: expand", "-- phase: backfill" or "-- phase: contract"`)
  const statements = splitStatements(sql)
  if (phase === 'backfill') assertBackfill(id, statements)
  return {
    id,
    release: releaseOf(id),
    checksum: createHash('sha256').update(sql).digest('hex'),
    phase,
    transactional: headerValue(sql, 'transactional') !== 'false',
    statements,
  }
}

function assertBackfill(id: string, statements: readonly Statement[]): void {
  const [statement, ...others] = statements
  if (statement === undefined || others.length > 0 || !['$1', '$2'].every((parameter) => statement.text.includes(parameter)))
    throw new Error(
      `backfill ${id} must be one statement that takes the cursor ($1, text, null at first) and the size of the batch ($2), and answers one row of "cursor" and "processed"`,
    )
}

/** The header is the comment lines before the first statement. */
function headerValue(sql: string, name: string): string | undefined {
  const header = /^(?:--[^\n]*\n|\s*\n)*/.exec(sql)?.[0] ?? ''
  return new RegExp(`^-- ${name}: (\\w+)\\s*$`, 'm').exec(header)?.[1]
}
