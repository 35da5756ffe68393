import { setTimeout as sleep } from 'node:timers/promises'

/** The address of requests. */
export interface Target {
  readonly baseUrl: string
}

/** One request of a client and its answer, as it will be sent again by the same client to a later release. */
export interface Exchange {
  readonly method: string
  /** Below `/v1`, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly answer: Answer
  /** The client asks again until the answer lists so many items. */
  readonly items: number
}

export interface Answer {
  readonly status: number
  /** The content type without its parameters. */
  readonly type: string
  readonly text: string
}

/** A request that is yet to be answered. */
export type Request = Omit<Exchange, 'answer'>

/** The fields of an answer's resource that are texts, or those of the first of several; empty where there is none. */
export type Made = Readonly<Record<(typeof told)[number], string>>

const told = ['id', 'slug', 'key', 'user_id', 'invite_link', 'feedback_ids'] as const

/** Requests with one set of headers; every method but `refused` throws unless the answer is 200, and returns the resource in it. */
export interface Caller {
  get(path: string): Promise<Made>
  /** Asks for an answer with this status: a denial, or a missing resource. */
  refused(status: number, method: string, path: string): Promise<void>
  /** Asks until so many items are listed, which may take a moment; then the first of them. */
  list(path: string, items: number): Promise<Made>
  post(path: string, body?: unknown): Promise<Made>
  put(path: string, body: unknown): Promise<Made>
  remove(path: string, body?: unknown): Promise<Made>
}

/** A client of one installation that remembers everything that it asked. */
export interface Client {
  readonly exchanges: readonly Exchange[]
  /** The control plane, with this key. */
  with(key: string): Caller
  /** The data plane: this key, this provider, and other headers. */
  through(key: string, provider: string, headers?: Readonly<Record<string, string>>): Caller
}

/** Starts a client of an installation. */
export function createClient(target: Target): Client {
  const exchanges: Exchange[] = []
  const exchange = async (request: Request, expected = 200) => {
    const answer = await send(target, request)
    exchanges.push({ ...request, answer })
    if (answer.status !== expected)
      throw new Error(`${request.method} ${request.path} was answered ${answer.status}: ${answer.text.slice(0, 500)}`)
    return toMade(answer)
  }
  const caller = (headers: Readonly<Record<string, string>>): Caller => {
    const ask = (method: string, path: string, { body, items = 0 }: { body?: unknown; items?: number } = {}) =>
      exchange({ method, path, headers, body: body === undefined ? null : JSON.stringify(body), items })
    return {
      get: (path) => ask('GET', path),
      async refused(status, method, path) {
        await exchange({ method, path, headers, body: method === 'GET' ? null : '{}', items: 0 }, status)
      },
      list: (path, items) => ask('GET', path, { items }),
      post: (path, body = {}) => ask('POST', path, { body }),
      put: (path, body) => ask('PUT', path, { body }),
      remove: (path, body) => ask('DELETE', path, { body }),
    }
  }
  return {
    exchanges,
    with: (key) => caller({ 'x-service-api-key': key }),
    through: (key, provider, headers = {}) => caller({ 'x-service-api-key': key, 'x-service-provider': provider, ...headers }),
  }
}

/** Whether a provider was to answer it. */
export const isDataPlane = ({ headers }: Pick<Request, 'headers'>): boolean => 'x-service-provider' in headers

const listedWithinMs = 20_000
const askEveryMs = 100

/** Sends a request, again and again while its answer lists too little, or is put off: a machine may be busy, and clients ask again after a 503. */
export async function send(target: Target, request: Request): Promise<Answer> {
  const until = performance.now() + listedWithinMs
  for (;;) {
    const answer = await sendOnce(target, request)
    const putOff = answer.status === 503 && performance.now() < until
    if (!putOff && (answer.status !== 200 || itemsOf(parse(answer)).length >= request.items)) return answer
    if (performance.now() > until) throw new Error(`${request.path} lists fewer than ${request.items} items: ${answer.text.slice(0, 500)}`)
    await sleep(askEveryMs)
  }
}

async function sendOnce({ baseUrl }: Target, { method, path, headers, body }: Request): Promise<Answer> {
  const response = await fetch(`${baseUrl}/v1${path}`, {
    method,
    headers: { ...headers, ...(body !== null && { 'content-type': 'application/json' }) },
    body,
  })
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  return { status: response.status, type, text: await response.text() }
}

/** The JSON of an answer; null when it is none. */
export function parse({ type, text }: Answer): unknown {
  if (type !== 'application/json') return null
  return JSON.parse(text) as unknown
}

type Fields = Readonly<Record<string, unknown>>

/** The items of a list. */
const itemsOf = (json: unknown): readonly unknown[] => {
  const data = isObject(json) ? json['data'] : null
  return Array.isArray(data) ? data : []
}

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value)

function toMade(answer: Answer): Made {
  const json = parse(answer)
  const data = isObject(json) ? (json['data'] ?? json) : null
  const fields: Fields = isObject(data) ? data : (itemsOf(json).find(isObject) ?? {})
  const texts = told.map((name) => [name, first(fields[name])]).map(([name, value]) => [name, typeof value === 'string' ? value : ''])
  return Object.fromEntries(texts) as Made
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
