import { ApiError } from '../../../lib/errors.ts'
import { jsonOrUndefined } from '../../../lib/json/json.ts'
import { bytesOf } from './openai-client.ts'
import { vectorIn } from './reading.ts'

/** How a vector is written: as numbers, or as their bytes in base64. */
export type VectorEncoding = 'float' | 'base64'

const beginning = /"embedding"\s*:\s*([["])/
/** A beginning may be cut in pieces; blanks within it are few. */
const longestBeginning = 64
/** Longer than any real vector. */
const longestVector = 4 * 1024 * 1024

/** Returns how the first vector of a text is written; null: it has none yet. */
export function encodingIn(text: string): VectorEncoding | null {
  const found = beginning.exec(text)
  return found === null ? null : found[1] === '[' ? 'float' : 'base64'
}

/** Writes the vectors of an answer in another encoding as they come, all else as it is. A class, because it keeps the received part of a vector. */
export class VectorTurner {
  readonly #wanted: VectorEncoding
  /** Pieces of a vector whose end has not come. */
  #pieces: string[] = []
  #size = 0
  #held = ''
  /** The end of the vector that is being read; null: none is. */
  #ending: ']' | '"' | null = null

  constructor(wanted: VectorEncoding) {
    this.#wanted = wanted
  }

  /** Throws `upstream_bad_response` for a vector without an end. */
  push(piece: string): string {
    if (this.#ending !== null && !piece.includes(this.#ending)) return this.#hold(piece)
    this.#held = this.#pieces.join('') + this.#held + piece
    this.#pieces = []
    this.#size = 0
    let written = ''
    for (let next = this.#next(); next !== null; next = this.#next()) written += next
    if (this.#ending === null) return written
    const rest = this.#held
    this.#held = ''
    return written + this.#hold(rest)
  }

  /** Returns the rest. */
  end(): string {
    return this.#pieces.join('') + this.#held
  }

  #hold(piece: string): string {
    this.#pieces.push(piece)
    this.#size += piece.length
    if (this.#size > longestVector)
      throw new ApiError('upstream_bad_response', `The provider sent a vector of more than ${longestVector} bytes.`)
    return ''
  }

  /** Returns the next piece that is known; null: more must come. */
  #next(): string | null {
    if (this.#ending === null) return this.#outside()
    const end = this.#held.indexOf(this.#ending, 1)
    if (end === -1) return null
    this.#ending = null
    return this.#turned(this.#take(end + 1))
  }

  #outside(): string | null {
    const found = beginning.exec(this.#held)
    if (found !== null) {
      this.#ending = found[1] === '[' ? ']' : '"'
      return this.#take(found.index + found[0].length - 1)
    }
    const known = this.#held.length - longestBeginning
    return known > 0 ? this.#take(known) : null
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return taken
  }

  /** Vectors of vectors stay as they are. */
  #turned(text: string): string {
    const json = jsonOrUndefined(text)
    const vector = vectorIn(json)
    if (vector === null || (typeof json === 'string') === (this.#wanted === 'base64')) return text
    return JSON.stringify(this.#wanted === 'base64' ? bytesOf(vector) : vector)
  }
}
