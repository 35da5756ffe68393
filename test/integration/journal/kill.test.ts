import test from 'ava'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import { decodeConfidential } from '../../../src/gateway/journal/confidential.ts'
import { createLogSeal } from '../../../src/gateway/journal/log-seal.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryDirectory, until } from '../../support/journal.ts'

let database: TestDatabase
const directory = temporaryDirectory()

test.before(async () => {
  database = await testDatabase()
})
test.after.always(async () => {
  directory.remove()
  await database.drop()
})

const writer = path.join(import.meta.dirname, '../../support/journal-writer.ts')
const rounds = 20
const logKey = randomBytes(32)

/** A writer, with LOG_SEALING or without, that is killed `afterMs` after its first acknowledgement; resolves to all that it acknowledged. */
async function killedWriter(client: unknown, { afterMs, sealing }: { afterMs: number; sealing: boolean }): Promise<string[]> {
  const child = spawn(
    process.execPath,
    [writer, JSON.stringify({ directory: directory.path, client, ...(sealing && { logKey: logKey.toString('base64') }) })],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(child.stdout, 'data')
  await sleep(afterMs)
  child.kill('SIGKILL')
  await once(child, 'close')
  return text.split('\n').slice(0, -1)
}

/** How many bodies are sealed and how many are not; throws when one does not open, or is another's. */
async function openStored(): Promise<{ readonly sealed: number; readonly open: number }> {
  const seal = createLogSeal(logKey)
  const { rows } = await inDatabase(database.superuser, (pg) =>
    pg.query<StoredBody>('SELECT id, organisation_id, created_at, request_body, response_body, sealed FROM log_bodies'),
  )
  const counts = { sealed: 0, open: 0 }
  for (const { id, organisation_id: organisationId, created_at: createdAt, sealed, ...plain } of rows) {
    const opened = sealed && decodeConfidential(seal.open({ id, organisationId, createdAt: createdAt.getTime() }, sealed))
    counts[opened === null ? 'open' : 'sealed'] += 1
    const [request, response] = opened === null ? [plain.request_body, plain.response_body] : [opened.request, opened.response]
    if (request?.length !== 500 || response?.length !== 8000) throw new Error(`the bodies of ${id} are not those that were written`)
  }
  return counts
}

interface StoredBody {
  readonly id: string
  readonly organisation_id: string
  readonly created_at: Date
  readonly request_body: Buffer | null
  readonly response_body: Buffer | null
  readonly sealed: Buffer | null
}

/** The times of a roll-up whose figures are not those of the logs. */
const differing = (table: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  inDatabase(database.superuser, async (pg) => {
    await pg.query(`SELECT set_config('app.scope', 'system', false)`)
    const unit = table === 'usage_hours' ? 'hour' : 'day'
    const figures = 'sum(requests) AS requests, sum(total_tokens) AS tokens, sum(duration_us) AS duration'
    const { rows } = await pg.query<Record<string, unknown>>(
      `SELECT organisation_id, begin, r.requests AS counted, l.requests AS logged
         FROM (SELECT organisation_id, bucket AS begin, ${figures} FROM ${table} GROUP BY 1, 2) r
         FULL JOIN (SELECT organisation_id, date_trunc('${unit}', created_at, 'UTC') AS begin, ${figures} FROM usage_logs GROUP BY 1, 2) l USING (organisation_id, begin)
        WHERE (r.requests, r.tokens, r.duration) IS DISTINCT FROM (l.requests, l.tokens, l.duration)`,
    )
    return rows
  })

test('kill -9, again and again, of one or two processes: every acknowledged record is stored, and none twice', async (t) => {
  const { runtime } = await connect(database.config, silent)
  const acknowledged: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const writers = Array.from({ length: 1 + (round % 2) }, () =>
      killedWriter(runtime, { afterMs: Math.random() * 250, sealing: round % 4 < 2 }),
    )
    acknowledged.push(...(await Promise.all(writers)).flat())
  }
  const shipper = startShipper({ directory: directory.path, database: database.config, client: runtime, log: silent })
  await until(() => readdirSync(directory.path).length === 0, 60_000)
  // The shipper forgets a segment in the database after the file is gone.
  await eventually(
    async () => (await inDatabase(database.superuser, (pg) => pg.query('SELECT FROM journal_cursors'))).rowCount === 0,
    10_000,
  )
  t.like({ ...shipper.stats(), adopted: 0 }, { shipped: 0, adopted: 0, rejected: 0, fault: null })
  await shipper.stop()

  const [logs, bodies, cursors] = await inDatabase(database.superuser, async (pg) => {
    const column = async (sql: string) => (await pg.query<{ id: string }>(sql)).rows.map(({ id }) => id)
    return [
      await column('SELECT id FROM logs'),
      await column('SELECT id FROM log_bodies'),
      await column('SELECT node AS id FROM journal_cursors'),
    ]
  })
  const [logIds, bodyIds] = [new Set(logs), new Set(bodies)]
  t.log(`${acknowledged.length} acknowledged, ${logs.length} stored`)
  t.true(acknowledged.length > rounds * 10)
  t.deepEqual(
    acknowledged.filter((id) => !logIds.has(id) || !bodyIds.has(id)),
    [],
  )
  t.deepEqual([logIds.size, bodyIds.size], [logs.length, bodies.length])
  for (const table of ['usage_hours', 'usage_days']) t.deepEqual(await differing(table), [], `${table} are what the logs say`)
  const { sealed, open } = await openStored()
  t.true(sealed > 0 && open > 0)
  t.is(sealed + open, bodies.length)
  t.deepEqual(cursors, [])
})
