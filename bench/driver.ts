// The load, as a process of its own: fixed request bytes over keep-alive connections, one answer at a time on each.
import { setTimeout as pause } from 'node:timers/promises'
import { open, type Connection } from './http-client.ts'

/** The destination and the request. */
export interface Aim {
  readonly port: number
  /** The whole request, base64. */
  readonly request: string
}

export type Task =
  /** As many requests as go through in the time; `most`: no more than that. */
  | { readonly kind: 'load'; readonly aim: Aim; readonly connections: number; readonly durationMs: number; readonly most?: number }
  /** One request at a time, to each aim in turn. `firstByte`: until the first byte of the body. */
  | { readonly kind: 'latency'; readonly aims: readonly Aim[]; readonly samples: number; readonly firstByte: boolean }
  /** Opens so many connections, waits for the first byte on each, and stays. */
  | { readonly kind: 'hold'; readonly aim: Aim; readonly connections: number }
  | { readonly kind: 'release' }

export interface LoadResult {
  readonly answers: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
}

export type TaskResult = LoadResult | { readonly milliseconds: readonly (readonly number[])[] } | { readonly held: number }

const held: Connection[] = []

async function load({ aim, connections, durationMs, most = Infinity }: Extract<Task, { kind: 'load' }>): Promise<LoadResult> {
  const request = Buffer.from(aim.request, 'base64')
  const latencies: number[] = []
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: connections }, () =>
      drive(aim.port, { request, until: startedAt + durationMs, most: most - connections, latencies }),
    ),
  )
  const seconds = (performance.now() - startedAt) / 1000
  const sorted = latencies.toSorted((a, b) => a - b)
  return { answers: latencies.length, seconds, p50: at(sorted, 0.5), p99: at(sorted, 0.99) }
}

const at = (sorted: readonly number[], quantile: number): number => sorted[Math.floor(sorted.length * quantile)] ?? Number.NaN

interface Drive {
  readonly request: Buffer
  readonly until: number
  /** After so many answers no connection asks again. */
  readonly most: number
  readonly latencies: number[]
}

function drive(port: number, { request, until, most, latencies }: Drive): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = performance.now()
    const connection = open(port, {
      onEnd(status, endedAt) {
        if (status !== 200) {
          connection.close()
          reject(new Error(`answered ${status}`))
          return
        }
        latencies.push(endedAt - sentAt)
        if (endedAt < until && latencies.length <= most) {
          sentAt = endedAt
          connection.send(request)
        } else {
          connection.close()
          resolve()
        }
      },
      onError: reject,
    })
    connection.send(request)
  })
}

async function latency({ aims, samples, firstByte }: Extract<Task, { kind: 'latency' }>): Promise<{ milliseconds: number[][] }> {
  const probes = aims.map((aim) => probe(aim, firstByte))
  const milliseconds: number[][] = aims.map(() => [])
  for (let sample = 0; sample < samples; sample += 1)
    for (const [index, ask] of probes.entries()) milliseconds[index]?.push(await ask.once())
  for (const ask of probes) ask.close()
  return { milliseconds }
}

function probe({ port, request: text }: Aim, firstByte: boolean) {
  const request = Buffer.from(text, 'base64')
  let waiting = Promise.withResolvers<void>()
  let bodyAt = 0
  let endedAt = 0
  const connection = open(port, {
    onBody: (now) => void (bodyAt = now),
    onEnd(status, now) {
      endedAt = now
      if (status === 200) waiting.resolve()
      else waiting.reject(new Error(`answered ${status}`))
    },
    onError: (error) => waiting.reject(error),
  })
  return {
    async once(): Promise<number> {
      waiting = Promise.withResolvers()
      const sentAt = performance.now()
      connection.send(request)
      await waiting.promise
      return (firstByte ? bodyAt : endedAt) - sentAt
    },
    close: () => connection.close(),
  }
}

/** In groups, so that no listen queue overflows. */
async function hold({ aim, connections }: Extract<Task, { kind: 'hold' }>): Promise<{ held: number }> {
  const request = Buffer.from(aim.request, 'base64')
  for (let opened = 0; opened < connections; opened += 50) {
    await Promise.all(Array.from({ length: Math.min(50, connections - opened) }, () => holdOne(aim.port, request)))
    await pause(5)
  }
  return { held: held.length }
}

function holdOne(port: number, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = open(port, {
      onBody: () => resolve(),
      onEnd: (status) => reject(new Error(`a stream that should stay open ended with ${status}`)),
      onError: reject,
    })
    held.push(connection)
    connection.send(request)
  })
}

function run(task: Task): Promise<TaskResult> {
  if (task.kind === 'load') return load(task)
  if (task.kind === 'latency') return latency(task)
  if (task.kind === 'hold') return hold(task)
  for (const connection of held.splice(0)) connection.close()
  return Promise.resolve({ held: 0 })
}

process.on('message', (task: Task) => {
  run(task).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  )
})
process.once('disconnect', () => process.exit(0))
