import path from 'node:path'
import { z } from 'zod'
import { inParallel } from '../../../test/support/in-parallel.ts'
import { environment } from '../../../test/support/process.ts'
import { inDatabase, testDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { readMigrations } from '../../../src/app/database/schema/migration-files.ts'
import { thisBuild, type Build } from '../build.ts'
import { runCommand, type Ended } from '../command.ts'
import { catalogueOf } from '../installation.ts'
import { unlike } from '../unlike.ts'

const Applied = z.object({ applied: z.array(z.string()) })

/** The start of migrators. */
export interface Beginning {
  /** The migrating release; this checkout when absent. */
  readonly build?: Build
  /** A database that an earlier release made, of which each attempt gets a copy; absent: an empty one. */
  readonly from?: TestDatabase
}

/** Runs two `gatehouse migrate` at once, so many times: both end well, and each migration is applied once. */
export async function twoMigrators(rounds: number, { build: given, from }: Beginning = {}): Promise<readonly string[]> {
  const build = given ?? (await thisBuild())
  const expected = await migrationsFor(build, from)
  const faults: string[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const found = await onDatabase(from, async (database) => {
      const both = await Promise.all([migrate(database, { build }), migrate(database, { build })])
      const failed = both.filter(({ code }) => code !== 0)
      if (failed.length > 0) return failed.map(describe)
      const applied = both.flatMap(({ stdout }) => Applied.parse(JSON.parse(stdout)).applied).toSorted()
      return applied.join(' ') === expected.join(' ') ? [] : [`applied were ${applied.join(', ')}`]
    })
    faults.push(...found.map((fault) => `round ${round}: ${fault}`))
  }
  return faults
}

/** Counts the queries of `gatehouse migrate`. */
export const countQueries = (from?: TestDatabase): Promise<number> =>
  onDatabase(from, async (database) => {
    const ended = await migrate(database, { build: await thisBuild(), preload: killer })
    const count = /queries sent: (\d+)/.exec(ended.stderr)?.[1]
    if (ended.code !== 0 || count === undefined) throw new Error(describe(ended))
    return Number(count)
  })

interface Kills extends Beginning {
  /** How many migrators run at once. */
  readonly width: number
}

/**
 * `gatehouse migrate` killed with SIGKILL as it has sent each of these queries, given by number or by their begin: the next run repairs, and the
 * schema is the same.
 */
export async function killedMigrators(
  queries: readonly (number | string)[],
  { width, build: given, from }: Kills,
): Promise<readonly string[]> {
  const build = given ?? (await thisBuild())
  const clean = await onDatabase(from, async (database) => {
    await migrate(database, { build })
    return catalogueOf({ database })
  })
  const faults = await inParallel(queries, width, (query) =>
    onDatabase(from, async (database) => {
      const killed = await migrate(database, { build, preload: killer, env: { GATEHOUSE_KILL_AT: String(query) } })
      if (killed.signal !== 'SIGKILL') return [`query ${query}: it was not killed: ${describe(killed)}`]
      const repaired = await migrate(database, { build })
      const found = repaired.code === 0 ? unlike(await catalogueOf({ database }), clean) : [describe(repaired)]
      return found.map((fault) => `killed after query ${query}: ${fault}`)
    }),
  )
  return faults.flat()
}

/** So many of them, from the first to the last. */
export const spread = (count: number, most: number): readonly number[] =>
  count <= most
    ? Array.from({ length: count }, (_, at) => at + 1)
    : Array.from({ length: most }, (_, at) => 1 + Math.round((at * (count - 1)) / (most - 1)))

const killer = path.join(import.meta.dirname, 'kill-at.ts')

/** Names the migrations that `gatehouse migrate` has to apply: an empty database has no rows to fill, and contract steps are applied at once. */
async function migrationsFor({ folder }: Build, from?: TestDatabase): Promise<readonly string[]> {
  const files = await readMigrations(path.join(folder, 'migrations'))
  if (from === undefined) return files.filter(({ phase }) => phase !== 'backfill').map(({ id }) => id)
  const known = await appliedIn(from)
  return files.filter(({ id, phase }) => phase === 'expand' && !known.includes(id)).map(({ id }) => id)
}

/** Migrates a new database with a build, and leaves it to be copied. */
export async function migratedBy(build: Build): Promise<TestDatabase> {
  const database = await testDatabase({ empty: true })
  const ended = await migrate(database, { build })
  if (ended.code !== 0) throw new Error(describe(ended))
  return database
}

const appliedIn = (database: TestDatabase): Promise<readonly string[]> =>
  inDatabase(database.superuser, async (client) => {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM schema_migrations')
    return rows.map(({ id }) => id)
  })

async function onDatabase<T>(from: TestDatabase | undefined, work: (database: TestDatabase) => Promise<T>): Promise<T> {
  const database = await testDatabase(from === undefined ? { empty: true } : { copyOf: from })
  try {
    return await work(database)
  } finally {
    await database.drop()
  }
}

interface Migrating {
  readonly build: Build
  readonly env?: Readonly<Record<string, string>>
  readonly preload?: string
}

const migrate = ({ config }: TestDatabase, { build, env, preload }: Migrating) =>
  runCommand(['migrate', '--json'], {
    env: { ...environment(config), ...env },
    build: build.folder,
    ...(preload !== undefined && { preload }),
  })

const describe = ({ code, signal, stdout, stderr }: Ended) =>
  `gatehouse migrate ended with ${code ?? signal}: ${stdout}${stderr}`.slice(0, 1000)
