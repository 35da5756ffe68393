import { ByteList } from '../../lib/collections/byte-list.ts'

/** One line of a stream, in the form of an event without a name. */
export interface LineEvent {
  readonly name: null
  readonly data: string
}

/** A longer line than any real one. */
const longest = 32 * 1024 * 1024

const newline = 0x0a
const none: readonly LineEvent[] = []

/**
 * Reads a stream of one JSON to a line from bytes that are cut anywhere, also within a letter. Looks at each byte once. A class, because it keeps the
 * received part of a line.
 */
export class LineReader {
  readonly #held = new ByteList()

  /** Returns the lines that are whole now. Null: one of them is too long. */
  push(chunk: Buffer): readonly LineEvent[] | null {
    const end = chunk.lastIndexOf(newline) + 1
    this.#held.push(end === 0 ? chunk : chunk.subarray(0, end))
    if (end === 0) return this.#held.size > longest ? null : none
    const lines = this.#take()
    if (end < chunk.length) this.#held.push(chunk.subarray(end))
    return lines
  }

  /** Returns the line that the end of the bytes ends. */
  end(): readonly LineEvent[] {
    return this.#take()
  }

  #take(): readonly LineEvent[] {
    const text = this.#held.join().toString('utf8')
    this.#held.clear()
    return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [{ name: null, data: line }]))
  }
}
