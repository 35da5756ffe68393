import type { Operations } from './types.ts'
import type { Used } from './used.ts'

/** A failed request, with the words of the API. */
export class ApiFailure extends Error {
  /** 0: no answer came. */
  readonly status: number
  readonly code: string
  readonly param: string | null
  readonly requestId: string | null
  readonly issues: readonly { readonly param: string; readonly message: string }[]

  constructor(status: number, error: ErrorBody, requestId: string | null) {
    super(error.message ?? `The answer was ${status}.`)
    this.status = status
    this.code = error.code ?? (status === 0 ? 'offline' : 'unknown')
    this.param = error.param ?? null
    this.requestId = error.request_id ?? requestId
    this.issues = error.issues ?? []
  }
}

interface ErrorBody {
  readonly message?: string
  readonly code?: string
  readonly param?: string | null
  readonly request_id?: string
  readonly issues?: readonly { readonly param: string; readonly message: string }[]
}

/** The path of the console, such as `/console`, and that of the installation before it. */
export const consolePath = new URL(document.baseURI).pathname.replace(/\/$/, '')
export const rootPath = consolePath.replace(/\/console$/, '')

/** The token that writes by session need. It is kept in memory alone. */
let csrfToken = ''
export const keepCsrfToken = (token: string): void => void (csrfToken = token)

/** Returns a key by which a write that is sent twice happens once. Browsers make ids on secure pages alone, so that it is made of bytes. */
export const newOnce = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

type Inputs<Name extends Used> = Operations[Name] extends { path: infer Path; query: infer Query; body: infer Body }
  ? (keyof Path extends never ? { readonly path?: undefined } : { readonly path: Path }) &
      (Body extends undefined ? { readonly body?: undefined } : { readonly body: Body }) & { readonly query?: Query }
  : never

/** The input of an operation: `workspace` is the slug of that in which it acts. */
export type Asked<Name extends Used> = Inputs<Name> & {
  readonly workspace?: string | undefined
  readonly signal?: AbortSignal
  readonly once?: string
  /** The tag of what the person saw: the write is refused with 412 if it has changed since. */
  readonly ifMatch?: string
}

export type Answer<Name extends Used> = Operations[Name]['answer']

/** The parts of any input. */
interface Parts {
  readonly path?: Readonly<Record<string, unknown>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  readonly workspace?: string | undefined
  readonly signal?: AbortSignal
  readonly once?: string
  readonly ifMatch?: string
}

/** Performs an operation of the API. Throws ApiFailure, and nothing else but the abortion that was asked for. */
export const call = async <Name extends Used>(name: Name, asked: Asked<Name>): Promise<Answer<Name>> =>
  (await callTagged(name, asked)).answer

/** An answer, and the tag by which a write says what its person has seen; empty: it has none. */
export interface Tagged<Name extends Used> {
  readonly answer: Answer<Name>
  readonly tag: string
}

/** Performs an operation as `call` does, and returns the tag too. */
export async function callTagged<Name extends Used>(name: Name, asked: Asked<Name>): Promise<Tagged<Name>> {
  const parts: Parts = asked as Parts
  const answer = await send(name, parts)
  const text = await answer.text()
  const body: unknown = text === '' ? {} : readJson(text)
  if (!answer.ok) throw new ApiFailure(answer.status, errorIn(body), answer.headers.get('x-request-id'))
  return { answer: body as Answer<Name>, tag: answer.headers.get('etag') ?? '' }
}

/** Sends a request and returns its answer, whatever the status. Throws ApiFailure if none comes. */
function send(name: string, { path = {}, query = {}, body, workspace, signal, once, ifMatch }: Parts): Promise<Response> {
  const [method = 'GET', template = ''] = name.split(' ')
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(String(path[field])))
  const headers = headersOf({
    'content-type': body === undefined ? undefined : 'application/json',
    'x-service-workspace': workspace,
    'x-csrf-token': method === 'GET' ? undefined : csrfToken,
    'idempotency-key': once,
    'if-match': ifMatch === '' ? undefined : ifMatch,
  })
  const url = `${rootPath}${filled.startsWith('/auth/') ? '' : '/v1'}${filled}${searchOf(query)}`
  return sendTo(url, { method, headers, body: body === undefined ? null : JSON.stringify(body), signal: signal ?? null })
}

const headersOf = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

function searchOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([field, value]) => [field, String(value)])).toString()
  return search === '' ? '' : `?${search}`
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

const errorIn = (body: unknown): ErrorBody =>
  typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'object' && body.error !== null ? body.error : {}

/** The state of a process. */
export interface Readiness {
  readonly status: string
  readonly version: string
  readonly level: string | null
  readonly finalized_level: string | null
  readonly checks: Readonly<Record<string, { readonly status: 'pass' | 'warn' | 'fail'; readonly detail?: string }>>
}

/** Reads the state of the process, which answers without its database too. */
export async function readReadiness(): Promise<Readiness> {
  const answer = await sendTo(`${rootPath}/readyz`, { method: 'GET' })
  return (await answer.json()) as Readiness
}

/** Sends a request. Throws ApiFailure if no answer comes. */
async function sendTo(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch (error) {
    if (request.signal?.aborted) throw error
    throw new ApiFailure(0, { message: 'No connection to Gatehouse.' }, null)
  }
}
