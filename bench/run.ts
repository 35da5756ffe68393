// One table: Gatehouse beside a bare proxy and its peers, in one run. `--write` stores it in bench/RESULTS.md, `--quick` makes one short round.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import pino from 'pino'
import { startEmbedded, type EmbeddedDatabase } from '../src/app/database/embedded/embedded.ts'
import type { LoadResult } from './driver.ts'
import {
  aimsAt,
  ask,
  connections,
  measure,
  measureBusy,
  measureFirst,
  measureHeld,
  warmUp,
  type Bench,
  type Round,
  type Tools,
} from './measure.ts'
import { hasTaskset, launch, portOf, residentMegabytes, type Running } from './processes.ts'
import { isOurs, page, table, targets, verdict, type Outcome } from './report.ts'
import { askingOf, buildGatehouse, litellm, litellmFolder, litellmVersion, subjects, type Stand, type Subject } from './subjects.ts'

const { values: options } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: 'abcdefg' },
  },
})
const rounds = options.quick ? 1 : 3
const coldStarts = options.quick ? 1 : 3
/** A runtime gives memory back when it has been idle for some seconds. */
const idleMs = 15_000
const proxyCore = '1'
const loadCore = '0'
const here = import.meta.dirname
const say = (text: string) => console.log(text)

/** The peers are installed by the benchmark alone, so that the product never depends on them. */
function installPeers(): void {
  if (options.only.includes('d') && !existsSync(join(here, 'peers/node_modules/@portkey-ai/gateway')))
    install('@portkey-ai/gateway', () => execFileSync('npm', ['install'], { cwd: join(here, 'peers'), stdio: 'ignore' }))
  if (options.only.includes('e') && !existsSync(litellm))
    install('LiteLLM', () => {
      execFileSync('python3', ['-m', 'venv', litellmFolder], { stdio: 'ignore' })
      execFileSync(join(litellmFolder, 'bin/pip'), ['install', '--quiet', `litellm[proxy]==${litellmVersion}`], { stdio: 'ignore' })
    })
}

function install(name: string, how: () => void): void {
  say(`installing ${name} ...`)
  try {
    how()
  } catch (error) {
    say(`SKIPPED: ${name} could not be installed (${error instanceof Error ? error.message : String(error)}); its row stays empty`)
  }
}

async function withDatabase<T>(
  { host, port, user, password, name: database, superuser }: EmbeddedDatabase,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ host, port, database, ...(superuser ?? { user, password }) })
  await client.connect()
  return work(client).finally(() => client.end())
}

