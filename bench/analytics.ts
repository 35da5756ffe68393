// Graphs, groups, lists, searches and exports over 30 days of logs, and the cost of roll-ups and retention. `--write` stores bench/ANALYTICS.md,
// `--rows` sets how many logs there are, `--days` of how many days.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { startEmbedded } from '../src/app/database/embedded/embedded.ts'
import { inDatabase } from '../test/support/database.ts'
import { startGatehouse } from '../test/support/process.ts'
import { type Bench, openBench, spread, type Spread } from './analytics-bench.ts'
import { addWorkspaces, fillBodies, fillLogs, sizesOf } from './analytics-data.ts'
import { measureExport } from './analytics-exports.ts'
import { measureIngest } from './analytics-ingest.ts'
import { type Question, questions } from './analytics-questions.ts'
import { type Figures, reportOf } from './analytics-report.ts'
import { measureRetention } from './analytics-retention.ts'
import { measureSearch } from './analytics-search.ts'

const { values: options } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    rows: { type: 'string', default: '10000000' },
    days: { type: 'string', default: '30' },
  },
})
const rows = Number(options.rows)
const days = Number(options.days)
const load = loadavg()[0] ?? 0
const startedAt = performance.now()
const say = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${text}`)

async function asked(bench: Bench, { path, times }: Question): Promise<Spread> {
  const first = await bench.ask(path())
  if (first.ms === Infinity) return { p50: Infinity, p95: Infinity, max: Infinity }
  const all: number[] = []
  for (let turn = 0; turn < times; turn++) all.push((await bench.ask(path())).ms)
  return spread(all)
}

async function askAll(bench: Bench): Promise<Figures['answers']> {
  const answers: (readonly [kind: string, what: string, times: Spread])[] = []
  for (const [kind, list] of Object.entries(questions)) {
    for (const question of list) {
      const times = await asked(bench, question)
      answers.push([kind, question.what, times])
      say(`${kind}: ${question.what}: p50 ${times.p50.toFixed(0)}, p95 ${times.p95.toFixed(0)} ms`)
    }
  }
  return answers
}

/** Prints the result of a part of the run. */
async function told<T>(what: string, measuring: Promise<T>): Promise<T> {
  const figures = await measuring
  say(`${what}: ${JSON.stringify(figures)}`)
  return figures
}

async function measure(bench: Bench): Promise<Figures> {
  const { superuser } = bench.gatehouse
  await inDatabase(superuser, addWorkspaces)
  const filled = await told('filled', fillLogs(superuser, { rows, days }, say))
  const sizes = await inDatabase(superuser, sizesOf)
  const answers = await askAll(bench)
  const since = await told(
    'bodies since',
    inDatabase(superuser, (client) => fillBodies(client, rows)),
  )
  const search = await told('search', measureSearch(bench, since))
  const exported = await told('export', measureExport(bench, since))
  const ingest = await told('ingest', measureIngest(bench))
  const retention = await told('retention', measureRetention(bench, { days, keepDays: Math.ceil(days * 0.8) }))
  const minutes = (performance.now() - startedAt) / 60_000
  return { rows, days, prepared: { ...filled, sizes }, answers, ingest, search, exported, retention, load, minutes }
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
const server = await startEmbedded({ dataDir: folder, log: pino({ level: 'silent' }), settings: { max_wal_size: '4GB' } })
Object.assign(process.env, {
  GATEHOUSE_TEST_DB_HOST: server.host,
  GATEHOUSE_TEST_DB_PORT: String(server.port),
  GATEHOUSE_TEST_DB_USER: server.superuser.user,
  GATEHOUSE_TEST_DB_PASS: server.superuser.password,
})
const gatehouse = await startGatehouse({ env: { LOG_LEVEL: 'warn', LOG_RETENTION_DAYS: '90', LOG_SEARCH_INDEX: 'on' } })
try {
  const page = reportOf(await measure(openBench(gatehouse)))
  console.log(page)
  if (options.write) writeFileSync(join(import.meta.dirname, 'ANALYTICS.md'), page)
} finally {
  await gatehouse.stop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
