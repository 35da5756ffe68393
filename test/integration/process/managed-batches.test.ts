// Processes that are killed while they run a batch: each line has one result, one log and one settlement.
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { Client } from 'pg'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { sendJson } from '../../support/http.ts'
import { adminKey, type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { clientOf, ended, lineOf, resultsOf, startBatch } from '../features/managed-setup.ts'

let emulator: Emulator
let one: Gatehouse
let two: Gatehouse
let sql: Client
/** By text, how often the provider was asked. */
const asked = new Map<string, number>()

test.before(async () => {
  emulator = await startEmulator()
  emulator.script({
    behaviour({ body }) {
      const content = (JSON.parse(body.toString()) as { messages: { content: string }[] }).messages[0]?.content ?? ''
      asked.set(content, (asked.get(content) ?? 0) + 1)
      const usage = { prompt_tokens: 10 + (Number(content.split(' ')[1]) % 7), completion_tokens: 5, total_tokens: 0 }
      const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }]
      return {
        delayMs: 80,
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'gpt-4o-mini', choices, usage }),
      }
    },
  })
  const env = { BATCH_LINES_AT_ONCE: '4' }
  one = await startGatehouse({ env })
  two = await startGatehouse({ env, beside: one })
  sql = new Client(one.superuser)
  await sql.connect()
  const headers = { 'x-service-api-key': adminKey }
  const account = {
    name: 'p',
    slug: 'p',
    ai_provider_id: 'openai',
    key: 'sk',
    configurations: { custom_host: emulator.url },
    default_provider_slug: 'p',
  }
  const made = await sendJson(`${one.origin}/v1/integrations`, headers, account)
  if (made.status !== 200) throw new Error(made.text)
  const shared = await fetch(`${one.origin}/v1/integrations/p/workspaces`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ global_workspace_access: { enabled: true }, create_default_provider: true }),
  })
  if (shared.status !== 200) throw new Error(await shared.text())
})
test.after.always(async () => {
  await sql?.end()
  await two?.stop()
  await one?.stop()
  await emulator?.stop()
})

const count = 200
const client = (process: Gatehouse) => clientOf(process.origin, workspaceKey)
const linesNamed = (name: string) => Array.from({ length: count }, (_, at) => lineOf(`${name}-${at}`, `${name} ${at}`))
const doneOf = (name: string) => [...asked.keys()].filter((text) => text.startsWith(`${name} `)).length
/** In pico-US-dollars: 0.15 a million of input, 0.60 of output. */
const expectedCost = Array.from({ length: count }, (_, at) => (10 + (at % 7)) * 150_000 + 5 * 600_000).reduce((sum, cost) => sum + cost, 0)

interface Ledger {
  readonly logs: number
  readonly cost: number
}
async function ledgerOf(batchId: string): Promise<Ledger> {
  const { rows } = await sql.query<{ logs: string; cost: string }>(
    'SELECT count(*) AS logs, coalesce(sum(cost_pico), 0) AS cost FROM logs WHERE trace_id = $1',
    [batchId],
  )
  return { logs: Number(rows[0]?.logs), cost: Number(rows[0]?.cost) }
}

test.serial('two processes share a batch, and each line is run once', async (t) => {
  const { id } = await startBatch(client(one), linesNamed('shared'))
  await eventually(() => doneOf('shared') > 0, 15_000)
  const runners = new Set<string>()
  await eventually(
    async () => {
      const { rows } = await sql.query<{ runner: string }>(
        `SELECT DISTINCT runner FROM batch_lines WHERE batch_id = $1 AND state = 'running'`,
        [id],
      )
      for (const { runner } of rows) runners.add(runner)
      return runners.size === 2
    },
    15_000,
    'both processes at work',
  )
  const batch = await ended(client(two), id, 60_000)
  t.like(batch.request_counts, { total: count, completed: count, failed: 0 })
  t.true([...asked].every(([text, times]) => !text.startsWith('shared ') || times === 1))
  await eventually(async () => (await ledgerOf(id)).logs === count, 15_000)
  t.is((await ledgerOf(id)).cost, expectedCost)
})

test.serial('after kills at random moments each line has one result, one log and one settlement', async (t) => {
  const { id } = await startBatch(client(one), linesNamed('killed'))
  for (const [at, process] of [
    [30, one],
    [70, two],
    [110, one],
  ] as const) {
    await eventually(() => doneOf('killed') >= at, 60_000, `${at} lines`)
    await sleep(Math.random() * 40)
    await process.signal('SIGKILL')
    await process.restart()
  }
  const batch = await ended(client(two), id, 120_000)
  t.like(batch, { status: 'completed', request_counts: { total: count, completed: count, failed: 0 } })
  const results = await resultsOf(client(one), batch.output_file_id)
  t.deepEqual(
    results.map(({ custom_id }) => custom_id),
    Array.from({ length: count }, (_, at) => `killed-${at}`),
  )
  t.true(results.some(({ attempts = 1 }) => attempts > 1))
  await eventually(async () => (await ledgerOf(id)).logs >= count, 30_000, 'the logs of all lines')
  t.deepEqual(await ledgerOf(id), { logs: count, cost: expectedCost })
})

test.serial('a process that is told to end gives its lines to others, or ends them', async (t) => {
  const { id } = await startBatch(client(one), linesNamed('drained'))
  await eventually(() => doneOf('drained') > 20, 30_000)
  const begun = performance.now()
  t.is(await one.signal('SIGTERM'), 0)
  t.true(performance.now() - begun < 10_000)
  const { rows } = await sql.query<{ running: string }>(
    `SELECT count(*) AS running FROM batch_lines WHERE batch_id = $1 AND state = 'running'`,
    [id],
  )
  t.true(Number(rows[0]?.running) <= 8, 'only the lines that the other process holds')
  const batch = await ended(client(two), id, 60_000)
  t.like(batch.request_counts, { total: count, completed: count, failed: 0 })
  t.true([...asked].every(([text, times]) => !text.startsWith('drained ') || times === 1))
  await one.restart()
})
