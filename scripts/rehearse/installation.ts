import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ClientConfig } from 'pg'
import type { Feature } from '../../src/app/feature.ts'
import { inDatabase, testDatabase, type TestDatabase } from '../../test/support/database.ts'
import { adminKey, environment, workspaceKey } from '../../test/support/process.ts'
import { describeSchema } from '../../test/support/schema.ts'
import type { Build } from './build.ts'
import type { Target } from './client.ts'
import { runCommand, serve, type Ended } from './command.ts'

/** The parts of an installation that stay while no process runs: its database and its volume. */
export interface Installation {
  readonly database: TestDatabase
  readonly dataDir: string
  remove(): Promise<void>
}

/** A new installation, or a copy of one without processes. */
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

/** The releases of the rehearsal. */
export interface Product {
  /** The features whose data is made. */
  readonly features: readonly Feature[]
  /** The release as a folder to run; the same one every time. */
  readonly build: (release: string) => Promise<Build>
  /** How long a backfill may take, such as `60s`, which it is when absent. */
  readonly backfillWithin?: string
}

/** An installation that a release serves. */
export interface Served extends Target {
  readonly release: string
  readonly adminKey: string
  readonly workspaceKey: string
  /** The level that it shows now. */
  level(): Promise<unknown>
}

/** Addresses in answers are the same for any port of a release. */
const publicUrl = 'https://gatehouse.example'

/** Runs `work` on the installation as this release, in a process of its own, and ends the process again. */
export async function asRelease<T>(
  { database, dataDir }: Installation,
  { build, args = [] }: { readonly build: Build; readonly args?: readonly string[] },
  work: (served: Served) => Promise<T>,
): Promise<T> {
  const gatehouse = await serve(build, {
    on: database,
    env: { DATA_DIR: dataDir, LOG_LEVEL: 'error', CHART_CHECK: 'warn', PUBLIC_URL: publicUrl },
    args,
  })
  const { origin } = gatehouse
  const level = async () => ((await (await fetch(`${origin}/v1/health`)).json()) as { level?: unknown }).level
  try {
    return await work({ baseUrl: origin, release: build.release, adminKey, workspaceKey, level })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${gatehouse.output().slice(-2000)}`, { cause: error })
  } finally {
    await gatehouse.stop()
  }
}

/** Runs a command of a release on the installation, however it ends. */
export const command = ({ database, dataDir }: Installation, { folder }: Build, args: readonly string[]): Promise<Ended> =>
  runCommand(args, { env: { ...environment(database.config), DATA_DIR: dataDir }, build: folder })

/** The structure of its database. */
export const catalogueOf = ({ database }: Pick<Installation, 'database'>): Promise<readonly string[]> =>
  inDatabase(database.superuser, describeSchema)

/** How many rows each table has; rows of background work and passing ones are left out. */
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
