import type { BodyEdit, TextPart } from './check.ts'
import { cutFrames, type Frame, rewriteFrame } from './stream-frames.ts'

/** More characters than any check reads. */
const maxKept = 2 * 1024 * 1024

interface Held {
  readonly frame: Frame
  /** How many characters were said up to its end. */
  readonly until: number
}

/** More choices and calls of tools than any answer has; what more of them say is one text. */
const maxChannels = 1000
const others = 'others'

/** The frames of a stream that are held back, and all that the stream has said. */
export class StreamWindow {
  #held: Held[] = []
  readonly #texts = new Map<string, string>()
  heldBytes = 0
  /** How many characters were said. */
  total = 0

  /** Takes in bytes that are whole frames. */
  add(bytes: Buffer): void {
    for (const cut of cutFrames(bytes)) {
      const frame = this.#texts.size < maxChannels ? cut : this.#gathered(cut)
      for (const { channel, text, copy } of frame.texts) {
        const said = this.#texts.get(channel)
        if (copy && said !== undefined && channel !== others) continue
        // So much cannot be judged any more; what comes on top is only counted.
        if (this.total <= maxKept) this.#texts.set(channel, (said ?? '') + text)
        this.total += text.length
      }
      this.#held.push({ frame, until: this.total })
      this.heldBytes += frame.bytes.length
    }
  }

  #gathered(frame: Frame): Frame {
    const known = frame.texts.every(({ channel }) => this.#texts.has(channel))
    if (known) return frame
    const texts = frame.texts.map(({ channel, path, text, copy }) => ({
      channel: this.#texts.has(channel) ? channel : others,
      path,
      text,
      copy,
    }))
    return { ...frame, texts }
  }

  /** What was said, one part a channel. */
  parts(): readonly TextPart[] {
    return [...this.#texts].map(([channel, text]) => ({ path: [channel], role: 'assistant', text }))
  }

  /** Takes the frames in which nothing is said beyond so many characters. */
  take(upTo: number): Buffer | null {
    const at = this.#held.findIndex(({ until, frame }) => until > upTo || frame.last)
    return this.#takeFirst(at === -1 ? this.#held.length : at)
  }

  /** Takes all frames before the one that ends the stream. */
  takeBeforeEnd(): Buffer | null {
    const at = this.#held.findIndex(({ frame }) => frame.last)
    return this.#takeFirst(at === -1 ? this.#held.length : at)
  }

  /** Takes all that is left. */
  rest(): Buffer {
    return this.#takeFirst(this.#held.length) ?? Buffer.alloc(0)
  }

  #takeFirst(count: number): Buffer | null {
    if (count === 0) return null
    const taken = this.#held.splice(0, count).map(({ frame }) => frame.bytes)
    const bytes = taken.length === 1 && taken[0] !== undefined ? taken[0] : Buffer.concat(taken)
    this.heldBytes -= bytes.length
    return bytes
  }

  /** Puts new texts in the place of what was said: the first frame of a channel says all of it, the others nothing. */
  rewrite(edits: readonly BodyEdit[]): void {
    const wanted = new Map(
      edits.flatMap(({ path: [channel], value }) =>
        typeof channel === 'string' && typeof value === 'string' ? [[channel, value] as const] : [],
      ),
    )
    const told = new Set<string>()
    this.#held = this.#held.map((held) => {
      const changes = held.frame.texts.flatMap(({ channel, path, copy }) => {
        const text = wanted.get(channel)
        if (text === undefined) return []
        const value = copy || !told.has(channel) ? text : ''
        told.add(channel)
        return [{ path, value }]
      })
      return changes.length === 0 ? held : { ...held, frame: { ...held.frame, bytes: rewriteFrame(held.frame.bytes, changes) } }
    })
    this.heldBytes = this.#held.reduce((sum, { frame }) => sum + frame.bytes.length, 0)
  }
}
