import type { Fields } from '../../../lib/json/fields.ts'
import type { TokenUsage } from '../neutral/token-usage.ts'
import type { Steps } from '../steps.ts'
import type { TaskAnswer, TaskBody, TaskContext } from '../tasks/task.ts'

/** The size of an image, in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** A picture that a caller sends. */
export interface SentImage {
  readonly bytes: Buffer
  readonly mediaType: string
  /** Returns true if a part of it is transparent. */
  hasGaps(): boolean
}

/** The part of a picture that is changed. */
export interface Mask {
  /** Returns it as a picture in black and white, of which one marks the part to change. Throws `invalid_request` for a mask that cannot be read. */
  as(changed: 'white' | 'black'): Buffer
}

/** A request for images. Null: not set. */
export interface ImageRequest {
  readonly prompt: string
  /** The number of images. */
  readonly count: number
  /** Null: as the provider likes, also for `auto`. */
  readonly size: Size | null
  readonly quality: string | null
  readonly style: string | null
  /** `png`, `jpeg` or `webp`. */
  readonly outputFormat: string | null
  /** The pictures to be changed; none: images are made of the prompt alone. */
  readonly images: readonly SentImage[]
  /** The part of the picture that is changed: the transparent pixels of a PNG. Null: all of it. */
  readonly mask: Mask | null
  readonly seed: number | null
  /** True if the caller wants addresses. */
  readonly asUrl: boolean
  /** Fields that are not read. */
  readonly rest: Fields
}

/** One image of an answer: its bytes, or where they are. */
export type MadeImage = ({ readonly base64: string } | { readonly url: string }) & {
  /** The prompt as it was really drawn. */
  readonly prompt?: string
}

/** The images of one call. */
export interface ImageAnswer {
  readonly images: readonly MadeImage[]
  /** The reason why images were kept back; null: none was. */
  readonly refused: string | null
  readonly usage: TokenUsage | null
}

/** Writes calls for one provider format, and reads their answers. */
export interface ImageProvider {
  /** The most images of one call. */
  readonly most: number
  /** True if it changes a part of a picture. */
  readonly takesMask?: boolean
  /** The end of the path for a request, where several calls share a format. */
  suffix?(request: ImageRequest): string
  /** The fields beside prompt, number and size that it has a place for. */
  readonly takes: readonly ('quality' | 'style' | 'outputFormat' | 'seed')[]
  /** True if callers may use its own words: JSON goes on as it came, and so do the fields of a form that are not read. */
  readonly takesOwn?: true
  /** The headers that every call has, flat. */
  readonly headers?: readonly string[]
  /** How an answer is reached that takes several steps; `asUrl`: the caller wants addresses. */
  steps?(asUrl: boolean): Steps
  encode(request: ImageRequest, context: TaskContext): TaskBody
  /** Null: it is no answer. */
  decode(answer: TaskAnswer): ImageAnswer | null
}
