/** So many pieces are joined into one: a peer that sends byte by byte must not cost us an object for each. */
const loosePieces = 1024

/** Replaced before anything is added. */
const none: Buffer[] = []

/** Bytes that come in pieces. Holds references; copies only when they are many or are asked for. */
export class ByteList {
  #pieces: Buffer[] = none
  #loose = 0
  size = 0

  push(piece: Buffer): void {
    // A list that grows takes room for seventeen, and most bytes come in one piece.
    if (this.#pieces.length === 0) this.#pieces = [piece]
    else this.#pieces.push(piece)
    this.size += piece.length
    this.#loose += 1
    if (this.#loose < loosePieces) return
    this.#pieces.push(Buffer.concat(this.#pieces.splice(-this.#loose)))
    this.#loose = 0
  }

  /** All bytes as one; the same buffer again as long as no bytes are added. */
  join(): Buffer {
    const [only] = this.#pieces
    if (this.#pieces.length === 1 && only !== undefined) return only
    const joined = Buffer.concat(this.#pieces, this.size)
    this.#pieces = [joined]
    this.#loose = 0
    return joined
  }

  clear(): void {
    this.#pieces = none
    this.#loose = 0
    this.size = 0
  }
}
