import { z } from 'zod'
import { cpuMicros, residentMegabytes, type Running } from './processes.ts'
import type { Aim, LoadResult, Task, TaskResult } from './driver.ts'
import type { Started, Subject } from './subjects.ts'

/** The result of one round for one subject. */
export interface Round {
  readonly perSecond: number
  readonly cpuPerRequest: number
  /** The share of its core that the proxy used; well below 1, something else was the limit. */
  readonly busy: number
  readonly databaseCpuPerRequest: number
  readonly loadP99: number
  /** Bytes of objects that one request makes: in the main thread, and in others (Gatehouse's journal). */
  readonly allocated: number
  readonly allocatedElsewhere: number
  /** CPU of a request that is answered from the cache; NaN: the subject is not asked to. */
  readonly cpuPerHit: number
  readonly addedP50: number
  readonly addedP99: number
  readonly addedFirstByte: number
  readonly cpuPerStream: number
  readonly streamsPerSecond: number
}

/** A subject with all that a measurement needs. */
export interface Bench {
  readonly subject: Subject
  readonly started: Started
  readonly aims: { readonly json: Aim; readonly stream: Aim; readonly frames: Aim; readonly slow: Aim; readonly hit: Aim | null }
}

/** The same without a proxy. */
export type Direct = Bench['aims']

export interface Tools {
  readonly driver: Running
  /** PostgreSQL's first process. */
  readonly postmaster: number
  readonly direct: Direct
  /** Answers of status 200, by port. */
  readonly answers: Map<number, number>
}

const messages = [
  { role: 'system', content: 'You are a careful assistant that answers in one sentence and never repeats the question. '.repeat(4) },
  { role: 'user', content: 'Summarise the history of the printing press for a reader who has ten seconds. '.repeat(6) },
]

