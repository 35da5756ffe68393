import { setTimeout as sleep } from 'node:timers/promises'
import { askAdmin, manage } from '../../../test/support/admin.ts'
import { startBalancer, type Balancer } from '../../../test/support/balancer.ts'
import { startEmulator } from '../../../test/support/emulator/emulator.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { chat, failures, startLoad, type Ask, type Load } from '../../../test/support/load.ts'
import { readLogged, untilLogged } from '../../../test/support/logged.ts'
import { adminKey, environment, workspaceKey, type Gatehouse } from '../../../test/support/process.ts'
import { testDatabase } from '../../../test/support/database.ts'
import type { Build } from '../build.ts'
import { mustRun, serve } from '../command.ts'
import { storeEmulated } from './emulated.ts'

/** The processes that are there, and those that take their place. */
export interface Roll {
  readonly old: Build
  readonly next: Build
}

/** The outcome of a rolling upgrade. */
export interface RollingUpgrade {
  readonly faults: readonly string[]
  readonly requests: number
}

/**
 * A rolling upgrade from one build to another, under load: clients of both planes behind a balancer, while the new release migrates, starts beside the old one,
 * serves with it for so many seconds, remains alone and is finalized. No request may fail, and every exchange is logged once.
 */
export async function rollingUpgrade(seconds: number, { old, next }: Roll): Promise<RollingUpgrade> {
  const [database, emulator] = await Promise.all([testDatabase({ empty: true }), startEmulator()])
  const env = { DRAIN_DELAY: '700ms', TERMINATION_GRACE: '30s', LOG_LEVEL: 'debug' }
  const processes: Gatehouse[] = []
  const run = (build: Build, ...args: readonly string[]) => mustRun(build, args, environment(database.config))
  try {
    await run(old, 'migrate')
    const first = await serve(old, { on: database, env })
    processes.push(first)
    await storeEmulated(first.origin, 'emulated', emulator.url)
    const second = await serve(next, { on: database, env, untilReady: false })
    processes.push(second)
    const balancer = await startBalancer([first.origin, second.origin])
    const loads = await startLoads(balancer, first)
    await run(next, 'migrate')
    await balancer.until(second.origin, true)
    const faults = [...(await eachSeesTheOther(first, second))]
    await sleep(seconds * 1000)
    await first.signal('SIGTERM')
    await run(next, 'backfill', 'wait', '--timeout', '60s')
    await run(next, 'finalize')
    await eventually(async () => (await levelOf(second)) === next.release, 10_000, 'the new level')
    const outcomes = (await Promise.all(loads.map((load) => load.stop()))).flat()
    await balancer.stop()
    const ids = outcomes.flatMap(({ id, ask }) => (id !== null && ask.label !== 'control' ? [id] : []))
    await untilLogged(database.superuser, ids, 20_000).catch(() => {})
    const { missing, doubled } = await readLogged(database.superuser, ids)
    faults.push(...Object.entries(failures(outcomes)).map(([kind, count]) => `${count} times: ${kind}`))
    if (missing.length + doubled.length > 0) faults.push(`${missing.length} exchanges are not logged, ${doubled.length} twice`)
    if (faults.length > 0) faults.push(...processes.flatMap(saidOf))
    return { requests: outcomes.length, faults }
  } finally {
    await Promise.all(processes.map((gatehouse) => gatehouse.stop()))
    await Promise.all([emulator.stop(), database.drop()])
  }
}

/** Both planes: whole answers, streams, and writes that are read again. */
async function startLoads(balancer: Balancer, { origin }: Gatehouse): Promise<readonly Load[]> {
  await balancer.until(origin, true)
  const exchange = (stream: boolean): Ask =>
    chat(balancer.origin, { key: workspaceKey, provider: '@emulated', ...(stream && { stream: { frames: 10, everyMs: 50 } }) })
  const control = (method: string, path: string, body?: unknown): Ask => ({
    url: `${balancer.origin}/v1${path}`,
    method,
    headers: { 'x-service-api-key': adminKey },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    label: 'control',
  })
  let label = 0
  const requests: readonly (() => Ask)[] = [
    () => control('POST', '/labels', { name: `rolling-${(label += 1)}` }),
    () => control('GET', '/labels'),
    () => control('GET', '/integrations/emulated-account'),
    () => control('PUT', '/integrations/emulated-account', { description: `Change ${label}.` }),
    () => control('GET', '/api-keys'),
  ]
  let turn = 0
  return [
    startLoad({ clients: 4, everyMs: 50, next: () => exchange(false) }),
    startLoad({ clients: 3, next: () => exchange(true) }),
    startLoad({ clients: 2, everyMs: 100, next: () => requests[(turn += 1) % requests.length]?.() ?? exchange(false) }),
  ]
}

/** Each process reads the other's writes, secrets included. */
async function eachSeesTheOther(first: Gatehouse, second: Gatehouse): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [writer, reader] of [
    [first, second],
    [second, first],
  ] as const) {
    const made = await manage(writer.origin, 'POST', '/api-keys/organisation/service', { name: 'seen', scopes: ['workspaces.list'] })
    const listed = async () =>
      (await fetch(`${reader.origin}/v1/workspaces`, { headers: { 'x-service-api-key': String(made['key']) } })).status === 200
    await eventually(listed, 15_000, 'a key of the other process').catch((error: unknown) => faults.push(String(error)))
    const { text } = await askAdmin(reader.origin, 'GET', '/integrations/emulated-account')
    if (!text.includes('masked_key')) faults.push(`the other process reads ${text}`)
  }
  return faults
}

/** A process's own facts, beside its answering. */
const saidOf = (gatehouse: Gatehouse): readonly string[] =>
  gatehouse
    .output()
    .split('\n')
    .filter((line) => line.includes('"log_type":"application"') && !line.includes('"msg":"starting"'))
    .slice(-30)

async function levelOf({ origin }: Gatehouse): Promise<unknown> {
  return ((await (await fetch(`${origin}/v1/health`)).json()) as { level?: unknown }).level
}
