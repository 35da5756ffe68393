import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Bytes in pieces: from a file, a part of an archive or a compressor. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** The length of bytes and their SHA-256, hex. */
export interface Fingerprint {
  readonly sha256: string
  readonly size: number
}

/** Reads all of it, and reports the size of each piece to `onBytes`. */
export async function fingerprint(chunks: Chunks, onBytes: (count: number) => void = () => {}): Promise<Fingerprint> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    size += chunk.length
    onBytes(chunk.length)
  }
  return { sha256: hash.digest('hex'), size }
}

/** The content of a file, in pieces. */
export const readFileChunks = (file: string): AsyncIterable<Uint8Array> => createReadStream(file, { highWaterMark: 1024 * 1024 })

/** Writes pieces to a file as they come, and gives their fingerprint. */
export async function writeFileChunks(file: string, chunks: Chunks): Promise<Fingerprint> {
  const hash = createHash('sha256')
  let size = 0
  async function* counted() {
    for await (const chunk of chunks) {
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  await pipeline(Readable.from(counted(), { objectMode: false, highWaterMark: 1024 * 1024 }), createWriteStream(file))
  return { sha256: hash.digest('hex'), size }
}

/** All pieces as one text, at most `most` bytes of it; throws RangeError beyond. */
export async function readText(chunks: Chunks, most: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > most) throw new RangeError(`more than ${most} bytes`)
    pieces.push(chunk)
  }
  return Buffer.concat(pieces).toString('utf8')
}
