import { readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { hasTaskset } from './processes.ts'
import { median, type Round } from './measure.ts'

/** All that was measured of one subject. */
export interface Outcome {
  readonly id: string
  readonly label: string
  /** Why there are no figures. */
  readonly missing: string | null
  readonly rounds: readonly Round[]
  readonly idleMegabytes: number
  readonly heldMegabytes: number
  readonly coldStartsMs: readonly number[]
  /** CPU of each of the first 2,000 requests after each of those starts. */
  readonly firstCpu: readonly number[]
  /** CPU of each request while neighbours keep the caches busy, by round. */
  readonly busyCpu: readonly number[]
}

export interface Report {
  readonly outcomes: readonly Outcome[]
  readonly directPerSecond: number
  readonly sent: number
  readonly logRows: number
  readonly usageRows: number
  readonly seconds: number
  /** The machine's load average before the run: the figures hold when it is near 0. */
  readonly loadBefore: number
}

type Column = readonly [title: string, cell: (outcome: Outcome) => number, digits: number]

const of =
  (field: keyof Round) =>
  ({ rounds }: Outcome): number =>
    median(rounds.map((round) => round[field]))

const columns: readonly Column[] = [
  ['requests/s, 32 conn.', of('perSecond'), 0],
  ['core used', of('busy'), 2],
  ['CPU µs/request', of('cpuPerRequest'), 0],
  ['CPU µs, busy caches', ({ busyCpu }) => median(busyCpu), 0],
  ['CPU µs, first 2,000', ({ firstCpu }) => median(firstCpu), 0],
  ['CPU µs, cache hit', of('cpuPerHit'), 0],
  ['PostgreSQL CPU µs/request', of('databaseCpuPerRequest'), 0],
  ['KB allocated/request', (outcome) => of('allocated')(outcome) / 1024, 1],
  ['KB in other threads', (outcome) => of('allocatedElsewhere')(outcome) / 1024, 1],
  ['added p50 ms', of('addedP50'), 3],
  ['added p99 ms', of('addedP99'), 3],
  ['SSE added first token ms', of('addedFirstByte'), 3],
  ['CPU µs/stream of 64', of('cpuPerStream'), 0],
  ['MB idle', ({ idleMegabytes }) => idleMegabytes, 0],
  ['MB, 1,000 streams', ({ heldMegabytes }) => heldMegabytes, 0],
  ['cold start s', ({ coldStartsMs }) => median(coldStartsMs) / 1000, 2],
]

/** The rows of Gatehouse's own processes. */
export const isOurs = (id: string): boolean => id === 'c' || id === 'f' || id === 'g'

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const number = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : '–')

/** The table, as Markdown. */
export function table(outcomes: readonly Outcome[]): string {
  const lines = outcomes.map((outcome) => {
    const database = (title: string) => title.startsWith('PostgreSQL') && !isOurs(outcome.id)
    const cells = columns.map(([title, cell, digits]) =>
      outcome.missing !== null || database(title) ? '–' : number(cell(outcome), digits),
    )
    return row([`(${outcome.id}) ${outcome.label}${outcome.missing === null ? '' : `: ${outcome.missing}`}`, ...cells])
  })
  return [row(['', ...columns.map(([title]) => title)]), row(['---', ...columns.map(() => '---:')]), ...lines].join('\n')
}

/** The frames with words in each stream that is measured; the request before them and the frames around them count with them. */
const framesPerStream = 64

interface Target {
  readonly what: string
  readonly value: number
  readonly limit: number
  readonly direction: 'at least' | 'at most'
}

