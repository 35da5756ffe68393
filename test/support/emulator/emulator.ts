import { hash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { jsonAnswer, type Answer, type Asked } from './answer.ts'
import { parseBehaviour, type Behaviour } from './behaviour.ts'
import { alter, deliver } from './deliver.ts'
import { createStore, type Store } from './resources.ts'
import { answerNormally, failure } from './routes.ts'

/** A request as it arrived. */
export interface Received {
  readonly method: string
  /** Path and query, as on the wire. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  /** Flat name, value ... as on the wire. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** The body as JSON; an empty object when it is none. */
  readonly json: Readonly<Record<string, unknown>>
  readonly rawTrailers: readonly string[]
  /** `performance.now()` when the whole request was there. */
  readonly at: number
  /** Bytes of the answer's body that were handed to the socket so far. */
  readonly sent: number
  /** When the exchange ended: `complete` false means that the other side left first. */
  readonly closed: Promise<{ readonly complete: boolean; readonly at: number }>
}

/** When a request matches, it is answered in this way. The latest rule that matches wins. */
export interface Rule {
  readonly method?: string
  /** Found in the path and query. */
  readonly path?: string | RegExp
  /** Headers that must have these values. */
  readonly headers?: Readonly<Record<string, string>>
  /** How often the rule serves; absent: for ever. */
  readonly times?: number
  readonly behaviour: Behaviour | ((received: Received) => Behaviour)
}

/** A scripted provider. See `startEmulator`. */
export interface Emulator {
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** `http://127.0.0.1:PORT/v1`, to be given as a custom host. */
  readonly url: string
  /** The latest 1,000 requests, oldest first; empty when recording is off. */
  readonly requests: readonly Received[]
  /** Adds a rule; the result removes it. */
  script(rule: Rule): () => void
  /** The next request to arrive that matches (path as in `Rule`), from now on. Rejects when none came in time. */
  next(path?: string | RegExp, timeoutMs?: number): Promise<Received>
  /** The next exchange (path as in `Rule`) whose client left before the answer's end. */
  onClose(path?: string | RegExp, timeoutMs?: number): Promise<Received>
  /** Open sockets. */
  connections(): number
  /** Forgets requests, rules and stored objects. */
  reset(): void
  stop(): Promise<void>
}

export interface EmulatorOptions {
  /** Off: no request is recorded, `requests`, `next` and `onClose` see none. For benchmarks. */
  readonly record?: boolean
  readonly port?: number
}

const wanting =
  (path: string | RegExp | undefined): Waiter['wants'] =>
  ({ url }) =>
    path === undefined || found(path, url)

interface Waiter {
  readonly wants: (received: Received) => boolean
  readonly resolve: (received: Received) => void
}

interface State {
  readonly record: boolean
  readonly requests: Received[]
  readonly rules: { rule: Rule; left: number }[]
  readonly arrivals: Set<Waiter>
  readonly departures: Set<Waiter>
  store: Store
}

/**
 * Starts a scripted provider on 127.0.0.1 and a free port. It has the OpenAI and Anthropic surfaces under any base path, a path with the segment
 * `echo` answers with the received request (JSON: method, url, rawHeaders, rawTrailers, length, sha256, base64). A request is answered oddly when a
 * header `x-emulate`, a query `emulate`, a model `emulate:...` (each a preset, an odd stream or JSON) or a rule asks for it.
 */
export async function startEmulator({ record = true, port = 0 }: EmulatorOptions = {}): Promise<Emulator> {
  const state: State = { record, requests: [], rules: [], arrivals: new Set(), departures: new Set(), store: createStore() }
  const sockets = new Set<Socket>()
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true, requestTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => serve(state, { request, response, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) }))
    request.on('error', () => response.destroy())
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', 1024, resolve))
  return control(state, {
    sockets,
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  })
}

interface Listening {
  readonly sockets: ReadonlySet<Socket>
  readonly port: number
  readonly close: () => Promise<void>
}

function control(state: State, { sockets, port, close }: Listening): Emulator {
  const origin = `http://127.0.0.1:${port}`
  return {
    port,
    origin,
    url: `${origin}/v1`,
    requests: state.requests,
    script(rule) {
      const entry = { rule, left: rule.times ?? Infinity }
      state.rules.unshift(entry)
      return () => void state.rules.splice(state.rules.indexOf(entry), 1)
    },
    next: (path, timeoutMs = 15_000) => waitFor(state.arrivals, { wants: wanting(path), what: 'a request', timeoutMs }),
    onClose: (path, timeoutMs = 15_000) => waitFor(state.departures, { wants: wanting(path), what: 'a client that leaves', timeoutMs }),
    connections: () => sockets.size,
    reset() {
      state.requests.length = 0
      state.rules.length = 0
      state.store = createStore()
    },
    stop() {
      const closed = close()
      for (const socket of sockets) socket.destroy()
      return closed
    },
  }
}

function waitFor(
  waiters: Set<Waiter>,
  { wants, what, timeoutMs }: { wants: Waiter['wants']; what: string; timeoutMs: number },
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const settle = (received: Received) => {
      clearTimeout(timer)
      waiters.delete(waiter)
      resolve(received)
    }
    const waiter: Waiter = { wants, resolve: settle }
    const timer = setTimeout(() => {
      waiters.delete(waiter)
      reject(new Error(`the emulator waited ${timeoutMs} ms in vain for ${what}`))
    }, timeoutMs)
    waiters.add(waiter)
  })
}

