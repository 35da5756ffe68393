import { StringDecoder } from 'node:string_decoder'

/** One server-sent event. */
export interface SseEvent {
  /** Null: it has no name. */
  readonly name: string | null
  /** Null: a comment, which is a sign of life. */
  readonly data: string | null
}

/** A line or an event that is longer than this is no event that anybody sends. */
const longest = 32 * 1024 * 1024

/**
 * Reads server-sent events from bytes that are cut anywhere, also within a letter. Lines end with LF, CRLF or CR. A class, because it
 * keeps what has come of an event.
 */
export class SseReader {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''
  #name: string | null = null
  #data: string | null = null
  #isFirst = true

  /** Returns the events that are whole now. Null: one of them is too long. */
  push(chunk: Buffer): readonly SseEvent[] | null {
    const events: SseEvent[] = []
    this.#lines(this.#rest + this.#decoder.write(chunk), events)
    return this.#rest.length + (this.#data?.length ?? 0) > longest ? null : events
  }

  /** Returns the event that the end of the bytes ends. */
  end(): readonly SseEvent[] {
    const events: SseEvent[] = []
    this.#lines(`${this.#rest}${this.#decoder.end()}\n\n`, events)
    return events
  }

  #lines(text: string, events: SseEvent[]): void {
    let from = 0
    // Looked for once where there is none: a look from each line would read the rest of the text each time.
    let carriage = text.indexOf('\r')
    for (;;) {
      if (carriage !== -1 && carriage < from) carriage = text.indexOf('\r', from)
      const at = lineEnd(text, from, carriage)
      if (at === -1) break
      this.#line(text.slice(from, at), events)
      from = text.startsWith('\r\n', at) ? at + 2 : at + 1
    }
    this.#rest = text.slice(from)
  }

  #line(line: string, events: SseEvent[]): void {
    const plain = this.#isFirst ? line.replace(/^\ufeff/, '') : line
    this.#isFirst = false
    if (plain === '') this.#close(events)
    else if (plain.startsWith(':')) events.push({ name: null, data: null })
    else if (plain.startsWith('data:')) this.#add(plain.slice(plain[5] === ' ' ? 6 : 5))
    else if (plain.startsWith('event:')) this.#name = plain.slice(6).trim()
  }

  #add(data: string): void {
    this.#data = this.#data === null ? data : `${this.#data}\n${data}`
  }

  #close(events: SseEvent[]): void {
    if (this.#data !== null) events.push({ name: this.#name, data: this.#data })
    this.#name = null
    this.#data = null
  }
}

/** Returns where the next line ends; -1: nowhere yet. A CR at the very end may be the half of a CRLF. */
function lineEnd(text: string, from: number, carriage: number): number {
  const feed = text.indexOf('\n', from)
  const end = feed === -1 ? text.length : feed
  if (carriage === -1 || carriage > end) return feed
  return carriage === text.length - 1 ? -1 : carriage
}

/** Writes one event, or a comment. */
export function sseText({ name, data }: SseEvent): string {
  if (data === null) return ': ping\n\n'
  return name === null ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`
}
