import type { OddStream } from './odd-streams.ts'

/**
 * How the emulator departs from a normal answer. Every field may be combined with every other; none: a normal answer.
 * Durations are milliseconds, positions are bytes of the body as it goes on the wire (after `encoding`).
 */
export interface Behaviour {
  /** Waits before anything is sent. */
  readonly delayMs?: number
  /** Never goes on: before the headers, after the headers, or after `hangAt` bytes of the body. */
  readonly hang?: 'before-headers' | 'after-headers' | 'mid-body'
  readonly hangAt?: number
  readonly status?: number
  readonly statusMessage?: string
  /** Added to, or in place of, the answer's own headers. An array repeats the header. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** The body in place of the answer's own. */
  readonly body?: string
  readonly bodyBase64?: string
  /** A named body in place of the answer's own. */
  readonly answer?: 'echo' | 'html' | 'invalid-utf8' | 'empty' | 'truncated-json' | 'deep-json'
  /** A body of so many bytes that is made as it is sent. */
  readonly size?: number
  /** A body that never ends, sent as fast as the reader takes it. */
  readonly endless?: boolean
  /** An odd server-sent event stream in place of the answer's own. */
  readonly stream?: OddStream
  /** How many content frames a stream has. */
  readonly frames?: number
  /** The pause between two frames; 0: one frame per turn of the event loop; absent: all at once. */
  readonly frameEveryMs?: number
  /** Compresses the body; `lie` declares gzip and sends the plain bytes. */
  readonly encoding?: 'gzip' | 'br' | 'deflate' | 'lie'
  /** Sends the body in pieces of so many bytes. */
  readonly drip?: { readonly bytes: number; readonly everyMs: number }
  /** Breaks the connection after so many bytes of the body. */
  readonly cutAt?: number
  readonly cutWith?: 'fin' | 'reset'
  /** The difference of `content-length` from the true length. */
  readonly lengthError?: number
  /** Sends `transfer-encoding: chunked` although the length is known. */
  readonly chunked?: boolean
  /** Statuses of 1xx answers sent first, e.g. `[103]`. */
  readonly informational?: readonly number[]
  readonly trailers?: Readonly<Record<string, string>>
  /** Adds headers of so many bytes altogether. */
  readonly hugeHeaders?: number
  /** Bytes (latin1) written to the socket in place of any answer; the connection ends after them. */
  readonly raw?: string
  /** Closes the connection after the answer. */
  readonly close?: boolean
}

/** Behaviours that tests ask for by name: `x-emulate: rate-limited`, `?emulate=html`, `model: "emulate:frames-64"`. */
export const presets = {
  normal: {},
  hang: { hang: 'before-headers' },
  'hang-after-headers': { hang: 'after-headers' },
  'hang-mid-body': { hang: 'mid-body', hangAt: 10 },
  drip: { drip: { bytes: 16, everyMs: 5 } },
  cut: { cutAt: 20 },
  reset: { cutAt: 20, cutWith: 'reset' },
  'cut-before-headers': { raw: '' },
  'long-length': { lengthError: 100 },
  'short-length': { lengthError: -10 },
  gzip: { encoding: 'gzip' },
  br: { encoding: 'br' },
  'bad-gzip': { encoding: 'lie' },
  'rate-limited': { status: 429, headers: { 'retry-after': '1' } },
  'rate-limited-ms': { status: 429, headers: { 'retry-after': '1', 'retry-after-ms': '50' } },
  unauthorized: { status: 401 },
  'server-error': { status: 500 },
  unavailable: { status: 503, headers: { 'retry-after': '1' } },
  html: { answer: 'html' },
  'invalid-utf8': { answer: 'invalid-utf8' },
  empty: { answer: 'empty' },
  redirect: { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data/' }, answer: 'empty' },
  'no-content': { status: 204, answer: 'empty' },
  'early-hints': { informational: [103] },
  trailers: { trailers: { 'x-checksum': 'abc123' } },
  'huge-headers': { hugeHeaders: 2_000_000 },
  endless: { endless: true },
  'frames-64': { frames: 64, frameEveryMs: 0 },
  'frames-slow': { frames: 600, frameEveryMs: 1000 },
  garbage: { raw: 'this is not HTTP\r\n\r\n' },
} as const satisfies Record<string, Behaviour>

const isPreset = (name: string): name is keyof typeof presets => Object.hasOwn(presets, name)

/** Reads a behaviour from a preset's name or from JSON. Throws when it is neither, so that a typing error fails a test. */
export function parseBehaviour(text: string): Behaviour {
  if (isPreset(text)) return presets[text]
  if (text.startsWith('{')) return JSON.parse(text) as Behaviour
  return { stream: text as OddStream }
}
