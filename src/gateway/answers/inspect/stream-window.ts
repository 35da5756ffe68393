import type { BodyEdit } from '../../checks/check.ts'
import type { DialectId } from '../../dialects/dialect.ts'
import type { TextPart } from '../../dialects/neutral/texts.ts'
import { type Mark, maxKept, type Moment, StreamChannels } from './stream-channels.ts'
import type { CheckedBody } from '../../checks/run.ts'
import { readFrames, type Frame, rewriteFrame } from './stream-frames.ts'

interface HeldFrame {
  readonly frame: Frame
  /** The channels to which its texts went. */
  readonly marks: readonly Mark[]
}

const hasToWait = ({ marks, frame }: HeldFrame): boolean => frame.last || marks.some(({ channel, until }) => until > channel.safe)

/** The frames of a stream that are held back, and all texts of the stream. */
export class StreamWindow {
  #held: HeldFrame[] = []
  readonly #channels = new StreamChannels()
  /** True when a frame with text was released. */
  #spoken = false
  readonly #dialect: DialectId | null
  /**
   * The number of frames at the beginning that have no text and do not end the stream: a provider may send them without end, and each is looked at
   * once.
   */
  #silent = 0
  heldBytes = 0

  constructor(dialect: DialectId | null) {
    this.#dialect = dialect
  }

  /** The number of characters that have arrived. */
  get total(): number {
    return this.#channels.total
  }

  /** Takes in bytes that are whole frames. */
  add(bytes: Buffer): void {
    for (const frame of readFrames(bytes, this.#dialect)) {
      this.#held.push({ frame, marks: this.#channels.add(frame) })
      this.heldBytes += frame.bytes.length
    }
  }

  /** Returns the texts, one part a channel. */
  parts(): readonly TextPart[] {
    return this.#channels.parts()
  }

  /** Returns the texts as checks see them: a part when there is more than is kept. */
  said(): CheckedBody {
    const more = this.total > maxKept && { cut: `There is more to read than ${maxKept} characters.` }
    return { json: undefined, parts: this.parts(), ...more }
  }

  /** Returns why a change of the texts cannot be made; null when it can. */
  refuses({ path, value }: BodyEdit): string | null {
    if (path.length === 1 && this.#channels.has(path[0]) && typeof value === 'string') return null
    return 'The answer is a stream, which cannot be replaced as a whole.'
  }

  /** How far everything is now. */
  moment(): Moment {
    return this.#channels.moment()
  }

  /** Takes the frames that can go when the text up to a moment has passed, and a failure may reach so many characters back. */
  take(moment: Moment, reachesBack: number): Buffer | null {
    this.#channels.pass(moment, reachesBack)
    this.#silent = this.#firstFrom(this.#silent, ({ marks, frame }) => frame.last || marks.length > 0)
    const count = this.#firstFrom(this.#silent, hasToWait)
    // Frames without text at the beginning wait for the first text: until then a denial can be a status.
    if (!this.#spoken && count === this.#silent) return null
    this.#spoken = true
    return this.#takeFirst(count)
  }

  /** Returns the index of the first frame of which something is true, from one index on; the number of frames when there is none. */
  #firstFrom(from: number, holds: (held: HeldFrame) => boolean): number {
    let at = from
    for (let held = this.#held[at]; held !== undefined && !holds(held); held = this.#held[at]) at += 1
    return at
  }

  /** Takes all frames before the one that ends the stream. */
  takeBeforeEnd(): Buffer | null {
    return this.#takeFirst(this.#firstFrom(0, ({ frame }) => frame.last))
  }

  /** Takes all that is left. */
  rest(): Buffer {
    return this.#takeFirst(this.#held.length) ?? Buffer.alloc(0)
  }

  #takeFirst(count: number): Buffer | null {
    if (count === 0) return null
    this.#silent = Math.max(0, this.#silent - count)
    const taken = this.#held.splice(0, count).map(({ frame }) => frame.bytes)
    const bytes = taken.length === 1 && taken[0] !== undefined ? taken[0] : Buffer.concat(taken)
    this.heldBytes -= bytes.length
    return bytes
  }

  /** Replaces the texts: the first frame of a channel gets all of its new text, the others an empty one. */
  rewrite(edits: readonly BodyEdit[]): void {
    const wanted = new Map(
      edits.flatMap(({ path: [channel], value }) =>
        typeof channel === 'string' && typeof value === 'string' ? [[channel, value] as const] : [],
      ),
    )
    const told = new Set<string>()
    this.#held = this.#held.map((held) => {
      const changes = held.marks.flatMap(({ channel: { name }, path, copy }) => {
        const text = wanted.get(name)
        if (text === undefined) return []
        const value = copy || !told.has(name) ? text : ''
        told.add(name)
        return [{ path, value }]
      })
      return changes.length === 0 ? held : { ...held, frame: { ...held.frame, bytes: rewriteFrame(held.frame.bytes, changes) } }
    })
    this.heldBytes = this.#held.reduce((sum, { frame }) => sum + frame.bytes.length, 0)
  }
}
