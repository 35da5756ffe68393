// Reservations of the ledger on a real PostgreSQL: on a slice that serves in one process, and of small budgets that four processes spend to their end. `--write` stores them in bench/LIMITS.md.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client, type ClientConfig } from 'pg'
import pino from 'pino'
import { startEmbedded } from '../src/app/database/embedded/embedded.ts'
import { migrate } from '../src/app/database/schema/migrate.ts'
import { openSidePool } from '../src/app/database/side-pool.ts'
import { openStoredCounters } from '../src/app/limits/counter-store.ts'
import { createCounters } from '../src/gateway/limits/counters.ts'
import type { Limit } from '../src/gateway/limits/limit.ts'

const silent = pino({ level: 'silent' })
const { values: options } = parseArgs({ options: { write: { type: 'boolean', default: false }, worker: { type: 'string' } } })
const seconds = 5
const processes = 4
const clients = 32
/** Small budgets that are spent to their end. */
const budgets = 40
const reservations = 500

const window = { slotMs: null, reset: null, days: null, anchor: null } as const
const limitOf = (organisationId: string, name: string, value: number): Limit => ({
  id: `api-key:${name}:usage:cost`,
  organisationId,
  name,
  kind: 'usage',
  counts: 'cost',
  value,
  window,
  budget: { kind: 'api-key', id: randomUUID(), from: 0, threshold: null },
})

interface Work {
  readonly client: ClientConfig
  readonly limits: readonly Limit[]
  readonly needed: number
}

/** Opens the ledger of a process, which counts how often it asks the database. */
function open(client: ClientConfig) {
  const side = openSidePool(client, silent)
  const stored = openStoredCounters({ side, log: silent })
  const told = { asked: 0 }
  const counters = createCounters({ ...stored, take: (...given) => ((told.asked += 1), stored.take(...given)) }, () => performance.now())
  const sweeping = setInterval(() => {
    counters.sweep()
    void stored.flush()
  }, 100)
  const stop = async () => {
    clearInterval(sweeping)
    await stored.stop()
    await side.end()
  }
  return { counters, told, stop }
}

/** Reserves and gives back for some seconds, so that the slice always serves. */
async function reserveWarm({ client, limits, needed }: Work) {
  const { counters, told, stop } = open(client)
  const needs = { requests: 1, tokens: 1, cost: needed }
  const until = performance.now() + seconds * 1000
  let done = 0
  while (performance.now() < until) {
    const [one] = counters.tryTake(limits, needs) ?? []
    if (one === undefined) {
      for (const limit of limits) await counters.fill(limit, needed)
      continue
    }
    counters.settle(one, 0)
    done += 1
    // Requests come from the network: others have their turn.
    if (done % 64 === 0) await new Promise(setImmediate)
  }
  await stop()
  return { done, asked: told.asked }
}

/** Spends small budgets to their end, one after the other. Returns how many reservations it had, and until when. */
async function spend({ client, limits, needed }: Work) {
  const { counters, stop } = open(client)
  const needs = { requests: 1, tokens: 1, cost: needed }
  let done = 0
  let lastAt = 0
  for (const limit of limits) {
    const spendOne = async () => {
      for (;;) {
        const [one] = counters.tryTake([limit], needs) ?? []
        if (one === undefined) {
          if ((await counters.fill(limit, needed)) !== null) return
          continue
        }
        counters.settle(one, needed)
        done += 1
        lastAt = Date.now()
        await new Promise(setImmediate)
      }
    }
    await Promise.all(Array.from({ length: clients }, spendOne))
  }
  await stop()
  return { done, lastAt }
}

/** Resolves with the reservations a second of all processes together; throws when they are more than the budgets hold. */
async function inProcesses(work: Work): Promise<number> {
  const startedAt = Date.now()
  const told = await Promise.all(
    Array.from({ length: processes }, () => {
      const child = fork(import.meta.filename, ['--worker', JSON.stringify(work)], { execArgv: process.execArgv })
      return new Promise<Awaited<ReturnType<typeof spend>>>((resolve) => child.once('message', resolve))
    }),
  )
  const done = told.reduce((sum, one) => sum + one.done, 0)
  const most = work.limits.reduce((sum, { value }) => sum + value / work.needed, 0)
  if (done > most) throw new Error(`${done} reservations in budgets for ${most}`)
  return (done * 1000) / (Math.max(...told.map(({ lastAt }) => lastAt)) - startedAt)
}

async function measure(folder: string) {
  const database = await startEmbedded({ dataDir: folder, log: silent })
  try {
    const { host, port, name, superuser } = database
    const client = { host, port, database: name, ...superuser }
    const sql = new Client(client)
    await sql.connect()
    await migrate({ host, port, database: name, user: database.user, password: database.password }, silent)
    const organisationId = randomUUID()
    await sql.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, 'bench', 'Bench')`, [organisationId])
    await sql.end()
    const warm = await reserveWarm({ client, limits: [limitOf(organisationId, 'warm', 1e15)], needed: 1000 })
    const small = Array.from({ length: budgets }, (_, at) => limitOf(organisationId, `near-${at}`, reservations * 1000))
    const near = await inProcesses({ client, limits: small, needed: 1000 })
    return { warm: warm.done / seconds, waits: warm.asked, near }
  } finally {
    await database.stop()
  }
}

if (options.worker === undefined) {
  const [load = 0] = loadavg()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-reservations-'))
  const found = await measure(folder)
  rmSync(folder, { recursive: true, force: true })
  const rows = [
    ['Reservations/s of one process on a slice that serves', 'at least 20,000', Math.round(found.warm).toLocaleString('en')],
    ['Questions to the database meanwhile', 'none that a request waits for', String(found.waits)],
    [
      `Exact reservations/s of ${processes} processes that spend budgets of ${reservations} requests to their end, one after the other`,
      'at least 2,000',
      Math.round(found.near).toLocaleString('en'),
    ],
  ]
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`)
  const text = `# Reservations\n\nMade by \`npm run bench:limits -- --write\`; do not edit.\n\n| | wanted | measured |\n|---|---:|---:|\n${lines.join('\n')}\n\nMachine: ${cpus().length} × ${cpus()[0]?.model ?? ''}, Node ${process.versions.node}, PostgreSQL on the same cores; load average before the run ${load.toFixed(1)}.\n`
  console.log(text)
  if (options.write) writeFileSync(join(import.meta.dirname, 'LIMITS.md'), text)
} else {
  const work = JSON.parse(options.worker) as Work
  process.send?.(await spend(work), () => process.exit())
}
