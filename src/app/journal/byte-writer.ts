const smallest = 16 * 1024
const largestKept = 4 * 1024 * 1024

/** A buffer that grows and is used again, for values in PostgreSQL's binary format (big-endian). */
export interface ByteWriter {
  reset(): void
  int32(value: number): void
  float32(value: number): void
  /** A safe integer. */
  int64(value: number): void
  /** UTF-8, preceded by its length and by `prefix`, a byte that counts. */
  text(value: string, prefix?: number): void
  bytes(value: Uint8Array): void
  byte(value: number): void
  /** Overwrites the 32-bit integer at `position`. */
  int32At(value: number, position: number): void
  /** The 16 bytes of a UUID, preceded by their length. Throws when it is none. */
  uuid(value: string): void
  /** All that was written; a view, valid until `reset`. */
  written(): Buffer
}

/** A writer that keeps its memory between batches, but no more of it than 4 MiB. */
export function createByteWriter(): ByteWriter {
  let buffer = Buffer.allocUnsafeSlow(smallest)
  let at = 0
  const room = (bytes: number) => {
    if (at + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at + bytes))
    buffer.copy(larger, 0, 0, at)
    buffer = larger
  }
  return {
    reset() {
      at = 0
      if (buffer.length > largestKept) buffer = Buffer.allocUnsafeSlow(smallest)
    },
    int32(value) {
      room(4)
      at = buffer.writeInt32BE(value, at)
    },
    float32(value) {
      room(4)
      at = buffer.writeFloatBE(value, at)
    },
    int64(value) {
      room(8)
      at = buffer.writeInt32BE(Math.floor(value / 0x1_0000_0000), at)
      at = buffer.writeUInt32BE(value - Math.floor(value / 0x1_0000_0000) * 0x1_0000_0000, at)
    },
    text(value, prefix) {
      // UTF-8 needs at most three bytes for one UTF-16 unit.
      room(5 + value.length * 3)
      const start = at
      at += 4
      if (prefix !== undefined) at = buffer.writeUInt8(prefix, at)
      at += buffer.write(value, at, 'utf8')
      buffer.writeInt32BE(at - start - 4, start)
    },
    bytes(value) {
      room(value.length)
      buffer.set(value, at)
      at += value.length
    },
    byte(value) {
      room(1)
      at = buffer.writeUInt8(value, at)
    },
    int32At(value, position) {
      buffer.writeInt32BE(value, position)
    },
    uuid(value) {
      room(20)
      if (value.length !== uuidLength) throw new Error('not a UUID')
      at = buffer.writeInt32BE(16, at)
      for (const position of uuidPositions) {
        const byte = nibble(value.charCodeAt(position)) * 16 + nibble(value.charCodeAt(position + 1))
        if (byte < 0) throw new Error('not a UUID')
        buffer[at++] = byte
      }
    },
    written: () => buffer.subarray(0, at),
  }
}

const uuidLength = 36
/** The positions of the pairs of digits in a UUID's text. */
const uuidPositions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const notHex = -1000

function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : notHex
}
