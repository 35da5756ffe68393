import type { Readable } from 'node:stream'
import type { Caller } from '../callers/identify.ts'

/** The request of an exchange, as it came. */
export interface Inbound {
  readonly method: string
  /** Path and query, with the version in front: `/v1/chat/completions`. */
  readonly url: string
  /** Flat name, value … in the caller's spelling. */
  readonly headers: readonly string[]
  /** Returns the value of a header; the name in lower case. */
  header(name: string): string | undefined
  /** Emits `close` without an end when the caller leaves before it has sent all. */
  readonly body: Readable
  /** True when the whole body has come. */
  readonly complete: boolean
  /** Reads the rest of the body and throws it away, so that the caller gets to read its answer. For exchanges that are answered. */
  discardRest(): void
}

/** The answer that a caller waits for. Between `head` and `end` only one writer writes it. */
export interface Outbound {
  /** The status of the answer; 0: its head was not given yet. */
  readonly status: number
  /** True when the answer has ended, or the caller has left: no more can be written. */
  readonly closed: boolean
  /** True if the caller can read trailers. */
  readonly takesTrailers: boolean
  /** Gives the head, once. Throws when a header is not valid HTTP; the answer can then have another head. */
  head(status: number, statusText: string, headers: readonly string[]): void
  /** Sends the head before the first byte of the body. */
  flushHead(): void
  /** Sends the hint that the work goes on (102) where the caller can read it and keeps up. A hint may be lost. */
  hint(): void
  /** Returns false when the caller does not keep up: write on at the next drain. */
  write(bytes: Uint8Array): boolean
  /** Runs once, when the caller keeps up again. */
  onceDrained(listener: () => void): void
  /** Gives the trailers. Only before `end`. */
  trailers(pairs: readonly (readonly [name: string, value: string])[]): void
  end(bytes?: Uint8Array | string): void
  /** Breaks the answer off, so that no caller takes it for whole. */
  destroy(): void
  /** Runs once, when the answer has ended or the caller has left. */
  onceClosed(listener: () => void): void
  offClosed(listener: () => void): void
}

/** A request that may be made once more when a process dies, as the same one. */
export interface LineOfBatch {
  readonly requestId: string
  /** The API key that it acts for, as a request of that key's own. */
  readonly keyId: string
  /** When its log begins, in epoch milliseconds. */
  readonly loggedAt: number
  /** True if it was answered, logged and charged before, and its answer was lost with a process: it is neither logged nor charged again. */
  readonly isSettled: boolean
}

/** One request of a caller and the answer it waits for. Callers come over HTTP (`NodeExchange`), or from within the process (`Gateway.perform`). */
export interface Exchange extends Inbound, Outbound {
  /** UUID v7; also the id of the log row. */
  readonly requestId: string
  /** `performance.now()` when the request line arrived. */
  readonly startedAt: number
  readonly clientAddress: string
  /** The headers of every answer to it, flat, from any handler. */
  readonly edgeHeaders: readonly string[]
  /** The caller, when the process itself acts for one: neither config nor guardrails of the key count again. Null: find out. */
  readonly caller: Caller | null
  /** The line of a batch that it is; absent: it is none. */
  readonly line?: LineOfBatch | undefined
  /** The answer, when the process that makes the call has it already: the call is checked and logged, and goes nowhere. */
  readonly ownAnswer?: object | undefined
  /** True if it goes on as a WebSocket when its answer is 101. */
  readonly upgrades?: true
}
