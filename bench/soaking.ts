import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { storeProvider } from '../test/support/admin.ts'
import { startEmulator } from '../test/support/emulator/emulator.ts'
import { startGatehouse, workspaceKey, type Gatehouse } from '../test/support/process.ts'
import { open, type Connection } from './http-client.ts'
import { makeProbe } from './probe.ts'
import { nodeFlags } from './subjects.ts'

/** Memory after full collections, in megabytes. */
export interface Sample {
  /** So many requests after the warm-up. */
  readonly requests: number
  /** The reachable memory: the objects of the main thread and of the journal's, and their buffers. */
  readonly alive: number
  readonly resident: number
}

export type Kind = 'alive' | 'resident'

export interface Phase {
  readonly requests: number
  readonly samples: number
}

/** A product under load, with all that belongs to it. */
export interface Soak {
  readonly gatehouse: Gatehouse
  /** Sends so many, and measures in equal distances, first before the first request. */
  run(phase: Phase): Promise<readonly Sample[]>
  /** Every request leaves an object behind from now on. */
  plantLeak(): Promise<void>
  /** Writes heap snapshots of both threads there. */
  snapshot(folder: string): Promise<void>
  stop(): Promise<void>
}

const connections = 16
/** Clients come and go. */
const requestsPerConnection = 500
/** A machine that is busy with other things makes the product refuse for a moment. */
const againMs = 100
/** Until the shipper has brought the last records to the database. */
const settleMs = 500
export interface SoakOptions {
  /** V8 drops the code of functions that rest, megabytes at a time: in a short run growth could hide in such a step. */
  readonly keepsCode?: boolean
}

/** Starts the product as `npm start` does, with the scripted provider behind it. */
export async function startSoak({ keepsCode = false }: SoakOptions = {}): Promise<Soak> {
  const emulator = await startEmulator({ record: false })
  const probe = makeProbe()
  const gatehouse = await startGatehouse({
    env: { ...probe.env, LOG_FILE: '/dev/null' },
    program: {
      folder: join(import.meta.dirname, '..'),
      args: [...probe.args, ...(keepsCode ? ['--no-flush-bytecode'] : []), ...nodeFlags, 'src/main.ts'],
    },
  })
  await storeProvider(gatehouse.origin, { slug: 'soak', url: emulator.url })
  const port = Number(new URL(gatehouse.origin).port)
  const mix = mixFor(port)
  let sent = 0
  const take = async (requests: number): Promise<Sample> => {
    await sleep(settleMs)
    return sampleOf(requests, await probe.ask({ do: 'measure' }, measured))
  }
  return {
    gatehouse,
    async run({ requests, samples }) {
      const taken = [await take(0)]
      const share = Math.round(requests / samples)
      for (let done = 0; done < requests; done += share) {
        await send(port, { mix, from: sent, to: sent + share })
        sent += share
        taken.push(await take(done + share))
      }
      return taken
    },
    plantLeak: async () => void (await probe.ask({ do: 'leak' }, z.unknown())),
    snapshot: async (folder) => void (await probe.ask({ do: 'snapshot', folder }, z.unknown())),
    async stop() {
      await gatehouse.stop()
      await emulator.stop()
    },
  }
}

/** The expected answer to a request, and its bytes. */
interface Shot {
  readonly status: number
  readonly bytes: Buffer
}

const guarded = { input_guardrails: [{ checks: [{ id: 'default.regexMatch', parameters: { rule: 'never-said', not: true } }] }] }

/** Twenty requests as a day brings them: most plain, a fifth streams, some refused, some failed by the provider, some guarded. */
function mixFor(port: number): readonly Shot[] {
  const plain = shot(port, {})
  const stream = shot(port, { body: { stream: true, stream_options: { include_usage: true } } })
  const failed = shot(port, { status: 500, body: { model: 'emulate:server-error' } })
  const refused = shot(port, { status: 401, key: 'gh-nobody-has-this-key-00000000000000000' })
  const checked = shot(port, { headers: { 'x-service-config': JSON.stringify(guarded) } })
  const turn = [plain, stream, plain, plain]
  return [...turn, failed, ...turn, checked, ...turn, refused, ...turn, plain]
}

interface Asked {
  readonly status?: number
  readonly key?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

function shot(port: number, { status = 200, key = workspaceKey, body = {}, headers = {} }: Asked): Shot {
  const messages = [{ role: 'user', content: 'Summarise the history of the printing press for a reader who has ten seconds. '.repeat(10) }]
  const json = JSON.stringify({ model: 'gpt-4o-mini', messages, ...body })
  const fields = {
    host: `127.0.0.1:${port}`,
    'user-agent': 'soak/1',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(json)),
    authorization: `Bearer ${key}`,
    'x-service-provider': '@soak',
    ...headers,
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return { status, bytes: Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${head.join('')}\r\n${json}`) }
}

interface Volley {
  readonly mix: readonly Shot[]
  readonly from: number
  readonly to: number
}

interface Shots {
  readonly take: () => Shot | null
  /** For one that was refused because the machine was busy. */
  readonly giveBack: (one: Shot) => void
}

/** Sends all of them over a few connections. Rejects at the first answer that is another than expected. */
async function send(port: number, { mix, from, to }: Volley): Promise<void> {
  let next = from
  const refused: Shot[] = []
  const shots: Shots = {
    take: () => refused.pop() ?? (next < to ? (mix[next++ % mix.length] ?? null) : null),
    giveBack: (one) => void refused.push(one),
  }
  await Promise.all(Array.from({ length: connections }, () => drive(port, shots)))
}

async function drive(port: number, shots: Shots): Promise<void> {
  while (await visit(port, shots));
}

/** One connection. Resolves with false when there were no more requests to send. */
function visit(port: number, { take, giveBack }: Shots): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let answered = 0
    let sent: Shot | null = null
    const end = (more: boolean) => {
      connection.close()
      resolve(more)
    }
    const shoot = () => {
      sent = answered === requestsPerConnection ? null : take()
      if (sent === null) return end(answered === requestsPerConnection)
      connection.send(sent.bytes)
    }
    const connection: Connection = open(port, {
      onEnd(status) {
        if (status === 503 && sent !== null) {
          giveBack(sent)
          connection.close()
          return void setTimeout(resolve, againMs, true)
        }
        answered += 1
        if (status === sent?.status) return shoot()
        connection.close()
        reject(new Error(`answered ${status} instead of ${sent?.status}`))
      },
      onError: reject,
    })
    shoot()
  })
}

const thread = z.object({ heap: z.number(), external: z.number(), rss: z.number() })
const measured = z.object({ main: thread, others: z.array(thread) })

const megabyte = 1024 * 1024
const sampleOf = (requests: number, { main, others }: z.infer<typeof measured>): Sample => ({
  requests,
  alive: [main, ...others].reduce((sum, { heap, external }) => sum + heap + external, 0) / megabyte,
  resident: main.rss / megabyte,
})

/**
 * Megabytes that 100,000 requests add, by the middle half of the additions of each stretch between two samples: now and then V8 drops old code, or
 * takes and returns whole pages, and one such step is no slope.
 */
export function slope(samples: readonly Sample[], kind: Kind): number {
  const grown = samples.slice(1).map((sample, at) => {
    const before = samples[at] ?? sample
    return ((sample[kind] - before[kind]) * 100_000) / (sample.requests - before.requests)
  })
  return mean(middle(grown))
}

/** The half in the middle. */
const middle = (values: readonly number[]): readonly number[] => {
  const cut = Math.floor(values.length / 4)
  return values.toSorted((one, other) => one - other).slice(cut, values.length - cut)
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