/** The fixed bytes of a chat completion. */
function chatRequest(port: number, headers: Readonly<Record<string, string>>, more: object): Aim {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages, temperature: 0.2, max_tokens: 256, ...more })
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'user-agent': 'bench/1',
    accept: 'application/json',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return { port, request: Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`).toString('base64') }
}

interface Asking {
  readonly headers: Readonly<Record<string, string>>
  readonly caching?: Readonly<Record<string, string>> | null
  /** Absent: a model of OpenAI's. */
  readonly model?: string
}

/** The requests that are measured: an answer at once, a short stream, a stream of 64 frames, a stream that stays open. */
export function aimsAt(port: number, { headers, caching = null, model }: Asking): Direct {
  const stream = { stream: true, stream_options: { include_usage: true } }
  const named = model === undefined ? {} : { model }
  return {
    json: chatRequest(port, headers, named),
    stream: chatRequest(port, headers, { ...stream, ...named }),
    frames: chatRequest(port, headers, { ...stream, model: 'emulate:frames-64' }),
    slow: chatRequest(port, headers, { ...stream, model: 'emulate:frames-slow' }),
    hit: caching === null ? null : chatRequest(port, caching, named),
  }
}

/** Gives the driver a task and waits for its result. */
export function ask<Result extends TaskResult>({ driver, answers }: Pick<Tools, 'driver' | 'answers'>, task: Task): Promise<Result> {
  return new Promise((resolve, reject) => {
    driver.child.once('message', ({ result, error }: { result?: Result; error?: string }) => {
      if (result === undefined) reject(new Error(`${task.kind}: ${error}`))
      else resolve(result)
      if (result !== undefined) for (const [port, count] of countsOf(task, result)) answers.set(port, (answers.get(port) ?? 0) + count)
    })
    driver.child.send(task)
  })
}

function countsOf(task: Task, result: TaskResult): readonly (readonly [port: number, count: number])[] {
  if (task.kind === 'load' && 'answers' in result) return [[task.aim.port, result.answers]]
  return task.kind === 'latency' ? task.aims.map(({ port }) => [port, task.samples] as const) : []
}

export const connections = 32
const streamConnections = 16

interface Loaded extends LoadResult {
  readonly cpu: number
  readonly databaseCpu: number
  readonly busy: number
}

async function load(
  tools: Tools,
  bench: Bench,
  task: { aim: Aim; connections: number; durationMs: number; most?: number },
): Promise<Loaded> {
  const { pid } = bench.started.running
  const before = { cpu: cpuMicros(pid), database: cpuMicros(tools.postmaster) }
  const result = await ask<LoadResult>(tools, { kind: 'load', ...task })
  const cpu = cpuMicros(pid) - before.cpu
  return {
    ...result,
    cpu: cpu / result.answers,
    databaseCpu: (cpuMicros(tools.postmaster) - before.database) / result.answers,
    busy: cpu / (result.seconds * 1e6),
  }
}

/** Lets the compiler see the code it is to be measured with: until some 50,000 requests its figures still improve. */
export async function warmUp(tools: Tools, bench: Bench): Promise<void> {
  await load(tools, bench, { aim: bench.aims.json, connections, durationMs: 10_000 })
  await load(tools, bench, { aim: bench.aims.frames, connections: streamConnections, durationMs: 2000 })
  if (bench.aims.hit !== null) await load(tools, bench, { aim: bench.aims.hit, connections, durationMs: 3000 })
}

/** CPU of each request while neighbours keep the caches of both cores busy. */
export async function measureBusy(tools: Tools, bench: Bench): Promise<number> {
  return (await load(tools, bench, { aim: bench.aims.json, connections, durationMs: 4000 })).cpu
}

const firstRequests = 2000

/** CPU of each of the first requests after a start, before any code is compiled. */
export async function measureFirst(tools: Tools, bench: Bench): Promise<number> {
  return (await load(tools, bench, { aim: bench.aims.json, connections, durationMs: 60_000, most: firstRequests })).cpu
}

/** One round of one subject. */
export async function measure(tools: Tools, bench: Bench): Promise<Round> {
  const requests = await load(tools, bench, { aim: bench.aims.json, connections, durationMs: 4000 })
  const streams = await load(tools, bench, { aim: bench.aims.frames, connections: streamConnections, durationMs: 3000 })
  const hits = bench.aims.hit === null ? null : await load(tools, bench, { aim: bench.aims.hit, connections, durationMs: 3000 })
  const made = await allocation(tools, bench)
  const whole = await compare(tools, {
    aims: [tools.direct.json, bench.aims.json],
    samples: bench.subject.slow === true ? 300 : 1500,
    firstByte: false,
  })
  const first = await compare(tools, { aims: [tools.direct.stream, bench.aims.stream], samples: 300, firstByte: true })
  return {
    perSecond: requests.answers / requests.seconds,
    cpuPerRequest: requests.cpu,
    busy: requests.busy,
    databaseCpuPerRequest: requests.databaseCpu,
    loadP99: requests.p99,
    allocated: made.main,
    allocatedElsewhere: made.elsewhere,
    cpuPerHit: hits === null ? Number.NaN : hits.cpu,
    addedP50: whole(0.5),
    addedP99: whole(0.99),
    addedFirstByte: first(0.5),
    cpuPerStream: streams.cpu,
    streamsPerSecond: streams.answers / streams.seconds,
  }
}

const bytes = z.object({ main: z.number(), others: z.array(z.number()) })

/** Under a load of its own, because it costs a little to look. */
async function allocation(tools: Tools, bench: Bench): Promise<{ readonly main: number; readonly elsewhere: number }> {
  const { probe } = bench.started
  if (probe === null) return { main: Number.NaN, elsewhere: Number.NaN }
  await probe.ask({ do: 'watch' }, z.unknown())
  const { answers } = await load(tools, bench, { aim: bench.aims.json, connections, durationMs: 3000 })
  const { main, others } = await probe.ask({ do: 'allocated' }, bytes)
  return { main: main / answers, elsewhere: others.reduce((sum, one) => sum + one, 0) / answers }
}

/** The difference of the second aim to the first at a quantile, both asked in turn. */
async function compare(
  tools: Tools,
  task: { aims: readonly Aim[]; samples: number; firstByte: boolean },
): Promise<(quantile: number) => number> {
  const { milliseconds } = await ask<{ milliseconds: readonly (readonly number[])[] }>(tools, { kind: 'latency', ...task })
  const [direct = [], through = []] = milliseconds.map((samples) => samples.toSorted((a, b) => a - b))
  return (quantile) =>
    (through[Math.floor(through.length * quantile)] ?? Number.NaN) - (direct[Math.floor(direct.length * quantile)] ?? Number.NaN)
}

/** Resident memory while 1,000 streams are open and each gets a frame a second. */
export async function measureHeld(tools: Tools, bench: Bench): Promise<number> {
  await ask(tools, { kind: 'hold', aim: bench.aims.slow, connections: 1000 })
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const megabytes = residentMegabytes(bench.started.running.pid)
  await ask(tools, { kind: 'release' })
  return megabytes
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
