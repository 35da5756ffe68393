import { ByteList } from '../../lib/collections/byte-list.ts'
import { decompress } from './encoding.ts'

/** How many bytes of an answer's end are held for reading its usage, beyond the log's part. */
const tailBytes = 32 * 1024

/**
 * The parts of an answer that are kept while it passes: its first bytes for the log, its last for the usage. The first bytes are references to
 * the chunks that pass anyway.
 */
export class Capture {
  readonly #limit: number
  readonly #head = new ByteList()
  /** The last bytes of an answer that is longer than the head, as a ring. */
  #ring: Buffer | null = null
  #plain: Buffer | null = null
  size = 0

  constructor(limit: number) {
    this.#limit = Math.max(limit, tailBytes)
  }

  add(chunk: Buffer): void {
    const room = this.#limit - this.#head.size
    if (room > 0) this.#head.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    if (chunk.length > room) this.#addToRing(chunk)
    this.size += chunk.length
  }

  #addToRing(chunk: Buffer): void {
    this.#ring ??= Buffer.alloc(tailBytes)
    const last = chunk.subarray(-tailBytes)
    const at = (this.size + chunk.length - last.length) % tailBytes
    const first = last.copy(this.#ring, at)
    if (first < last.length) last.copy(this.#ring, 0, first)
  }

  /** The first bytes, up to the limit. */
  head(): Buffer {
    return this.#head.join()
  }

  /** The last bytes; the same buffer as `head()` when the answer was short. */
  tail(): Buffer {
    if (this.#ring === null) return this.head()
    const at = this.size % tailBytes
    const kept = this.size - this.#limit
    const ordered = Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)])
    return kept < tailBytes ? ordered.subarray(tailBytes - kept) : ordered
  }

  /** The first bytes without their content encoding; empty when they cannot be decoded. */
  plain(encoding: string | undefined): Buffer {
    this.#plain ??= encoding === undefined ? this.head() : decompress(this.head(), encoding)
    return this.#plain
  }
}
