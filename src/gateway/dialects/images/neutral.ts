import type { Fields } from '../../../lib/json/fields.ts'
import type { TokenUsage } from '../neutral/token-usage.ts'
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
}

/** A request for images. Null: not said. */
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
  readonly seed: number | null
  /** Fields that are not read. */
  readonly rest: Fields
}

/** One image of an answer. */
export interface MadeImage {
  readonly base64: string
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
  /** The fields beside prompt, number and size that it has a place for. */
  readonly takes: readonly ('quality' | 'style' | 'outputFormat' | 'seed')[]
  /** The headers that every call has, flat. */
  readonly headers?: readonly string[]
  encode(request: ImageRequest, context: TaskContext): TaskBody
  /** Null: it is no answer. */
  decode(answer: TaskAnswer): ImageAnswer | null
}
