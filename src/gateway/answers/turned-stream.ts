import { cutShort } from './cut-short.ts'
import type { TaskStream } from '../dialects/tasks/task.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { type HeaderList, headersWithout } from '../wire/header-list.ts'
import { type SseEvent, SseReader } from '../wire/sse-events.ts'
import { headersFor } from './inspect/answer-head.ts'

/** Turns the events of one stream into those of the caller. A class, because it keeps the received part of an event. */
export class TurnedStream {
  readonly #stream: TaskStream
  readonly #inner: EgressHandler
  readonly #reader = new SseReader()

  constructor(stream: TaskStream, inner: EgressHandler) {
    this.#stream = stream
    this.#inner = inner
  }

  /** Throws `upstream_bad_response`. */
  push(chunk: Buffer): void {
    const events = this.#reader.push(chunk)
    if (events === null) throw cutShort('The provider sent an event that is too long.')
    this.#write(events, '')
  }

  /** Writes the end. Throws `upstream_bad_response` for a stream that was cut. */
  end(): void {
    const events = this.#reader.end()
    const before = events.map((event) => this.#turn(event)).join('')
    const end = this.#stream.end()
    if (end === null) throw cutShort('The provider broke its stream off before it was complete.')
    this.#write([], before + end)
  }

  #write(events: readonly SseEvent[], more: string): void {
    const text = events.map((event) => this.#turn(event)).join('') + more
    if (text !== '') this.#inner.onData(Buffer.from(text))
  }

  #turn({ data }: SseEvent): string {
    return data === null ? ': ping\n\n' : this.#stream.take(data)
  }
}

/** Returns the headers of a provider's stream for the caller's. */
export const eventHeaders = (rawHeaders: HeaderList): readonly string[] => [
  ...headersWithout(headersFor(rawHeaders, null), (name) => name === 'content-type'),
  'content-type',
  'text/event-stream; charset=utf-8',
]