/** The product's promise for this table. */
export function targets(outcomes: readonly Outcome[]): readonly Target[] {
  const find = (id: string) => outcomes.find((outcome) => outcome.id === id && outcome.missing === null)
  const [bare, own, peer, limited, translated] = [find('b'), find('c'), find('d'), find('f'), find('g')]
  if (own === undefined) return []
  const [rate, cpu] = [of('perSecond'), of('cpuPerRequest')]
  const moreThanOwn = (one: Outcome | undefined, figure: (outcome: Outcome) => number): number =>
    one === undefined ? Number.NaN : figure(one) - figure(own)
  const more = (figure: (outcome: Outcome) => number): number => moreThanOwn(limited, figure)
  return [
    { what: 'requests/s against (b)', value: bare ? rate(own) / rate(bare) : Number.NaN, limit: 0.65, direction: 'at least' },
    { what: 'requests/s against (d)', value: peer ? rate(own) / rate(peer) : Number.NaN, limit: 12, direction: 'at least' },
    { what: 'CPU a request against (b)', value: bare ? cpu(own) / cpu(bare) : Number.NaN, limit: 2.6, direction: 'at most' },
    {
      what: 'the same with busy caches',
      value: bare ? median(own.busyCpu) / median(bare.busyCpu) : Number.NaN,
      limit: 3.5,
      direction: 'at most',
    },
    { what: 'KB allocated a request, main thread', value: of('allocated')(own) / 1024, limit: 34, direction: 'at most' },
    { what: 'KB allocated a request, other threads', value: of('allocatedElsewhere')(own) / 1024, limit: 10, direction: 'at most' },
    { what: 'CPU of the first 2,000 requests against later ones', value: median(own.firstCpu) / cpu(own), limit: 2, direction: 'at most' },
    { what: 'CPU of a cache hit against a pass-through', value: of('cpuPerHit')(own) / cpu(own), limit: 0.6, direction: 'at most' },
    { what: 'added p50, ms', value: of('addedP50')(own), limit: 0.3, direction: 'at most' },
    { what: 'memory idle, MB', value: own.idleMegabytes, limit: 150, direction: 'at most' },
    { what: 'memory with 1,000 open streams, MB', value: own.heldMegabytes, limit: 240, direction: 'at most' },
    { what: 'cold start with the database up, s', value: median(own.coldStartsMs) / 1000, limit: 1.2, direction: 'at most' },
    { what: 'CPU µs more a request with a budget and a rate limit', value: more(cpu), limit: 12, direction: 'at most' },
    {
      what: 'KB more a request with them, main thread',
      value: more((outcome) => of('allocated')(outcome) / 1024),
      limit: 6,
      direction: 'at most',
    },
    { what: 'CPU µs more a translated chat', value: moreThanOwn(translated, cpu), limit: 40, direction: 'at most' },
    {
      what: 'KB more a translated chat, main thread',
      value: moreThanOwn(translated, (outcome) => of('allocated')(outcome) / 1024),
      limit: 25,
      direction: 'at most',
    },
    {
      what: 'CPU µs more a translated frame of 100 bytes than one passed on',
      value: moreThanOwn(translated, (outcome) => of('cpuPerStream')(outcome) / framesPerStream),
      limit: 12,
      direction: 'at most',
    },
    {
      what: 'CPU µs a translated frame of 100 bytes, with the request around it',
      value: translated ? of('cpuPerStream')(translated) / framesPerStream : Number.NaN,
      limit: 12,
      direction: 'at most',
    },
    {
      what: 'MB more with 1,000 open translated streams',
      value: moreThanOwn(translated, ({ heldMegabytes }) => heldMegabytes),
      limit: 60,
      direction: 'at most',
    },
  ]
}

const reached = ({ value, limit, direction }: Target): boolean => (direction === 'at least' ? value >= limit : value <= limit)

/** The targets as a table, and the missed ones in words. */
export function verdict(outcomes: readonly Outcome[]): string {
  const all = targets(outcomes)
  const lines = all.map((target) =>
    row([target.what, `${target.direction} ${target.limit}`, number(target.value, 2), reached(target) ? 'yes' : 'no']),
  )
  const short = all
    .filter((target) => !reached(target))
    .map(({ what, value, limit }) => `${what} is ${number(value, 2)} instead of ${limit}`)
  return [
    row(['(c)', 'target', 'measured', 'reached']),
    row(['---', '---:', '---:', '---']),
    ...lines,
    '',
    short.length === 0 ? 'Nothing falls short.' : `Falls short: ${short.join('; ')}.`,
  ].join('\n')
}

/** The bound of any proxy of this kind, named where a target lies beyond it. */
function ceiling(outcomes: readonly Outcome[]): string {
  const [bare, peer] = ['b', 'd'].map((id) => outcomes.find((outcome) => outcome.id === id && outcome.missing === null))
  if (bare === undefined || peer === undefined) return ''
  const cpu = of('cpuPerRequest')
  return `By CPU per request the bare proxy (b) itself is ${number(cpu(peer) / cpu(bare), 1)} times as fast as (d): no target beyond that can be reached on node:http and undici.`
}

