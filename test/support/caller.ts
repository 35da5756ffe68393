import { send, sendJson, type RawAnswer } from './http.ts'
import { adminKey, workspaceKey } from './process.ts'
import { headerOf } from './routes.ts'

type Headers = Readonly<Record<string, string>>
type Fields = Readonly<Record<string, unknown>>

/** Requests to one running Gatehouse; paths are below `/v1`. */
export interface Caller {
  /** A pass-through GET with the workspace key and a provider key of the caller's own. */
  readonly call: (headers: Headers, path?: string) => Promise<RawAnswer>
  /** A chat completion with the same. */
  readonly chat: (headers: Headers, body?: Fields) => Promise<RawAnswer>
  /** The control plane, as the organisation's admin unless another key is given. */
  readonly manage: (path: string, body?: unknown, options?: { readonly method?: string; readonly key?: string }) => Promise<RawAnswer>
}

/** Calls the process that listens there. */
export function createCaller(origin: () => string): Caller {
  const own = { 'x-service-api-key': workspaceKey, authorization: 'Bearer sk-own' }
  return {
    call: (headers, path = '/probe') => send(`${origin()}/v1${path}`, { headers: { ...own, ...headers } }),
    chat: (headers, body = { model: 'm', messages: [] }) => sendJson(`${origin()}/v1/chat/completions`, { ...own, ...headers }, body),
    manage: (path, body, { method = body === undefined ? 'GET' : 'POST', key = adminKey } = {}) =>
      send(`${origin()}/v1${path}`, {
        method,
        headers: { 'x-service-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  }
}

/** An error of ours. */
export interface Refusal {
  readonly code: string
  readonly param: string | null
  readonly message: string
  readonly request_id: string
}

/** The error in an answer; throws when there is none. */
export const errorOf = ({ text }: Pick<RawAnswer, 'text'>): Refusal => (JSON.parse(text) as { error: Refusal }).error

/** UTF-8 bytes, as clients put them into headers. */
export const headerText = (text: string): string => Buffer.from(text).toString('latin1')

/** A provider of the catalogue with the caller's own fields, as headers. */
export const providerHeaders = (id: string, fields: Fields): Record<string, string> => ({
  'x-service-provider': id,
  ...Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[headerOf(name), headerText(value)]] : [])),
  ),
})
