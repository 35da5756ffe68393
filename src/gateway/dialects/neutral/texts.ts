import type { JsonPath } from '../../../lib/json/json-path.ts'

/** A piece of text from a person or a model, and its place in the body. */
export interface TextPart {
  readonly path: JsonPath
  /** `user`, `system`, `assistant`, `tool` ... in the words of the body. */
  readonly role: string
  readonly text: string
}

/** A text in one frame of a stream. */
export interface FrameText {
  /** Frames of one channel add up to one text. */
  readonly channel: string
  /** Its place in the frame's JSON. */
  readonly path: JsonPath
  readonly text: string
  /** The choice, block or candidate that this text belongs to. Null: later text does not end it. */
  readonly speaker: string | null
  /** True if other texts of the speaker may interleave with it, as calls of tools do: then the next text does not end it. */
  readonly beside: boolean
  /** The channel whose whole text it may repeat. If it differs, it counts for itself. */
  readonly copyOf: string | null
  /** True if it is a complete text, false if it is a piece. */
  readonly whole: boolean
}

/** The texts of one frame. */
export interface ExtractedTexts {
  readonly texts: readonly FrameText[]
  /** Speakers whose text is complete. */
  readonly ends: readonly string[]
}