/** The parent of any backend. */
const findPostmaster = (database: EmbeddedDatabase): Promise<number> =>
  withDatabase(database, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    return Number(readFileSync(`/proc/${rows[0]?.pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1])
  })

async function prepare(stand: Stand, subject: Subject): Promise<Bench> {
  say(`starting (${subject.id}) ${subject.label}`)
  const started = await subject.start(stand)
  await subject.prepare?.(stand, started.port)
  return { subject, started, aims: aimsAt(started.port, askingOf(subject, stand)) }
}

/** Starts a subject again and again; the first requests after each start are measured too. */
async function startColdly(stand: Stand, subject: Subject, tools: Tools): Promise<Pick<Outcome, 'coldStartsMs' | 'firstCpu'>> {
  const coldStartsMs: number[] = []
  const firstCpu: number[] = []
  while (coldStartsMs.length < (subject.slow === true ? 1 : coldStarts)) {
    const started = await subject.start(stand)
    coldStartsMs.push(started.coldStartMs)
    const bench = { subject, started, aims: aimsAt(started.port, askingOf(subject, stand)) }
    if (subject.slow !== true) firstCpu.push(await measureFirst(tools, bench))
    await started.running.stop()
  }
  return { coldStartsMs, firstCpu }
}

/** Measures all but the slow ones in turn beside neighbours that keep the caches of both cores busy. */
async function measureAllBusy(
  tools: Tools,
  benches: readonly Bench[],
  neighbour: (core: string) => Running,
): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>(benches.map(({ subject }) => [subject.id, []]))
  const neighbours = [neighbour(proxyCore), neighbour(loadCore)]
  for (let round = 1; round <= Math.min(2, rounds); round += 1)
    for (const bench of benches)
      if (bench.subject.slow !== true && bench.subject.variant !== true) found.get(bench.subject.id)?.push(await measureBusy(tools, bench))
  for (const one of neighbours) await one.stop()
  return found
}

interface Counted {
  readonly rows: number
  readonly metered: number
}

/** The rows that the journal brought to PostgreSQL, once their number has stopped growing. */
async function countLogs(database: EmbeddedDatabase): Promise<Counted> {
  let last: Counted = { rows: -1, metered: 0 }
  for (let tries = 0; tries < 20; tries += 1) {
    const now = await withDatabase(database, async (client) => {
      const { rows } = await client.query<Counted>(
        `SELECT count(*)::int AS rows, count(*) FILTER (WHERE total_tokens > 0)::int AS metered FROM logs WHERE outcome = 'complete'`,
      )
      return rows[0] ?? last
    })
    if (now.rows === last.rows) return now
    last = now
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  return last
}

const noStarts = { coldStartsMs: [], firstCpu: [] } as const

/** Throws when a target could not be measured; (d) may be absent. */
function demandFigures(outcomes: readonly Outcome[]): void {
  const unmeasured = targets(outcomes).filter(({ what, value }) => Number.isNaN(value) && !what.includes('(d)'))
  if (unmeasured.length > 0) throw new Error(`not measured: ${unmeasured.map(({ what }) => what).join(', ')}`)
}

async function run(folder: string, stopLater: (stop: () => Promise<void>) => void): Promise<void> {
  const startedAt = performance.now()
  const [loadBefore = 0] = loadavg()
  if (loadBefore > 0.5) say(`the machine is busy (load average ${loadBefore.toFixed(1)}): the figures will be too low`)
  if (hasTaskset) execFileSync('taskset', ['-cp', loadCore, String(process.pid)], { stdio: 'ignore' })
  installPeers()
  if (options.only.includes('c')) buildGatehouse()
  const database = await startEmbedded({ dataDir: join(folder, 'database'), log: pino({ level: 'silent' }) })
  stopLater(() => database.stop())
  const child = (name: string, cores = loadCore): Running => {
    const running = launch({ name, command: ['node', join(here, `${name}.ts`)], cores, folder, channel: true })
    stopLater(() => running.stop())
    return running
  }
  const stand: Stand = { emulatorPort: await portOf(child('emulator')), database, folder, cores: proxyCore }
  const tools: Tools = {
    driver: child('driver'),
    postmaster: await findPostmaster(database),
    direct: aimsAt(stand.emulatorPort, { headers: { authorization: 'Bearer sk-bench' } }),
    answers: new Map(),
  }
  const benches: Bench[] = []
  for (const subject of subjects.filter(({ id, missing }) => missing === null && options.only.includes(id))) {
    const bench = await prepare(stand, subject)
    stopLater(() => bench.started.running.stop())
    benches.push(bench)
  }
  await new Promise((resolve) => setTimeout(resolve, idleMs))
  const idle = new Map(benches.map(({ subject, started }) => [subject.id, residentMegabytes(started.running.pid)]))
  say('warming up')
  const direct = await ask<LoadResult>(tools, { kind: 'load', aim: tools.direct.json, connections, durationMs: 3000 })
  for (const bench of benches) await warmUp(tools, bench)
  const measured = new Map<string, Round[]>(benches.map(({ subject }) => [subject.id, []]))
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round} of ${rounds}`)
    for (const bench of benches)
      if (round === 1 || bench.subject.slow !== true) measured.get(bench.subject.id)?.push(await measure(tools, bench))
  }
  say('busy caches')
  const busy = await measureAllBusy(tools, benches, (core) => child('busy', core))
  const own = benches.find(({ subject }) => subject.id === 'c')
  const ours = benches.filter(({ subject }) => isOurs(subject.id))
  const sent = ours.reduce((sum, { started }) => sum + (tools.answers.get(started.port) ?? 0), 0)
  const logs = own === undefined ? { rows: 0, metered: 0 } : await countLogs(database)
  say('memory with open streams, cold starts')
  const outcomes: Outcome[] = []
  for (const subject of subjects) {
    const { id, label } = subject
    const bench = benches.find((one) => one.subject === subject)
    const figures = { rounds: measured.get(id) ?? [], idleMegabytes: idle.get(id) ?? 0, busyCpu: busy.get(id) ?? [] }
    const missing = bench === undefined ? (subject.missing ?? 'left out') : null
    if (missing !== null && missing !== 'left out') say(`SKIPPED: (${id}) ${label}: ${missing}`)
    // A slow one would need minutes to begin 1,000 streams.
    const heldMegabytes =
      bench === undefined || subject.slow === true || (subject.variant === true && subject.holds !== true)
        ? Number.NaN
        : await measureHeld(tools, bench)
    // It would share its core with the one that starts, and is busy with the end of a thousand streams.
    await bench?.started.running.stop()
    const starts = bench === undefined || subject.variant === true ? noStarts : await startColdly(stand, subject, tools)
    outcomes.push({ id, label, missing, ...figures, heldMegabytes, ...starts })
  }
  say(`\n${table(outcomes)}\n\n${verdict(outcomes)}\n`)
  say(
    `direct: ${Math.round(direct.answers / direct.seconds)} requests/s; answers through Gatehouse: ${sent}, rows in logs: ${logs.rows}, with usage: ${logs.metered}`,
  )
  if (own !== undefined && (logs.rows !== sent || logs.metered !== sent)) throw new Error('not every answer has its row with its usage')
  if (own !== undefined && options.only.includes('b')) demandFigures(outcomes)
  if (!options.write) return
  const report = {
    outcomes,
    directPerSecond: direct.answers / direct.seconds,
    sent,
    logRows: logs.rows,
    usageRows: logs.metered,
    loadBefore,
    seconds: (performance.now() - startedAt) / 1000,
  }
  writeFileSync(join(here, 'RESULTS.md'), page(report))
  say('written to bench/RESULTS.md')
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
const stops: (() => Promise<void>)[] = []
try {
  await run(folder, (stop) => stops.push(stop))
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
} catch (error) {
  say(`failed: ${error instanceof Error ? error.stack : String(error)}\nthe output of all processes is in ${folder}`)
  process.exitCode = 1
} finally {
  for (const stop of stops.toReversed()) await stop().catch(() => {})
}
