const smallest = 1024 * 1024
const largestKept = 8 * 1024 * 1024

/** A buffer that grows and is used again, for values in PostgreSQL's binary format (big-endian). */
export interface ByteWriter {
  readonly length: number
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
  /** A view, valid until `reset`. */
  slice(start: number, end: number): Buffer
}

/** A writer that keeps its memory between batches, but no more of it than 8 MiB. */
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
    get length() {
      return at
    },
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
    slice: (start, end) => buffer.subarray(start, end),
  }
}
