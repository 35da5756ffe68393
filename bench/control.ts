// The control plane and cold misses with 10,000 keys, 1,000 workspaces, 1,000 configs and 10,000 prompts. `--write` stores bench/CONTROL.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { startEmbedded } from '../src/app/database/embedded/embedded.ts'
import { startEmulator } from '../test/support/emulator/emulator.ts'
import { inParallel } from '../test/support/in-parallel.ts'
import { startGatehouse } from '../test/support/process.ts'
import { cpuMicros } from './processes.ts'
import { amounts, ask, fill, type Stranger } from './control-data.ts'

const { values: options } = parseArgs({ options: { write: { type: 'boolean', default: false } } })
const asked = 300
const strangers = 300
const width = 2
const loadBefore = loadavg()[0] ?? 0
const say = (text: string) => console.log(text)

interface Spread {
  readonly p50: number
  readonly p95: number
  readonly max: number
}

/** Times of a question, and the CPU that one answer costs the process and PostgreSQL together. */
interface Answered extends Spread {
  readonly cpu: number
}

const at = (sorted: readonly number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
const spread = (times: readonly number[]): Spread => {
  const sorted = times.toSorted((one, other) => one - other)
  return { p50: at(sorted, 0.5), p95: at(sorted, 0.95), max: sorted.at(-1) ?? NaN }
}

const random = (below: number) => Math.floor(Math.random() * below)

/** The most frequent requests of people and their tools, over the whole of the data. */
const questions: readonly (readonly [what: string, path: () => string])[] = [
  ['keys: first page of 50', () => '/api-keys?page_size=50'],
  ['keys: some page of 50', () => `/api-keys?page_size=50&current_page=${random(amounts.keys / 50)}`],
  ['keys: of a workspace', () => `/api-keys?workspace_id=bench-${random(amounts.workspaces - 1) + 1}`],
  ['keys: lookup by id', () => `/api-keys/${keyIds[random(keyIds.length)]}`],
  ['workspaces: some page of 50', () => `/admin/workspaces?page_size=50&current_page=${random(amounts.workspaces / 50)}`],
  ['workspaces: search', () => `/admin/workspaces?name=space%20${random(99)}`],
  ['workspaces: exact name', () => `/admin/workspaces?exact_name=Workspace%20${random(999) + 1}`],
  ['configs: some page of 50', () => `/configs?page_size=50&current_page=${random(amounts.configs / 50)}`],
  ['configs: search', () => `/configs?name=fig%20${random(99)}`],
  ['configs: read', () => `/configs/pc-bench-${random(amounts.configs)}`],
  ['prompts: some page of 50', () => `/prompts?page_size=50&current_page=${random(amounts.prompts / 50)}`],
  ['prompts: search', () => `/prompts?search=number%20${random(999)}`],
  ['prompts: read', () => `/prompts/pp-bench-${random(amounts.prompts) + 1}`],
  ['providers: of a workspace', () => `/providers?workspace_id=bench-${random(amounts.workspaces - 1) + 1}`],
  ['integrations: read', () => '/integrations/account'],
  ['integrations: access of 1,000 workspaces', () => '/integrations/account/workspaces'],
  ['audit trail: some page of 50', () => `/audit-logs?page_size=50&current_page=${random(20)}`],
  ['audit trail: of a resource type', () => '/audit-logs?resource_type=config&action=create'],
]

const cells = ({ p50, p95, max }: Spread) => `${p50.toFixed(1)} | ${p95.toFixed(1)} | ${max.toFixed(1)} |`
const verdict = (reached: boolean) => (reached ? 'yes' : 'no')

let keyIds: readonly string[] = []

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
const server = await startEmbedded({ dataDir: folder, log: pino({ level: 'silent' }) })
Object.assign(process.env, {
  GATEHOUSE_TEST_DB_HOST: server.host,
  GATEHOUSE_TEST_DB_PORT: String(server.port),
  GATEHOUSE_TEST_DB_USER: server.superuser.user,
  GATEHOUSE_TEST_DB_PASS: server.superuser.password,
})
const postmaster = Number(readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n', 1)[0])
const emulator = await startEmulator()
const gatehouse = await startGatehouse({ env: { LOG_LEVEL: 'warn' } })
/** By the process and by PostgreSQL. */
const usedMicros = () => cpuMicros(gatehouse.process.pid ?? 0) + cpuMicros(postmaster)
const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gatehouse.process.pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024
try {
  const idle = resident()
  say('filling ...')
  const callers = await fill(gatehouse, { providerUrl: emulator.url, strangers })
  const { data } = await ask(gatehouse.origin, 'GET', '/api-keys?page_size=100')
  keyIds = (data as { id: string }[]).map(({ id }) => id)
  const rows: [string, Answered][] = []
  for (const [what, path] of questions) {
    const before = usedMicros()
    const times = await inParallel(
      Array.from({ length: asked }, (_, turn) => turn),
      width,
      () => timed(() => ask(gatehouse.origin, 'GET', path())),
    )
    const answered = { ...spread(times.slice(20)), cpu: (usedMicros() - before) / 1000 / asked }
    rows.push([what, answered])
    say(`${what}: ${describe(answered)}, CPU ${answered.cpu.toFixed(1)} ms`)
  }
  const afterAsking = resident()
  const misses = await missed(callers)
  const afterMisses = resident()
  const page = report({ rows, misses, memory: { idle, afterAsking, afterMisses } })
  say(page)
  if (options.write) writeFileSync(join(import.meta.dirname, 'CONTROL.md'), page)
} finally {
  await gatehouse.stop()
  await emulator.stop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function chat({ key, provider, config }: Stranger): Promise<void> {
  const response = await fetch(`${gatehouse.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key,
      'x-service-provider': `@${provider}`,
      'x-service-config': config,
      'content-type': 'application/json',
    },
    body: '{"model":"m","messages":[{"role":"user","content":"x"}]}',
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status} ${text}`)
}

interface Misses {
  readonly added: Spread
  readonly warm: Answered
  /** CPU that a miss costs the process and PostgreSQL, in milliseconds. */
  readonly addedCpu: number
}

/** The first request of each stranger beside its second: three views of it (key, config, provider) are read from the database. */
async function missed(callers: readonly Stranger[]): Promise<Misses> {
  const pass = async () => {
    const [before, times]: [number, number[]] = [usedMicros(), []]
    for (const caller of callers) times.push(await timed(() => chat(caller)))
    return { times, cpu: (usedMicros() - before) / 1000 / callers.length }
  }
  await chat(callers[0] ?? { key: '', provider: '', config: '' })
  const [cold, warm] = [await pass(), await pass()]
  const added = cold.times.map((time, place) => time - (warm.times[place] ?? NaN))
  return { added: spread(added.slice(20)), warm: { ...spread(warm.times), cpu: warm.cpu }, addedCpu: cold.cpu - warm.cpu }
}

function describe({ p50, p95, max }: Spread): string {
  return `p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)}, max ${max.toFixed(1)} ms`
}

interface Figures {
  readonly rows: readonly (readonly [what: string, times: Answered])[]
  readonly misses: Misses
  readonly memory: Readonly<Record<'idle' | 'afterAsking' | 'afterMisses', number>>
}

function report({ rows, misses, memory }: Figures): string {
  const worst = Math.max(...rows.map(([, { p95 }]) => p95))
  return `# Benchmark of the control plane

Made by \`npm run bench:control -- --write\`; do not edit.

With ${amounts.keys.toLocaleString('en')} keys, ${amounts.workspaces.toLocaleString('en')} workspaces, ${amounts.configs.toLocaleString('en')} configs and ${amounts.prompts.toLocaleString('en')} prompts in one organisation. Milliseconds, over HTTP, ${width} requests at a time, ${asked} of each.

| | p50 | p95 | max | CPU |
| --- | ---: | ---: | ---: | ---: |
${rows.map(([what, times]) => `| ${what} | ${cells(times)} ${times.cpu.toFixed(1)} |`).join('\n')}
| a chat with everything in memory | ${cells(misses.warm)} ${misses.warm.cpu.toFixed(1)} |
| added by a cold miss of key, config and provider | ${cells(misses.added)} ${misses.addedCpu.toFixed(1)} |

| | target | measured | reached |
| --- | ---: | ---: | --- |
| slowest p95 of lists, searches and lookups, ms | below 50 | ${worst.toFixed(1)} | ${verdict(worst < 50)} |
| cold miss (all three views), p50, ms | below 5 | ${misses.added.p50.toFixed(1)} | ${verdict(misses.added.p50 < 5)} |

Resident memory of the process: ${memory.idle.toFixed(0)} MB before, ${memory.afterAsking.toFixed(0)} MB after filling and ${(asked * rows.length).toLocaleString('en')} requests, ${memory.afterMisses.toFixed(0)} MB with the views of ${strangers} callers.

CPU is that of the process and of PostgreSQL together for one answer: on a busy machine it is the better figure.

Machine: ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.versions.node}; the process, PostgreSQL, the provider and the driver share the cores; load average before the run ${loadBefore.toFixed(1)}${loadBefore > 1 ? ' (too busy for times to be trusted: run it again on a quiet machine)' : ''}.
`
}
