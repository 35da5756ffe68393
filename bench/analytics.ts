// Graphs, groups and lists over 30 days of logs, and what roll-ups cost the shipper. `--write` stores bench/ANALYTICS.md, `--rows` says how many.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { connect } from '../src/app/database/connect.ts'
import { startEmbedded } from '../src/app/database/embedded/embedded.ts'
import { startShipper } from '../src/app/journal/shipper.ts'
import { openJournal } from '../src/gateway/journal/journal.ts'
import { uuidv7 } from '../src/lib/uuid.ts'
import { inDatabase } from '../test/support/database.ts'
import { exchangeBodies, exchangeRecord } from '../test/support/journal.ts'
import { adminKey, startGatehouse } from '../test/support/process.ts'
import { addWorkspaces, fillLogs, sizesOf } from './analytics-data.ts'

const { values: options } = parseArgs({
  options: { write: { type: 'boolean', default: false }, rows: { type: 'string', default: '10000000' } },
})
const rows = Number(options.rows)
const days = 30
const repeats = 20
const loadBefore = loadavg()[0] ?? 0
const silent = pino({ level: 'silent' })
const say = (text: string) => console.log(text)
const random = (below: number) => Math.floor(Math.random() * below)

const graphs = [
  'requests',
  'cost',
  'latency',
  'tokens',
  'users',
  'users/requests',
  'errors/rate',
  'errors/stacks',
  'requests/rescued',
  'cache/hit-rate',
]
const groups = ['ai_service', 'model', 'status_code', 'api_key', 'config', 'workspace', 'provider', 'prompt']
const columns =
  'cost,total_tokens,avg_tokens,avg_latency,p95_latency,p99_latency,success_rate,error_count,cache_hit_rate,last_seen,first_seen'

/** The filters of the list of logs, with a value of each. */
const filters: readonly (() => string)[] = [
  () => `workspace_id=bench-${random(9) + 1}`,
  () => `ai_model=model-${random(12)}`,
  () => `status_code=${[200, 429, 500, 400][random(4)]}`,
  () => `virtual_keys=slug-${random(4)}`,
  () => `cost_min=${random(100) / 100}`,
  () => `total_units_min=${random(5000)}`,
  () => `metadata=${encodeURIComponent(`{"env":"env-${random(3)}"}`)}`,
  () => `metadata=${encodeURIComponent(`{"_user":"user-${random(20_000)}"}`)}`,
  () => `is_success=false`,
]
const pairs = filters.flatMap((one, at) => filters.slice(at + 1).map((other) => () => `/logs?${one()}&${other()}`))

/** What is asked, by the kind of its target. */
const questions: Readonly<Record<string, readonly (readonly [what: string, path: () => string])[]>> = {
  'from roll-ups': [
    ...graphs.map((name) => [`graph ${name}`, () => `/analytics/graphs/${name}`] as const),
    ...graphs
      .slice(0, 3)
      .map((name) => [`graph ${name}, one workspace`, () => `/analytics/graphs/${name}?workspace_slug=bench-${random(9) + 1}`] as const),
    ['graph cost, one model', () => `/analytics/graphs/cost?ai_model=model-${random(12)}`],
    ...groups.map((by) => [`group ${by}, 11 columns`, () => `/analytics/groups/${by}?columns=${columns}`] as const),
    ['the cache in one line', () => '/analytics/summary/cache'],
  ],
  'from logs': [
    ['group users', () => '/analytics/groups/users'],
    ['group users, one workspace', () => `/analytics/groups/users?workspace_slug=bench-${random(9) + 1}`],
    ['group metadata/env', () => '/analytics/groups/metadata/env'],
    ['graph cost, cost_min', () => '/analytics/graphs/cost?cost_min=0.5'],
    ['graph users, one model', () => `/analytics/graphs/users?ai_model=model-${random(12)}`],
  ],
  lists: [['list of logs, each pair of filters', () => pairs[random(pairs.length)]?.() ?? '']],
}

