import { StringDecoder } from 'node:string_decoder'

/** One line of a stream, in the form of an event without a name. */
export interface LineEvent {
  readonly name: null
  readonly data: string
}

/** A line that is longer than this is none that anybody sends. */
const longest = 32 * 1024 * 1024

/** Reads a stream of one JSON to a line from bytes that are cut anywhere, also within a letter. A class, because it keeps what has come of a line. */
export class LineReader {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  /** Returns the lines that are whole now. Null: one of them is too long. */
  push(chunk: Buffer): readonly LineEvent[] | null {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n')
    this.#rest = lines.pop() ?? ''
    return this.#rest.length > longest ? null : eventsOf(lines)
  }

  /** Returns the line that the end of the bytes ends. */
  end(): readonly LineEvent[] {
    const last = this.#rest + this.#decoder.end()
    this.#rest = ''
    return eventsOf([last])
  }
}

const eventsOf = (lines: readonly string[]): readonly LineEvent[] =>
  lines.flatMap((line) => (line.trim() === '' ? [] : [{ name: null, data: line }]))
