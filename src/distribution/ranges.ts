import { open, type FileHandle } from 'node:fs/promises'

/** A file, or a file in parts, as one run of bytes that is read anywhere. */
export interface Ranges {
  readonly size: number
  /** The bytes from `offset` on; fewer than `length` only at the end. */
  read(offset: number, length: number): Promise<Buffer>
  /** The same, in pieces; throws when they end too soon. */
  stream(offset: number, length: number): AsyncGenerator<Buffer>
  close(): Promise<void>
}

const pieceBytes = 1024 * 1024

interface Part {
  readonly handle: FileHandle
  readonly start: number
  readonly size: number
}

/** Opens the parts, in order. */
export async function openRanges(files: readonly string[]): Promise<Ranges> {
  const parts: Part[] = []
  const size = () => parts.reduce((total, part) => total + part.size, 0)
  const close = async () => void (await Promise.all(parts.map(({ handle }) => handle.close())))
  try {
    for (const file of files) {
      const handle = await open(file)
      parts.push({ handle, start: size(), size: (await handle.stat()).size })
    }
  } catch (error) {
    await close()
    throw error
  }

  /** At most the bytes of one part. */
  async function some(offset: number, length: number): Promise<Buffer> {
    const part = parts.find(({ start, size: bytes }) => offset >= start && offset < start + bytes)
    if (part === undefined) return Buffer.alloc(0)
    const buffer = Buffer.allocUnsafeSlow(Math.min(length, part.start + part.size - offset))
    const { bytesRead } = await part.handle.read(buffer, 0, buffer.length, offset - part.start)
    return buffer.subarray(0, bytesRead)
  }

  async function* stream(offset: number, length: number): AsyncGenerator<Buffer> {
    for (let at = offset; at < offset + length;) {
      const piece = await some(at, Math.min(pieceBytes, offset + length - at))
      if (piece.length === 0) throw new Error(`the file ends at byte ${at}`)
      at += piece.length
      yield piece
    }
  }

  return {
    size: size(),
    async read(offset, length) {
      const pieces: Buffer[] = []
      const end = Math.min(offset + length, size())
      for await (const piece of stream(offset, Math.max(0, end - offset))) pieces.push(piece)
      return Buffer.concat(pieces)
    },
    stream,
    close,
  }
}
