import type { EgressHandler } from '../egress/egress.ts'
import { headerValue } from '../wire/header-list.ts'
import { cutFrames, dataOf, FrameCutter, nameOf } from '../wire/sse.ts'
import { headersFor } from './inspect/answer-head.ts'

/** Returns true for an event that the vendor's own API has too. */
export type KeepsEvent = (frame: Buffer) => boolean

/**
 * Passes a stream on without the events that only its host adds: clients of the vendor support none of them, and some break on them. A class, because
 * it is one handler object per answer.
 */
export class HostEvents implements EgressHandler {
  readonly #inner: EgressHandler
  readonly #keeps: KeepsEvent
  #cutter: FrameCutter | null = null

  constructor(inner: EgressHandler, keeps: KeepsEvent) {
    this.#inner = inner
    this.#keeps = keeps
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    this.#inner.onInformation?.(status, rawHeaders)
  }

  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    const isStream = headerValue(rawHeaders, 'content-type')?.toLowerCase().startsWith('text/event-stream') === true
    if (!isStream || headerValue(rawHeaders, 'content-encoding') !== undefined)
      return this.#inner.onHeaders(status, rawHeaders, statusMessage)
    this.#cutter = new FrameCutter()
    const isBound = headerValue(rawHeaders, 'content-length') !== undefined
    this.#inner.onHeaders(status, isBound ? headersFor(rawHeaders, null) : rawHeaders, statusMessage)
  }

  onData(chunk: Buffer): void {
    if (this.#cutter === null) return this.#inner.onData(chunk)
    const frames = this.#cutter.push(chunk)
    if (frames !== null) this.#pass(frames)
  }

  onEnd(rawTrailers: readonly string[]): void {
    const rest = this.#cutter?.rest() ?? null
    if (rest !== null) this.#pass(rest)
    this.#inner.onEnd(rawTrailers)
  }

  onError(error: Error): void {
    this.#inner.onError(error)
  }

  /** Bytes go on as they came unless an event among them falls away. */
  #pass(bytes: Buffer): void {
    const frames = cutFrames(bytes)
    const kept = frames.filter(this.#keeps)
    if (kept.length === frames.length) return this.#inner.onData(bytes)
    if (kept.length > 0) this.#inner.onData(Buffer.concat(kept))
  }
}

const ofMessages = /^(?:message_|content_block_|ping$|error$)/

/** Anthropic's events, present and future. Vertex AI adds `vertex_event`. */
export const isEventOfAnthropic: KeepsEvent = (frame) => {
  const name = nameOf(frame)
  return name === null || ofMessages.test(name)
}

const noChoice = /"choices":\s*\[\]/
const counts = /"usage":\s*\{/

/** A chunk of OpenAI's without a choice holds the usage; those of Azure's filters, at the begin, hold no field that OpenAI's clients read. */
export const isChunkOfOpenai: KeepsEvent = (frame) => {
  if (!frame.includes('prompt_filter_results')) return true
  const data = dataOf(frame)
  return !noChoice.test(data) || counts.test(data)
}
