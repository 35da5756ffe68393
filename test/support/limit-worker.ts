// A process under a limit, without its gateway: clients that reserve, are charged by a provider, and settle, until the process is killed. Each charge
// is printed on the standard output before it is settled.
import { setTimeout as sleep } from 'node:timers/promises'
import { openSidePool } from '../../src/app/database/side-pool.ts'
import { openStoredCounters } from '../../src/app/limits/counter-store.ts'
import { createCounters } from '../../src/gateway/limits/counters.ts'
import type { Limit } from '../../src/gateway/limits/limit.ts'
import pino from 'pino'

export interface WorkerTask {
  readonly client: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly password: string
    readonly database: string
  }
  readonly limit: Limit
  readonly clients: number
  readonly most: number
  readonly skewMs: number
}

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask
// The clock of this process is wrong.
const rightNow = Date.now
Date.now = () => rightNow() + task.skewMs
const log = pino({ level: 'silent' })
const stored = openStoredCounters({ side: openSidePool(task.client, log), log })
const counters = createCounters(stored, () => performance.now())
setInterval(() => {
  counters.sweep()
  void stored.flush()
}, 100)

const random = (most: number): number => 1 + Math.floor(Math.random() * most)

async function request(): Promise<void> {
  const bound = random(task.most)
  const needs = { requests: bound, tokens: bound, cost: bound }
  let taken = counters.tryTake([task.limit], needs)
  for (let tries = 0; taken === null && tries < 8; tries += 1) {
    const refusal = await counters.fill(task.limit, bound)
    if (refusal !== null) return sleep(random(40))
    taken = counters.tryTake([task.limit], needs)
  }
  const [one] = taken ?? []
  if (one === undefined) return
  await sleep(random(30))
  // Most answers use less than their bound; some are aborted before they use anything.
  const used = Math.random() < 0.1 ? 0 : random(bound)
  process.stdout.write(`${used}\n`)
  counters.settle(one, used)
}

const client = async (): Promise<void> => {
  for (;;) await request().catch(() => sleep(20))
}
await Promise.all(Array.from({ length: task.clients }, client))
