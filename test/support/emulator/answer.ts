import { randomUUID } from 'node:crypto'

/** A normal answer, before any behaviour is applied. One piece is one write: of a stream, one frame. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly pieces: readonly Buffer[]
  readonly stream: boolean
}

/** A route's view of a request: its JSON (null when it is none), its bytes, and the match of the route's pattern. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: Buffer
  readonly json: Readonly<Record<string, unknown>>
  readonly match: readonly string[]
  readonly frames: number
}

const jsonHeaders = { 'content-type': 'application/json' } as const
const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } as const

/** An answer of one JSON value. */
export const jsonAnswer = (value: unknown, status = 200): Answer =>
  bytesAnswer(Buffer.from(JSON.stringify(value)), 'application/json', status)

/** An answer of bytes that are there already. */
export const bytesAnswer = (bytes: Buffer, type: string, status = 200): Answer => ({
  status,
  headers: type === 'application/json' ? jsonHeaders : { 'content-type': type },
  pieces: [bytes],
  stream: false,
})

/** A server-sent event stream; one piece a frame, blank line included. */
export const streamAnswer = (pieces: readonly Buffer[]): Answer => ({ status: 200, headers: streamHeaders, pieces, stream: true })

/** One frame: `data: ...`, with a name when one is given. */
export const frame = (value: unknown, name?: string): Buffer => {
  const data = typeof value === 'string' ? value : JSON.stringify(value)
  return Buffer.from(name === undefined ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`)
}

/** An identifier in the provider's manner, e.g. `file-9f0c...`. */
export const newId = (prefix: string): string => `${prefix}${randomUUID().replaceAll('-', '').slice(0, 24)}`

/** The error body of the OpenAI surface. */
export const openaiError = (status: number, message: string, type = 'invalid_request_error'): Answer =>
  jsonAnswer({ error: { message, type, param: null, code: null } }, status)

/** The error body of the Anthropic surface. */
export const anthropicError = (status: number, message: string, type = 'invalid_request_error'): Answer =>
  jsonAnswer({ type: 'error', error: { type, message }, request_id: newId('req_') }, status)

/** The text of every normal answer. */
export const words = ['Hello', ' from', ' the', ' emulator', '.'] as const
export const sentence = words.join('')

/** So many content deltas: the sentence's own words, or as many as were asked for. */
export const deltas = (frames: number): readonly string[] =>
  frames === 0 ? words : Array.from({ length: frames }, (_, index) => `w${index} `)

/** Makes each value once: answers that depend only on a short text, such as the model's name. */
export function remembered<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make(key)
    if (known.size < 1000) known.set(key, made)
    return made
  }
}
