import path from 'node:path'
import { z } from 'zod'
import { inParallel } from '../../../test/support/in-parallel.ts'
import { environment } from '../../../test/support/process.ts'
import { testDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { readMigrations } from '../../../src/app/database/migration-files.ts'
import { runCommand, type Ended } from '../command.ts'
import { catalogueOf } from '../installation.ts'
import { unlike } from '../unlike.ts'

const Applied = z.object({ applied: z.array(z.string()) })

/** Two `gatehouse migrate` at once on an empty database, so many times: both end well, and each migration is applied once. */
export async function twoMigrators(rounds: number): Promise<readonly string[]> {
  const expected = await migrationIds()
  const faults: string[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const found = await onEmptyDatabase(async (database) => {
      const both = await Promise.all([migrate(database), migrate(database)])
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
    const ended = await migrate(database, { preload: killer })
    const count = /queries sent: (\d+)/.exec(ended.stderr)?.[1]
    if (ended.code !== 0 || count === undefined) throw new Error(describe(ended))
    return Number(count)
  })

/** `gatehouse migrate` killed with SIGKILL as it has sent each of these queries: the next run repairs, and the schema is the same. */
export async function killedMigrators(queries: readonly number[], width: number): Promise<readonly string[]> {
  const clean = await onEmptyDatabase(async (database) => {
    await migrate(database)
    return catalogueOf({ database })
  })
  const faults = await inParallel(queries, width, (query) =>
    onEmptyDatabase(async (database) => {
      const killed = await migrate(database, { preload: killer, env: { GATEHOUSE_KILL_AT: String(query) } })
      if (killed.signal !== 'SIGKILL') return [`query ${query}: it was not killed: ${describe(killed)}`]
      const repaired = await migrate(database)
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

const migrationIds = async () => (await readMigrations()).filter(({ phase }) => phase === 'expand').map(({ id }) => id)

async function onEmptyDatabase<T>(work: (database: TestDatabase) => Promise<T>): Promise<T> {
  const database = await testDatabase({ empty: true })
  try {
    return await work(database)
  } finally {
    await database.drop()
  }
}

const migrate = ({ config }: TestDatabase, { env, preload }: { env?: Record<string, string>; preload?: string } = {}) =>
  runCommand(['migrate', '--json'], { env: { ...environment(config), ...env }, ...(preload !== undefined && { preload }) })

const describe = ({ code, signal, stdout, stderr }: Ended) =>
  `gatehouse migrate ended with ${code ?? signal}: ${stdout}${stderr}`.slice(0, 1000)
