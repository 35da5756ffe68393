import type { JsonPlaces } from './json-places.ts'

const data = Buffer.from('data:')
const newline = 0x0a
const carriageReturn = 0x0d
/** A line that has no data. */
const other = -1

/** Feeds the data of server-sent events, whose bytes come in pieces, to a reader of JSON. A class, because it keeps its place in a line. */
export class SsePlaces {
  readonly #places: JsonPlaces
  /** How much of `data:` the line has begun with. */
  #matched = 0

  constructor(places: JsonPlaces) {
    this.#places = places
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) at = this.#matched === other || this.#matched === data.length ? this.#rest(chunk, at) : this.#match(chunk, at)
  }

  /** Goes on to the end of a line whose kind is known. */
  #rest(chunk: Buffer, at: number): number {
    const found = chunk.indexOf(newline, at)
    const end = found === -1 ? chunk.length : found
    if (this.#matched === data.length) this.#places.feed(chunk, at, end)
    if (found === -1) return end
    if (this.#matched === data.length) this.#places.endLine()
    this.#matched = 0
    return end + 1
  }

  #match(chunk: Buffer, at: number): number {
    const byte = chunk[at]
    if (byte === data[this.#matched]) this.#matched += 1
    else if (this.#matched === 0 && byte === newline) this.#places.reset()
    else if (this.#matched > 0 || byte !== carriageReturn) {
      this.#matched = other
      return at
    }
    return at + 1
  }
}
