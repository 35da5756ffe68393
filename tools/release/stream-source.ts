import type { ByteSource } from '../../src/distribution/tar/scan.ts'

/** A source over a stream. */
export function streamSource(chunks: AsyncIterable<Uint8Array>): ByteSource {
  const iterator = chunks[Symbol.asyncIterator]()
  let held: Uint8Array = Buffer.alloc(0)
  let position = 0

  /** Up to `most` of the next bytes, in one piece; null at the end. */
  async function some(most: number): Promise<Uint8Array | null> {
    while (held.length === 0) {
      const { done, value } = await iterator.next()
      if (done === true) return null
      held = value
    }
    const piece = held.subarray(0, most)
    held = held.subarray(piece.length)
    position += piece.length
    return piece
  }

  return {
    get position() {
      return position
    },
    async read(length) {
      const pieces: Uint8Array[] = []
      for (let missing = length; missing > 0;) {
        const piece = await some(missing)
        if (piece === null) break
        pieces.push(piece)
        missing -= piece.length
      }
      return Buffer.concat(pieces)
    },
    async skip(length) {
      for (let left = length; left > 0;) {
        const piece = await some(left)
        if (piece === null) return
        left -= piece.length
      }
    },
  }
}
