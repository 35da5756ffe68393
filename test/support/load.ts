import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** One request of a client. */
export interface Ask {
  /** Origin, path and query. */
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The test's name for it. */
  readonly label?: string
}

/** One exchange as its client saw it. Times are `performance.now()`. */
export interface Outcome {
  readonly ask: Ask
  readonly startedAt: number
  readonly endedAt: number
  /** Null: no answer came. */
  readonly status: number | null
  /** `x-service-request-id`, as soon as the headers were there. */
  readonly id: string | null
  readonly headers: IncomingMessage['headers']
  readonly text: string
  /** Every byte of the answer came; of a stream, its `[DONE]` too. */
  readonly complete: boolean
  /** Why it is not complete. */
  readonly fault: string | null
}

export interface LoadOptions {
  readonly clients: number
  /** The next request of client number `client`. */
  readonly next: (client: number) => Ask
  /** Called for every exchange that has ended. */
  readonly onOutcome?: (outcome: Outcome, client: number) => void
  /** The time from one request of a client to its next; absent: one after the other. */
  readonly everyMs?: number
}

/** Clients that ask and ask. */
export interface Load {
  /** Every exchange that has ended, in the order of their ends. */
  readonly outcomes: readonly Outcome[]
  /** Resolves when the condition holds; looked at after every exchange. */
  until(condition: (outcomes: readonly Outcome[]) => boolean): Promise<void>
  /** Resolves when every client has ended its exchange. */
  stop(): Promise<readonly Outcome[]>
}

/** Starts clients that each keep one connection alive and ask again as soon as they were answered. A client never retries. */
export function startLoad(options: LoadOptions): Load {
  const outcomes: Outcome[] = []
  const waiting = new Set<() => void>()
  const stopping = new AbortController()
  const ended = (outcome: Outcome, client: number) => {
    outcomes.push(outcome)
    options.onOutcome?.(outcome, client)
    for (const look of waiting) look()
  }
  const clients = Array.from({ length: options.clients }, (_, client) =>
    run(options, { client, ended: (outcome) => ended(outcome, client), signal: stopping.signal }),
  )
  return {
    outcomes,
    until(condition) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const look = () => {
        if (!condition(outcomes)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
      return promise
    },
    async stop() {
      stopping.abort()
      await Promise.all(clients)
      return outcomes
    },
  }
}

interface Client {
  readonly client: number
  readonly ended: (outcome: Outcome) => void
  readonly signal: AbortSignal
}

async function run({ next, everyMs, clients }: LoadOptions, { client, ended, signal }: Client): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const from = performance.now() + ((everyMs ?? 0) * client) / clients
  for (let round = 0; !signal.aborted; round += 1) {
    if (everyMs !== undefined) await sleep(Math.max(0, from + round * everyMs - performance.now()), undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    const outcome = await exchange(next(client), agent)
    ended(outcome)
    // A server that is down is not asked in a busy loop.
    if (outcome.status === null) await sleep(5)
  }
  agent.destroy()
}

/** No test lets an answer pause for as long. */
const silentMs = 60_000

/** One request; never rejects. Without an agent it has a connection of its own. `onHeaders` is called when an answer begins. */
export function exchange(ask: Ask, agent: Agent | false = false, onHeaders = () => {}): Promise<Outcome> {
  const startedAt = performance.now()
  const { url, method = 'POST', headers = {}, body } = ask
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let answer: IncomingMessage | null = null
    const settle = (fault: string | null) => {
      const text = Buffer.concat(chunks).toString()
      const whole = fault === null && (!isStream(answer) || text.endsWith('data: [DONE]\n\n'))
      resolve({
        ask,
        startedAt,
        endedAt: performance.now(),
        status: answer?.statusCode ?? null,
        id: idOf(answer),
        headers: answer?.headers ?? {},
        text,
        complete: whole,
        fault: fault ?? (whole ? null : `the stream has no end: ${text.slice(-300)}`),
      })
    }
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)), 'content-type': 'application/json' }
    const sent = request(url, { method, agent, headers: { ...length, ...headers } }, (response) => {
      answer = response
      onHeaders()
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', (error) => settle(error.message))
      response.on('end', () => settle(response.complete ? null : 'the answer was cut off'))
    })
    sent.on('error', (error) => settle(error.message))
    // A connection whose process was killed before it was taken over may stay open for ever.
    sent.setTimeout(silentMs, () => sent.destroy(new Error(`no byte for ${silentMs} ms`)))
    sent.end(body)
  })
}

const isStream = (answer: IncomingMessage | null): boolean => answer?.headers['content-type']?.startsWith('text/event-stream') ?? false

function idOf(answer: IncomingMessage | null): string | null {
  const id = answer?.headers['x-service-request-id']
  return typeof id === 'string' ? id : null
}

export interface ChatOptions {
  readonly key: string
  /** `@slug` of a stored provider. */
  readonly provider: string
  /** A stream of so many content frames, with a pause between two. */
  readonly stream?: { readonly frames: number; readonly everyMs: number }
}

/** A chat completion, in one answer or as a stream. */
export const chat = (origin: string, { key, provider, stream }: ChatOptions): Ask => ({
  url: `${origin}/v1/chat/completions`,
  headers: {
    'x-service-api-key': key,
    'x-service-provider': provider,
    ...(stream === undefined ? {} : { 'x-emulate': JSON.stringify({ frames: stream.frames, frameEveryMs: stream.everyMs }) }),
  },
  body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], stream: stream !== undefined }),
  label: stream === undefined ? 'json' : 'stream',
})

/** An answer that is complete and successful. */
export const succeeded = ({ complete, status }: Outcome): boolean => complete && status === 200

/** The failed exchanges, counted by kind. */
export function failures(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes.filter((one) => !succeeded(one))) {
    const kind = `${outcome.ask.label ?? ''} ${outcome.status ?? 'no answer'} ${outcome.fault ?? outcome.text.slice(0, 200)}`
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

/** The value below which this share of the exchanges lies, in milliseconds. */
export function durationAt(outcomes: readonly Outcome[], share: number): number {
  const sorted = outcomes.map(({ startedAt, endedAt }) => endedAt - startedAt).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
