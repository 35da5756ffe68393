/** How many bytes of an answer's end are held for reading its usage, beyond what the log keeps. */
const tailBytes = 32 * 1024

/**
 * What is kept of an answer while it passes: its first bytes for the log, its last for the usage. Holds references to the chunks
 * that pass anyway; copies nothing until the end.
 */
export class Capture {
  readonly #limit: number
  readonly #head: Buffer[] = []
  readonly #tail: Buffer[] = []
  #headSize = 0
  #tailSize = 0
  size = 0

  constructor(limit: number) {
    this.#limit = Math.max(limit, tailBytes)
  }

  add(chunk: Buffer): void {
    this.size += chunk.length
    if (this.#headSize < this.#limit) {
      const part = this.#headSize + chunk.length > this.#limit ? chunk.subarray(0, this.#limit - this.#headSize) : chunk
      this.#head.push(part)
      this.#headSize += part.length
      if (part === chunk) return
    }
    this.#tail.push(chunk)
    this.#tailSize += chunk.length
    while (this.#tail.length > 1 && this.#tailSize - (this.#tail[0]?.length ?? 0) >= tailBytes)
      this.#tailSize -= this.#tail.shift()?.length ?? 0
  }

  /** The first bytes, up to the limit. */
  head(): Buffer {
    if (this.#head.length === 1 && this.#head[0] !== undefined) return this.#head[0]
    const joined = Buffer.concat(this.#head, this.#headSize)
    this.#head.splice(0, this.#head.length, joined)
    return joined
  }

  /** The last bytes; the same buffer as `head()` when the answer was short. */
  tail(): Buffer {
    return this.#tail.length === 0 ? this.head() : Buffer.concat(this.#tail, this.#tailSize)
  }

  get truncated(): boolean {
    return this.size > this.#headSize
  }
}
