import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Config, IdentityConfig, LogStoreConfig } from '../../config/config.ts'
import { createEgress } from '../../gateway/ports/egress-making.ts'
import { unpackConnection } from '../journal/messages.ts'
import { createSession } from '../journal/session.ts'
import { concealSecret } from '../../lib/plain-secrets.ts'
import { workloadOf } from '../secret-managers/workload-of.ts'
import type { MoverInput, MoverReport } from './messages.ts'
import { countWaiting, createMover } from './mover.ts'
import { openLogStore } from './open-log-store.ts'

/** How soon after its insert a log is moved. */
const pollEveryMs = 500
const countEveryMs = 10_000

const input: MoverInput = workerData
const config: LogStoreConfig = JSON.parse(input.store, concealSecret)
const identity: IdentityConfig = JSON.parse(input.identity, concealSecret)
const session = createSession('log-store', unpackConnection(input.connection))
const proxies: Config['proxies'] = JSON.parse(input.proxies, concealSecret)
const egress = createEgress({ trustedHosts: input.trustedHosts, connectTimeoutMs: input.connectTimeoutMs, proxies })
const mover = createMover({
  ...config,
  client: () => session.client(),
  store: openLogStore(config, { egress, now: Date.now, workload: workloadOf(identity, new Set()) }),
  retentionDays: input.retentionDays,
})

const stopping = new AbortController()
let wake = new AbortController()
let countedAt = Number.NEGATIVE_INFINITY

parentPort?.on('message', () => {
  stopping.abort()
  wake.abort()
})

await run()

async function run(): Promise<void> {
  let failures = 0
  while (!stopping.signal.aborted) {
    const { fault, more } = await pass()
    failures = fault === null ? 0 : failures + 1
    if (!more) await pause(failures)
  }
  await session.drop()
  await egress.close()
  parentPort?.close()
}

/** Moves a batch and reports it. A database that is away is a fault as any other. */
async function pass(): Promise<{ readonly fault: string | null; readonly more: boolean }> {
  try {
    const result = await mover.pass()
    report({ ...result, waiting: await waiting() })
    return result
  } catch (error) {
    await session.drop()
    const fault = error instanceof Error ? error.message : String(error)
    report({ moved: 0, failed: 0, fault, waiting: null })
    return { fault, more: false }
  }
}

function report({ moved, failed, fault, waiting: count }: MoverReport): void {
  parentPort?.postMessage({ moved, failed, fault, waiting: count } satisfies MoverReport)
}

async function waiting(): Promise<number | null> {
  if (performance.now() - countedAt < countEveryMs) return null
  countedAt = performance.now()
  return countWaiting(await session.client())
}

/** Until the next poll or, after failures, twice as long each time with jitter, and the longest after many. The order to stop ends it. */
async function pause(failures: number): Promise<void> {
  const { failureThreshold, longestBackoffMs } = config
  const backoffMs = failures < failureThreshold ? Math.min(longestBackoffMs, 1000 * 2 ** (failures - 1)) : longestBackoffMs
  await sleep(failures === 0 ? pollEveryMs : backoffMs * (0.5 + Math.random() / 2), undefined, { signal: wake.signal }).catch(() => {})
  wake = new AbortController()
}