const tell = (waiters: ReadonlySet<Waiter>, received: Received): void => {
  for (const waiter of waiters) if (waiter.wants(received)) waiter.resolve(received)
}

const found = (pattern: string | RegExp, url: string): boolean => (typeof pattern === 'string' ? url.includes(pattern) : pattern.test(url))

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
}

const normal: Behaviour = {}

function serve(state: State, exchange: Exchange): void {
  const { request, response, body } = exchange
  const json = parseJson(body)
  const received = state.record || state.rules.length > 0 ? receive(state, exchange, json) : null
  try {
    const behaviour = (received && scripted(state, received)) ?? asked(request, json)
    const answer = normalAnswer(state.store, { request, body, json, behaviour })
    if (behaviour === normal && !answer.stream) {
      plainly(response, answer)
      return
    }
    const sent = (bytes: number) => void (received !== null && (received.sent += bytes))
    deliver(response, behaviour === normal ? answer : alter(answer, behaviour), { behaviour, sent }).catch((error: unknown) =>
      fail(response, error),
    )
  } catch (error) {
    fail(response, error)
  }
}

/** A fault of the emulator or of its script shows as an answer that no test expects. */
function fail(response: ServerResponse, error: unknown): void {
  if (!response.headersSent) response.writeHead(599, { 'content-type': 'text/plain' })
  response.end(`emulator: ${error instanceof Error ? error.stack : String(error)}`)
}

function plainly(response: ServerResponse, { status, headers, pieces }: Answer): void {
  const [bytes = Buffer.alloc(0)] = pieces
  response.writeHead(status, { ...(headers as Record<string, string>), 'content-length': bytes.length })
  response.end(bytes)
}

function parseJson(body: Buffer): Readonly<Record<string, unknown>> {
  if (body[0] !== 0x7b) return {}
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}

function receive(state: State, { request, response, body }: Exchange, json: Received['json']): Received & { sent: number } {
  const { promise, resolve } = Promise.withResolvers<{ complete: boolean; at: number }>()
  const { method = 'GET', url = '/', headers, rawHeaders, rawTrailers } = request
  const received = { method, url, headers, rawHeaders, body, json, rawTrailers, at: performance.now(), sent: 0, closed: promise }
  response.once('close', () => {
    resolve({ complete: response.writableFinished, at: performance.now() })
    if (!response.writableFinished) tell(state.departures, received)
  })
  if (!state.record) return received
  if (state.requests.push(received) > 1000) state.requests.shift()
  tell(state.arrivals, received)
  return received
}

function scripted(state: State, received: Received): Behaviour | null {
  const entry = state.rules.find(({ rule, left }) => left > 0 && matches(rule, received))
  if (entry === undefined) return null
  entry.left -= 1
  return typeof entry.rule.behaviour === 'function' ? entry.rule.behaviour(received) : entry.rule.behaviour
}

const matches = ({ method, path, headers = {} }: Rule, received: Received): boolean =>
  (method === undefined || method === received.method) &&
  (path === undefined || found(path, received.url)) &&
  Object.entries(headers).every(([name, value]) => received.headers[name.toLowerCase()] === value)

function asked(request: IncomingMessage, json: Received['json']): Behaviour {
  const header = request.headers['x-emulate']
  if (typeof header === 'string') return parseBehaviour(header)
  if (request.url?.includes('emulate=') === true) {
    const text = new URL(request.url, 'http://emulator').searchParams.get('emulate')
    if (text !== null) return parseBehaviour(text)
  }
  const { model } = json
  return typeof model === 'string' && model.startsWith('emulate:') ? parseBehaviour(model.slice('emulate:'.length)) : normal
}

interface Subject extends Omit<Exchange, 'response'> {
  readonly json: Received['json']
  readonly behaviour: Behaviour
}

function normalAnswer(store: Store, { request, body, json, behaviour }: Subject): Answer {
  const { method = 'GET', url = '/', headers } = request
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  if (behaviour.answer === 'echo' || /\/echo(?:\/|$)/.test(path)) return echo(request, body)
  if (behaviour.status !== undefined && behaviour.status >= 400) return failure(path, behaviour.status, `Emulated ${behaviour.status}`)
  const subject: Asked = {
    method,
    path,
    query: new URLSearchParams(mark === -1 ? '' : url.slice(mark)),
    headers,
    body,
    json,
    match: [],
    frames: behaviour.frames ?? 0,
  }
  return answerNormally(subject, store)
}

function echo({ method, url, rawHeaders, rawTrailers, httpVersion }: IncomingMessage, body: Buffer): Answer {
  return jsonAnswer({
    method,
    url,
    httpVersion,
    rawHeaders,
    rawTrailers,
    length: body.length,
    sha256: hash('sha256', body),
    base64: body.toString('base64'),
  })
}

/** The answer of an echo route. */
export interface Echo {
  readonly method: string
  readonly url: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly rawTrailers: readonly string[]
  readonly length: number
  readonly sha256: string
  readonly base64: string
}
