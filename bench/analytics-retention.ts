import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { connect } from '../src/app/database/connect.ts'
import { closeOrm, openOrm } from '../src/app/database/orm.ts'
import { dropOldPartitions } from '../src/features/logs/partitions.ts'
import { storeProvider } from '../test/support/admin.ts'
import { startEmulator } from '../test/support/emulator/emulator.ts'
import { workspaceKey } from '../test/support/process.ts'
import { again, type Bench } from './analytics-bench.ts'
import { graphsOfAll } from './analytics-questions.ts'

const silent = pino({ level: 'silent' })

/** The longest wait, in milliseconds. */
export interface Waits {
  readonly request: number
  readonly list: number
  readonly graph: number
}

export interface RetentionFigures {
  readonly days: number
  readonly ms: number
  readonly before: Waits
  readonly meanwhile: Waits
}

const requestEveryMs = 20
const calmMs = 15_000

/** Drops the oldest days as the job does, while requests are served, lists and graphs are asked for, and one query takes long. */
export async function measureRetention(bench: Bench, { keepDays, days }: { readonly keepDays: number; readonly days: number }) {
  const emulator = await startEmulator({ record: false })
  await storeProvider(bench.gatehouse.origin, { slug: 'bench', url: emulator.url })
  let waits: { request: number; list: number; graph: number } = { request: 0, list: 0, graph: 0 }
  const note = (kind: keyof Waits, ms: number) => void (waits[kind] = Math.max(waits[kind], ms))
  const taken = () => {
    const all = waits
    waits = { request: 0, list: 0, graph: 0 }
    return all
  }
  const open = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const sent = request(bench).then((ms) => note('request', ms))
    open.add(sent)
    void sent.finally(() => open.delete(sent))
  }, requestEveryMs)
  const ends = [
    again(async () => note('list', (await bench.ask('/logs?page_size=20')).ms)),
    again(async (turn) => note('graph', (await bench.ask(graphsOfAll[turn % graphsOfAll.length]?.() ?? '')).ms)),
    again(() => bench.ask('/analytics/groups/metadata/env')),
  ]
  try {
    await sleep(calmMs / 3)
    taken()
    await sleep(calmMs)
    const before = taken()
    const ms = await drop(bench, keepDays)
    return { days: days - keepDays, ms, before, meanwhile: taken() } satisfies RetentionFigures
  } finally {
    clearInterval(timer)
    await Promise.all(ends.map((end) => end()))
    await Promise.all(open)
    await emulator.stop()
  }
}

async function request({ gatehouse }: Bench): Promise<number> {
  const startedAt = performance.now()
  const answer = await fetch(`${gatehouse.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': workspaceKey, 'x-service-provider': '@bench' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`a request was answered ${answer.status}`)
  return performance.now() - startedAt
}

/** Runs the job until the days are gone; returns how long it took. */
async function drop({ gatehouse }: Bench, keepDays: number): Promise<number> {
  const { runtime } = await connect(gatehouse.database, silent)
  const orm = await openOrm({ client: runtime, poolSize: 1, entities: [] })
  const startedAt = performance.now()
  try {
    await dropOldPartitions({ orm, config: { logRetentionDays: keepDays }, clock: { now: Date.now }, log: silent })
    return performance.now() - startedAt
  } finally {
    await closeOrm(orm)
  }
}
