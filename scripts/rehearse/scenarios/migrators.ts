import path from 'node:path'
import { z } from 'zod'
import { inParallel } from '../../../test/support/in-parallel.ts'
import { environment } from '../../../test/support/process.ts'
import { testDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { readMigrations } from '../../../src/app/database/schema/migration-files.ts'
import { thisBuild, type Build } from '../build.ts'
import { runCommand, type Ended } from '../command.ts'
import { catalogueOf } from '../installation.ts'
import { unlike } from '../unlike.ts'

const Applied = z.object({ applied: z.array(z.string()) })

/** Two `gatehouse migrate` at once on an empty database, so many times: both end well, and each migration is applied once. */
export async function twoMigrators(rounds: number, given?: Build): Promise<readonly string[]> {
  const build = given ?? (await thisBuild())
  const expected = await migrationIds(build)
  const faults: string[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const found = await onEmptyDatabase(async (database) => {
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

/** The queries of `gatehouse migrate` on an empty database. */
export const countQueries = (): Promise<number> =>
  onEmptyDatabase(async (database) => {
    const ended = await migrate(database, { build: await thisBuild(), preload: killer })
    const count = /queries sent: (\d+)/.exec(ended.stderr)?.[1]
    if (ended.code !== 0 || count === undefined) throw new Error(describe(ended))
    return Number(count)
  })

interface Kills {
  /** How many migrators run at once. */
  readonly width: number
  readonly build?: Build
}

/**
 * `gatehouse migrate` killed with SIGKILL as it has sent each of these queries, told by number or by what they begin with: the next run
 * repairs, and the schema is the same.
 */
export async function killedMigrators(queries: readonly (number | string)[], { width, build: given }: Kills): Promise<readonly string[]> {
  const build = given ?? (await thisBuild())
  const clean = await onEmptyDatabase(async (database) => {
    await migrate(database, { build })
    return catalogueOf({ database })
  })
  const faults = await inParallel(queries, width, (query) =>
    onEmptyDatabase(async (database) => {
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

const migrationIds = async ({ folder }: Build) =>
  (await readMigrations(path.join(folder, 'migrations'))).filter(({ phase }) => phase === 'expand').map(({ id }) => id)

async function onEmptyDatabase<T>(work: (database: TestDatabase) => Promise<T>): Promise<T> {
  const database = await testDatabase({ empty: true })
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
