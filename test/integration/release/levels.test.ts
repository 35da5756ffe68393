import test from 'ava'
import { z } from 'zod'
import { readOwnTable } from '../../../src/app/level/release-records.ts'
import { pendingOperations } from '../../../src/app/level/announced-operations.ts'
import { features } from '../../../src/features/index.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { fixedLevel } from '../../../src/release/level.ts'
import { startApp } from '../../support/app.ts'
import { testDatabase } from '../../support/database.ts'
import { send } from '../../support/http.ts'

const table = readOwnTable()
const Described = z.object({ info: z.object({ version: z.string() }), paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** The facts of a process at a level about itself, and the operations that it describes. */
async function boot(level: string, database: Awaited<ReturnType<typeof testDatabase>>) {
  const app = await startApp({ database, env: { RELEASE_LEVEL: level, ROLES: 'control' } })
  const ask = async (path: string): Promise<unknown> => JSON.parse((await send(app.baseUrl + path)).text)
  try {
    const { info, paths } = Described.parse(await ask('/openapi.json'))
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    return { health: await ask('/v1/health'), ready: await ask('/readyz'), described: info.version, operations: new Set(operations) }
  } finally {
    await app.stop()
  }
}

test('all levels start, say what they are, and differ by what their records add', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const config = loadConfig({})
  const pending = new Set(
    pendingOperations(table, features, { config, level: fixedLevel(config.version) }).map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    ),
  )
  let before: ReadonlySet<string> = new Set()
  for (const { version, api } of table.releases) {
    const { health, ready, described, operations } = await boot(version, database)
    const said = { version: config.version, level: version, finalized_level: config.version }
    t.like(health, said)
    t.like(ready, { status: 'ready', ...said })
    t.is(described, version)
    const added = [...operations].filter((operation) => !before.has(operation))
    const removed = [...before].filter((operation) => !operations.has(operation))
    t.deepEqual(added.toSorted(), api.added.filter((operation) => !pending.has(operation)).toSorted(), `added by ${version}`)
    t.deepEqual(removed.toSorted(), api.removed.toSorted(), `removed by ${version}`)
    before = operations
  }
})
