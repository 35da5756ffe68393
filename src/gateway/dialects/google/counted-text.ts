interface Piece {
  text: string
  /** The characters and bytes before it. */
  readonly units: number
  readonly bytes: number
}

/** A piece has about so many characters. */
const pieceUnits = 256

const endsWithin = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd8_00 && last < 0xdc_00
}

/** A text that grows, and whose places are counted in bytes by some and in UTF-16 units by others. A class, because it keeps what it has counted. */
export class CountedText {
  readonly #pieces: Piece[] = []
  #units = 0
  #bytes = 0
  /** The first half of a character, whose second half comes with the next text. */
  #half = ''

  constructor(text = '') {
    this.add(text)
  }

  /** The characters so far. */
  get length(): number {
    return this.#units + this.#half.length
  }

  add(given: string): void {
    let text = this.#half + given
    this.#half = endsWithin(text) ? text.slice(-1) : ''
    if (this.#half !== '') text = text.slice(0, -1)
    for (let at = 0; at < text.length;) at += this.#addPiece(text, at)
  }

  /** Returns how many units so many bytes of the text are. */
  unitsAt(bytes: number): number {
    if (this.#bytes === this.#units) return bytes
    if (bytes >= this.#bytes) return this.length
    const piece = this.#pieceAt(bytes, 'bytes')
    return piece === undefined
      ? 0
      : piece.units +
          Buffer.from(piece.text)
            .subarray(0, bytes - piece.bytes)
            .toString('utf8').length
  }

  /** Returns how many bytes so many units of the text are. */
  bytesAt(units: number): number {
    if (units >= this.#units) return this.#bytes
    const piece = this.#pieceAt(units, 'units')
    return piece === undefined ? 0 : piece.bytes + Buffer.byteLength(piece.text.slice(0, units - piece.units))
  }

  /** Returns how many characters went into the last piece, or into a new one when it is full. */
  #addPiece(text: string, at: number): number {
    let piece = this.#pieces.at(-1)
    if (piece === undefined || piece.text.length >= pieceUnits) {
      piece = { text: '', units: this.#units, bytes: this.#bytes }
      this.#pieces.push(piece)
    }
    let part = text.slice(at, at + pieceUnits - piece.text.length)
    if (endsWithin(part)) part += text.charAt(at + part.length)
    piece.text += part
    this.#units += part.length
    this.#bytes += Buffer.byteLength(part)
    return part.length
  }

  /** Returns the last piece that begins no later than a place. */
  #pieceAt(place: number, name: 'units' | 'bytes'): Piece | undefined {
    let [low, high] = [0, this.#pieces.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#pieces[middle]?.[name] ?? 0) <= place) low = middle
      else high = middle - 1
    }
    return this.#pieces[low]
  }
}
