import { ByteList } from '../../../lib/collections/byte-list.ts'

/** One server-sent event. */
export interface McpEvent {
  /** Null: it has none. */
  readonly name: string | null
  /** Null: the event has no id of its own. */
  readonly id: string | null
  readonly data: string
  /** The wait before the stream is asked for again; null: it names none. */
  readonly retryMs: number | null
}

/** A longer id, or name, is none that a stream could be asked for by. */
const longestId = 1024

/** The room of a line beside its characters: an event of empty lines is bounded by their number. */
const lineRoom = 16

const [newline, carriageReturn] = [0x0a, 0x0d]

/**
 * Reads server-sent events with their ids, from bytes that are cut anywhere. A class, because it keeps the part of an event that has come. An
 * event without data is given too if it has an id or a time, since streams begin with such.
 */
export class McpEventReader {
  readonly #held = new ByteList()
  readonly #most: number
  #name: string | null = null
  #id: string | null = null
  #retryMs: number | null = null
  #data: string[] = []
  #size = 0
  /** True when a CR was the last byte, of whose line a LF is the other half. */
  #skipsFeed = false

  /** `most`: the bytes of one event. */
  constructor(most: number) {
    this.#most = most
  }

  /** Returns the events that are whole now; null: one of them is too long. */
  push(bytes: Buffer): readonly McpEvent[] | null {
    const chunk = this.#skipsFeed && bytes[0] === newline ? bytes.subarray(1) : bytes
    if (bytes.length > 0) this.#skipsFeed = bytes.at(-1) === carriageReturn
    const end = Math.max(chunk.lastIndexOf(newline), chunk.lastIndexOf(carriageReturn)) + 1
    const events: McpEvent[] = []
    if (end > 0) {
      this.#held.push(chunk.subarray(0, end))
      const text = this.#held.join().toString('utf8')
      this.#held.clear()
      for (const line of text.split(/\r\n|\n|\r/).slice(0, -1)) this.#line(line, events)
    }
    if (end < chunk.length) this.#held.push(chunk.subarray(end))
    return this.#size + this.#held.size > this.#most ? null : events
  }

  #line(line: string, events: McpEvent[]): void {
    if (line === '') {
      this.#close(events)
      return
    }
    const at = line.indexOf(':')
    const field = at === -1 ? line : line.slice(0, at)
    const value = at === -1 ? '' : line.slice(line[at + 1] === ' ' ? at + 2 : at + 1)
    if (field === 'data') {
      this.#data.push(value)
      this.#size += value.length + lineRoom
    } else if (field === 'event') this.#name = value.slice(0, longestId)
    else if (field === 'id' && value.length <= longestId && !value.includes('\0')) this.#id = value
    else if (field === 'retry' && /^\d{1,8}$/.test(value)) this.#retryMs = Number(value)
  }

  #close(events: McpEvent[]): void {
    if (this.#data.length > 0 || this.#id !== null || this.#retryMs !== null)
      events.push({ name: this.#name, id: this.#id, data: this.#data.join('\n'), retryMs: this.#retryMs })
    this.#name = null
    this.#id = null
    this.#retryMs = null
    this.#data = []
    this.#size = 0
  }
}

/** Writes a message as an event. JSON has no line ends. */
export const eventText = (data: string, name = 'message'): string => `event: ${name}\ndata: ${data}\n\n`

/** A sign of life, which no client takes for a message. */
export const signOfLife = ': ping\n\n'