/** CPU µs of a request through the bare proxy in the fastest run on a machine of this kind. */
const fastestBare = 35

/** The differences in µs if the machine, which is shared, were as fast as it has been. */
function pace(outcomes: readonly Outcome[]): string {
  const cpu = of('cpuPerRequest')
  const [bare, own, limited, translated] = ['b', 'c', 'f', 'g'].map((id) => outcomes.find((one) => one.id === id && one.missing === null))
  if (bare === undefined || own === undefined || limited === undefined || translated === undefined) return ''
  const then = (one: Outcome): string => number(((cpu(one) - cpu(own)) * fastestBare) / cpu(bare), 1)
  return `The machine is shared, and its pace changes from run to run: a request through (b) took ${number(cpu(bare), 0)} µs in this one, and ${fastestBare} µs in the fastest. At that pace a budget and a rate limit cost ${then(limited)} µs more a request, and a translated chat ${then(translated)} µs.`
}

/** Written by hand. */
const tried = readFileSync(join(import.meta.dirname, 'TRIED.md'), 'utf8')

/** The whole page. */
export function page(report: Report): string {
  const [core] = cpus()
  return `# Benchmark

Made by \`npm run bench -- --write\`; do not edit.

${table(report.outcomes)}

${verdict(report.outcomes)}

${ceiling(report.outcomes)}

${pace(report.outcomes)}

${tried}
## How it was made

- All rows in one run of ${Math.round(report.seconds)} s, on the same machine, with the same emulator process (\`test/support/emulator\`, nothing recorded) and the same
  driver process (\`bench/driver.ts\`: fixed request bytes over keep-alive connections, closed loop). Without a proxy the two reach ${Math.round(report.directPerSecond)} requests/s.
- Every proxy is one process${hasTaskset ? ' pinned to core 1; the emulator, the driver and PostgreSQL share core 0' : '; nothing is pinned, because taskset is missing'}. Where "core used" is well below 1,
  the load and not the proxy was the limit, and "CPU µs/request" is the better figure.
- Each figure is the median of ${report.outcomes.find(({ missing }) => missing === null)?.rounds.length ?? 0} rounds; in each round the proxies take turns. Before it each is warmed up.
- A request is a chat completion with a body of 1.1 KB, answered with 0.6 KB. Added latency: one connection, direct and through the proxy in
  turn, 1,500 of each a round. Added first token: the same with a short stream, until the first byte of the body, median. Streams of 64 frames: 16 connections,
  each frame its own write. Open streams: 1,000, each with a frame a second, after all load.
- CPU is user and system time of the process with all its threads, from \`/proc\`; PostgreSQL's stands apart. Memory is resident memory. Idle is 15 s
  after the start, before the first chat. Cold start is from the start of the process to its first 200 (Gatehouse: on \`/readyz\`, with PostgreSQL running and the schema in place), median of ${report.outcomes.find(({ missing }) => missing === null)?.coldStartsMs.length ?? 0}.
- Busy caches: two other processes walk through 64 MB each all the time (\`bench/busy.ts\`), one on each core. First 2,000: on 32 connections right after a start,
  with the time of compiling. A cache hit is the same request with a stored config whose answer is kept already.
- Allocated is what the heaps of JavaScript grow by between two collections, summed over a load of 3 s, a request: buffers outside the heaps do not count.
- (c) is bundled (\`npm run build\`), runs with the flags of \`npm start\` and with everything on: key check, snapshot, stored and sealed credential, egress guard, usage, metrics, one line of log and one row in PostgreSQL
  for every request. (f) is another process of it, asked with a key that has limits, and (g) one whose provider speaks Anthropic's format, while the client speaks OpenAI's. Proof: ${report.sent} requests were answered through all, ${report.logRows} rows are in \`logs\`, ${report.usageRows} of them with the tokens that the provider reported.
- (d) is the npm package with hono 4.9.7 and @hono/node-server 1.13.5 (with newer ones its streaming breaks), loopback as trusted host, without keys, log or storage.
- (e) is LiteLLM's proxy from PyPI with one worker, without keys, log or storage; one round of fewer samples, because it is slow.

Machine: ${cpus().length} × ${core?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}, Node ${process.versions.node}; load average before the run ${report.loadBefore.toFixed(1)}${report.loadBefore > 0.5 ? ' (too busy for figures to be trusted: run it again on a quiet machine)' : ''}.
`
}
