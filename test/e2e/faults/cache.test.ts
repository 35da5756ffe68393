import test, { type ExecutionContext } from 'ava'
import { once } from 'node:events'
import { Client } from 'pg'
import { storeProvider } from '../../support/admin.ts'
import { testDatabase } from '../../support/database.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { usePgvector, type VectorServer } from '../../support/pgvector.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'

const provided = await usePgvector()
const server: VectorServer | null = 'missing' in provided ? null : provided
if ('missing' in provided) process.stdout.write(`SKIPPED: the vectors of the semantic cache after a crash. ${provided.missing}\n`)
test.after.always(() => server?.stop())

const topics = Array.from({ length: 12 }, (_, at) => `topic${'abcdefghijkl'[at]} house${'abcdefghijkl'[at]}`)

interface Stage {
  readonly gatehouse: Gatehouse
  readonly emulator: Emulator
  readonly ask: (text: string) => Promise<{ readonly status: number; readonly cache: string | null; readonly text: string }>
  readonly count: (table: string) => Promise<number>
  /** The keys of the vectors in the database. */
  readonly keys: () => Promise<readonly string[]>
}

/** A process with a cache that is filled, also in the database, which may be too slow for some answers. */
async function fill(t: ExecutionContext): Promise<Stage> {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const emulator = await startEmulator()
  t.teardown(() => emulator.stop())
  if (server !== null) await inDatabase(database.superuser, (client) => client.query('CREATE EXTENSION vector'))
  const env = {
    SEMANTIC_CACHE_EMBEDDING_PROVIDER: '@emulated',
    SEMANTIC_CACHE_SIMILARITY_THRESHOLD: '0.9',
    SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '256',
  }
  const gatehouse = await startGatehouse({ on: database, env })
  t.teardown(() => gatehouse.stop())
  await storeProvider(gatehouse.origin, { slug: 'emulated', url: emulator.url })
  emulator.script({
    path: /chat/,
    behaviour: ({ body }) => ({ body: JSON.stringify({ choices: [{ index: 0, message: { content: 'yes' } }], asked: body.toString() }) }),
  })
  const stage: Stage = {
    gatehouse,
    emulator,
    async ask(text) {
      const response = await fetch(`${gatehouse.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'x-service-api-key': workspaceKey,
          'content-type': 'application/json',
          'x-service-config': JSON.stringify({ provider: '@emulated', cache: { mode: 'semantic' } }),
        },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
      })
      return { status: response.status, cache: response.headers.get('x-service-cache-status'), text: await response.text() }
    },
    keys: () =>
      inDatabase(database.superuser, async (client) =>
        (await client.query<{ key: string }>('SELECT key FROM answer_vectors')).rows.map(({ key }) => key),
      ),
    count: (table) =>
      inDatabase(
        database.superuser,
        async (client) => (await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`)).rows[0]?.n ?? 0,
      ),
  }
  for (const topic of topics) t.is((await stage.ask(`why ${topic}`)).status, 200)
  const tables = server === null ? ['cached_answers'] : ['cached_answers', 'answer_vectors']
  for (const table of tables) await eventually(async () => (await stage.count(table)) > topics.length / 2, 60_000, `the rows of ${table}`)
  return stage
}

async function inDatabase<T>(config: ConstructorParameters<typeof Client>[0], run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config)
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

/** Asks all again; every answer is the asker's own. */
async function askAll(t: ExecutionContext, { ask }: Stage, text: (topic: string) => string): Promise<readonly (string | null)[]> {
  const seen: (string | null)[] = []
  for (const topic of topics) {
    const answer = await ask(text(topic))
    t.is(answer.status, 200, answer.text)
    t.true(answer.text.includes(topic), answer.text)
    seen.push(answer.cache)
  }
  return seen
}

test.serial('kill -9 of the process: answers in the database are given again, also to similar requests', async (t) => {
  const stage = await fill(t)
  const exited = once(stage.gatehouse.process, 'exit')
  stage.gatehouse.process.kill('SIGKILL')
  await exited
  await stage.gatehouse.restart()
  const seen = [await askAll(t, stage, (topic) => `why ${topic}`), await askAll(t, stage, (topic) => `${topic} why`)]
  t.true(seen[0]?.includes('HIT'))
  if (server !== null) t.true(seen[1]?.includes('SEMANTIC HIT'))
})

const crash = server === null ? test.skip : test.serial
crash('kill -9 of PostgreSQL: a cache that is empty after it costs misses, and nothing else', async (t) => {
  const stage = await fill(t)
  const before = await stage.keys()
  const asking = askAll(t, stage, (topic) => `${topic} why`)
  await server?.crash()
  await asking
  await stage.gatehouse.ready()
  await stage.gatehouse.signal('SIGKILL')
  await stage.gatehouse.restart()
  t.is(await stage.count(`answer_vectors WHERE key = ANY('{${before.join(',')}}')`), 0)
  await askAll(t, stage, (topic) => `why ${topic}`)
  await eventually(async () => (await stage.count('answer_vectors')) > 0, 60_000, 'new vectors')
  // An embedding that takes too long is a miss, as on a busy machine.
  await eventually(async () => (await askAll(t, stage, (topic) => `${topic} why`)).includes('SEMANTIC HIT'), 60_000, 'a similar answer')
})
