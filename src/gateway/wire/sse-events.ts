import { ByteList } from '../../lib/collections/byte-list.ts'

/** One server-sent event. */
export interface SseEvent {
  /** Null: it has no name. */
  readonly name: string | null
  /** Null: a comment, which is a sign of life. */
  readonly data: string | null
}

/** A longer line or event than any real one. */
const longest = 32 * 1024 * 1024
/** The cost of a line beside its letters. */
const lineCost = 16
const [newline, carriageReturn] = [0x0a, 0x0d]
const none: readonly SseEvent[] = []

/**
 * Reads server-sent events from bytes that are cut anywhere, also within a letter. Lines end with LF, CRLF or CR. Looks at each byte once, for pieces
 * of any size in a long line. A class, because it keeps the received part of an event.
 */
export class SseReader {
  readonly #held = new ByteList()
  #name: string | null = null
  #data: string[] = []
  #dataLength = 0
  #isFirst = true
  /** True when a CR was the last byte, of whose line a LF is the other half. */
  #skipsFeed = false

  /** Returns the events that are whole now. Null: one of them is too long. */
  push(chunk: Buffer): readonly SseEvent[] | null {
    if (chunk.length === 0) return none
    const from = this.#skipsFeed && chunk[0] === newline ? 1 : 0
    this.#skipsFeed = false
    const end = Math.max(chunk.lastIndexOf(newline), chunk.lastIndexOf(carriageReturn)) + 1
    if (end <= from) {
      this.#hold(chunk, from)
      return this.#isTooLong() ? null : none
    }
    const events: SseEvent[] = []
    this.#lines(this.#whole(chunk.subarray(from, end)), events)
    this.#hold(chunk, end)
    this.#skipsFeed = chunk[end - 1] === carriageReturn && end === chunk.length
    return this.#isTooLong() ? null : events
  }

  /** Returns the event that the end of the bytes ends. */
  end(): readonly SseEvent[] {
    const events: SseEvent[] = []
    if (this.#held.size > 0) this.#lines(`${this.#held.join().toString('utf8')}\n`, events)
    this.#held.clear()
    this.#close(events)
    return events
  }

  #hold(chunk: Buffer, from: number): void {
    if (from < chunk.length) this.#held.push(from === 0 ? chunk : chunk.subarray(from))
  }

  #isTooLong(): boolean {
    return this.#held.size + this.#dataLength > longest
  }

  /** Returns whole lines as a text, the held beginning of the first in front. */
  #whole(lines: Buffer): string {
    if (this.#held.size === 0) return lines.toString('utf8')
    this.#held.push(lines)
    const text = this.#held.join().toString('utf8')
    this.#held.clear()
    return text
  }

  #lines(text: string, events: SseEvent[]): void {
    let from = 0
    // Looked for once where there is none: a look from each line would read the rest of the text each time.
    let [feed, carriage] = [text.indexOf('\n'), text.indexOf('\r')]
    while (from < text.length) {
      if (feed !== -1 && feed < from) feed = text.indexOf('\n', from)
      if (carriage !== -1 && carriage < from) carriage = text.indexOf('\r', from)
      const at = carriage === -1 || (feed !== -1 && feed < carriage) ? feed : carriage
      this.#line(text.slice(from, at), events)
      from = text.startsWith('\r\n', at) ? at + 2 : at + 1
    }
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
    this.#data.push(data)
    this.#dataLength += data.length + lineCost
  }

  #close(events: SseEvent[]): void {
    const [first] = this.#data
    if (first !== undefined) events.push({ name: this.#name, data: this.#data.length === 1 ? first : this.#data.join('\n') })
    this.#name = null
    if (first === undefined) return
    this.#data = []
    this.#dataLength = 0
  }
}

/** Writes one event, or a comment. */
export function sseText({ name, data }: SseEvent): string {
  if (data === null) return ': ping\n\n'
  return name === null ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`
}