interface Spread {
  readonly p50: number
  readonly p95: number
  readonly max: number
}
const at = (sorted: readonly number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
function spread(times: readonly number[]): Spread {
  const sorted = times.toSorted((one, other) => one - other)
  return { p50: at(sorted, 0.5), p95: at(sorted, 0.95), max: sorted.at(-1) ?? NaN }
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
const server = await startEmbedded({ dataDir: folder, log: silent, settings: { max_wal_size: '4GB' } })
Object.assign(process.env, {
  GATEHOUSE_TEST_DB_HOST: server.host,
  GATEHOUSE_TEST_DB_PORT: String(server.port),
  GATEHOUSE_TEST_DB_USER: server.superuser.user,
  GATEHOUSE_TEST_DB_PASS: server.superuser.password,
})
const gatehouse = await startGatehouse({ env: { LOG_LEVEL: 'warn', LOG_RETENTION_DAYS: '90' } })

async function ask(path: string): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(`${gatehouse.origin}/v1${path}`, { headers: { 'x-service-api-key': adminKey } })
  const text = await response.text()
  // The database is given so long and no longer.
  if (response.status === 503) return Infinity
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
  return performance.now() - startedAt
}

async function asked(path: () => string, times = repeats): Promise<Spread> {
  if ((await ask(path())) === Infinity) return { p50: Infinity, p95: Infinity, max: Infinity }
  const all: number[] = []
  for (let turn = 0; turn < times; turn++) all.push(await ask(path()))
  return spread(all)
}

/** Rows a second that a shipper brings into the database: `amount` of them wait already. */
async function ship(amount: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-bench-journal-'))
  const journal = openJournal({ directory, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 30 })
  const ids = await inDatabase(gatehouse.superuser, async (client) => {
    const found = await client.query<{ id: string; organisation_id: string }>('SELECT id, organisation_id FROM workspaces')
    return found.rows
  })
  for (let place = 0; place < amount; place++) {
    const workspace = ids[random(ids.length)]
    const record = exchangeRecord({
      id: uuidv7(),
      createdAt: Date.now(),
      organisationId: workspace?.organisation_id ?? '',
      workspaceId: workspace?.id ?? '',
      model: `model-${random(12)}`,
      durationMs: 20 + random(8000),
      metadata: { _user: `user-${random(20_000)}`, env: 'env-1' },
    })
    journal.append(record, exchangeBodies('{"model":"m","messages":[{"role":"user","content":"x"}]}', '{"choices":[]}'))
  }
  const { runtime } = await connect(gatehouse.database, silent)
  const startedAt = performance.now()
  const shipper = startShipper({ directory, database: gatehouse.database, client: runtime, log: silent })
  await shipper.flushed()
  const seconds = (performance.now() - startedAt) / 1000
  await journal.close()
  await shipper.stop()
  rmSync(directory, { recursive: true, force: true })
  return amount / seconds
}

const setTrigger = (state: 'ENABLE' | 'DISABLE') =>
  inDatabase(gatehouse.superuser, (client) => client.query(`ALTER TABLE logs ${state} TRIGGER logs_usage`))

async function measureIngest() {
  await ship(5000)
  await setTrigger('DISABLE')
  const without = await ship(50_000)
  await setTrigger('ENABLE')
  const withRollUps = await ship(50_000)
  const asking = new AbortController()
  const questioner = (async () => {
    for (let turn = 0; !asking.signal.aborted; turn++) await ask(questions['from roll-ups']?.[turn % 10]?.[1]() ?? '')
  })()
  const whileAsked = await ship(50_000)
  asking.abort()
  await questioner
  return { without, withRollUps, whileAsked }
}

/** Milliseconds to drop a day of logs, and the longest answer of an exchange of lists meanwhile. */
async function measureRetention() {
  const dropping = new AbortController()
  const waits: number[] = []
  const reader = (async () => {
    while (!dropping.signal.aborted) waits.push(await ask('/logs?page_size=1'))
  })()
  const startedAt = performance.now()
  await inDatabase(gatehouse.superuser, (client) => client.query(`SELECT drop_log_partitions((now() - interval '28 days')::date)`))
  const dropped = performance.now() - startedAt
  dropping.abort()
  await reader
  return { dropped, longest: Math.max(...waits) }
}

type Figures = Awaited<ReturnType<typeof measure>>

async function measure() {
  const prepared = await inDatabase(gatehouse.superuser, async (client) => {
    await addWorkspaces(client)
    return { ...(await fillLogs(client, { rows, days }, say)), sizes: await sizesOf(client) }
  })
  say(`filled in ${prepared.filled.toFixed(0)} s, counted in ${prepared.counted.toFixed(0)} s, settled in ${prepared.settled.toFixed(0)} s`)
  const answers: (readonly [kind: string, what: string, times: Spread])[] = []
  for (const [kind, list] of Object.entries(questions)) {
    for (const [what, path] of list) {
      const times = await asked(path, kind === 'lists' ? 5 * pairs.length : kind === 'from logs' ? 5 : repeats)
      answers.push([kind, what, times])
      say(`${kind}: ${what}: p50 ${times.p50.toFixed(0)}, p95 ${times.p95.toFixed(0)} ms`)
    }
  }
  const ingest = await measureIngest()
  say(`rows a second: ${JSON.stringify(ingest)}`)
  return { prepared, answers, ingest, retention: await measureRetention() }
}

const shown = (ms: number) => (ms === Infinity ? '503' : ms.toFixed(0))
const verdict = (reached: boolean) => (reached ? 'yes' : 'no')
const worst = ({ answers }: Figures, kind: string) => Math.max(...answers.filter(([of]) => of === kind).map(([, , { p95 }]) => p95))

function report(figures: Figures): string {
  const { prepared, answers, ingest, retention } = figures
  const rollUps = worst(figures, 'from roll-ups')
  const lists = worst(figures, 'lists')
  return `# Benchmark of analytics

Made by \`npm run bench:analytics -- --write\`; do not edit.

${rows.toLocaleString('en')} logs of ${days} days in ten workspaces, with 100 keys, 12 models and 20,000 users: ${prepared.sizes.logs.toFixed(0)} MB with their indexes, and
${prepared.sizes.rollUps.toFixed(0)} MB of roll-ups (${prepared.sizes.rows.toLocaleString('en')} rows of hours). Roll-ups of logs that were there before are made in ${prepared.counted.toFixed(0)} s; latencies
of the days are settled in ${prepared.settled.toFixed(0)} s. Each question is about
all 30 days and, where no workspace is named, about the whole organisation. Milliseconds, over HTTP, one at a time;
503: the database took longer than an answer may take.

| | | p50 | p95 | max |
| --- | --- | ---: | ---: | ---: |
${answers.map(([kind, what, { p50, p95, max }]) => `| ${kind} | ${what} | ${shown(p50)} | ${shown(p95)} | ${shown(max)} |`).join('\n')}

| | target | measured | reached |
| --- | ---: | ---: | --- |
| slowest p95 of graphs and groups from roll-ups, ms | at most 1000 | ${shown(rollUps)} | ${verdict(rollUps <= 1000)} |
| p95 of the list of logs over all pairs of filters, ms | at most 300 | ${shown(lists)} | ${verdict(lists <= 300)} |
| rows a second into the database, with roll-ups | at least 5000 | ${ingest.withRollUps.toFixed(0)} | ${verdict(ingest.withRollUps >= 5000)} |
| the same while graphs are asked for | – | ${ingest.whileAsked.toFixed(0)} | – |
| the same without roll-ups | – | ${ingest.without.toFixed(0)} | – |
| dropping days of logs, ms | – | ${retention.dropped.toFixed(0)} | – |
| longest wait for a list meanwhile, ms | – | ${retention.longest.toFixed(0)} | – |

Machine: ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.versions.node}; the process, PostgreSQL and the driver share the cores; load average before the run ${loadBefore.toFixed(1)}${loadBefore > 1 ? ' (too busy for times to be trusted: run it again on a quiet machine)' : ''}.
`
}

try {
  const page = report(await measure())
  say(page)
  if (options.write) writeFileSync(join(import.meta.dirname, 'ANALYTICS.md'), page)
} finally {
  await gatehouse.stop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
