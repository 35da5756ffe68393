import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ClientConfig } from 'pg'
import type { Feature } from '../../src/app/feature.ts'
import type { ReleaseTable } from '../../src/release/table.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { inDatabase, testDatabase, type TestDatabase } from '../../test/support/database.ts'
import { describeSchema } from '../../test/support/schema.ts'
import type { Migrations } from './migrations.ts'

/** What stays of an installation while no process runs: its database and its volume. */
export interface Installation {
  readonly database: TestDatabase
  readonly dataDir: string
  remove(): Promise<void>
}

/** A new installation, or a copy of one that nobody runs. */
export async function createInstallation(copyOf?: Installation): Promise<Installation> {
  const database = await testDatabase(copyOf === undefined ? { empty: true } : { copyOf: copyOf.database })
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gatehouse-rehearsal-'))
  if (copyOf !== undefined) await cp(copyOf.dataDir, dataDir, { recursive: true })
  return {
    database,
    dataDir,
    async remove() {
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** How the owner of the database logs in. */
export const loginOf = ({ database: { config } }: Pick<Installation, 'database'>): ClientConfig => ({
  host: config.host,
  port: config.port,
  user: config.user,
  password: config.password?.reveal(),
  database: config.name,
})

/** What the releases are that are rehearsed. */
export interface Product {
  readonly features: readonly Feature[]
  readonly table: ReleaseTable
  readonly migrations: Migrations
  /** How long a backfill may take; a minute when absent. */
  readonly backfillWithinMs?: number
}

/** Runs `work` on the installation as this release, which brings its schema up first, and ends the process again. */
export async function asRelease<T>(
  { database, dataDir }: Installation,
  { release, product }: { readonly release: string; readonly product: Product },
  work: (app: TestApp) => Promise<T>,
): Promise<T> {
  const { features, table, migrations } = product
  const app = await startApp({
    database,
    release,
    features,
    env: { DATA_DIR: dataDir, LOG_LEVEL: 'error' },
    overrides: { releases: table, migrations: migrations.all },
  })
  try {
    return await work(app)
  } finally {
    await app.stop()
  }
}

/** The structure of its database. */
export const catalogueOf = ({ database }: Pick<Installation, 'database'>): Promise<readonly string[]> =>
  inDatabase(database.superuser, describeSchema)

/** How many rows each table has; what runs by itself and what is only passing by is left out. */
export const rowCounts = ({ database }: Pick<Installation, 'database'>): Promise<ReadonlyMap<string, number>> =>
  inDatabase(database.superuser, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition AND relname <> ALL ($1)`,
      [passing],
    )
    const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS rows FROM ${name}`)
    const { rows } = await client.query<{ name: string; rows: number }>(counts.join(' UNION ALL '))
    return new Map(rows.map((row) => [row.name, row.rows]))
  })

const passing = ['changes', 'idempotency_keys', 'journal_cursors']
