import type { Fields } from '../../../lib/json/fields.ts'
import type { Bag, MediaSource } from './parts.ts'
import type { NeutralError } from './error.ts'
import type { Finish } from './finish.ts'
import type { Signature } from './signature.ts'
import type { TokenUsage } from './token-usage.ts'

/** A place that an answer refers to. */
export interface Citation {
  readonly url: string | null
  readonly title: string | null
  /** The text that was cited, as it stands at its source. */
  readonly quote: string | null
  /** The piece of its block's text to which it belongs, in UTF-16 units; null: all of it. */
  readonly start: number | null
  readonly end: number | null
  readonly bag: Bag | null
}

/** How probable a token was. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[] | null
  /** The tokens that were the most probable in its place. */
  readonly top: readonly TokenLogprob[]
}

/** The kind of a block of an answer, with the facts at its begin. */
export type BlockStart =
  | { readonly kind: 'text' }
  | { readonly kind: 'reasoning' }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly custom: boolean }
  | { readonly kind: 'media'; readonly media: 'image' | 'audio' | 'video' | 'file'; readonly source: MediaSource }
  /** Content that only its vendor understands, such as a search that it ran. */
  | { readonly kind: 'opaque'; readonly type: string; readonly raw: Fields }

/** The facts of a block that are known when it ends. */
export interface BlockEnd {
  /** The signature of reasoning, and of calls by Google. */
  readonly signature: Signature | null
  /** True if the reasoning is sealed in its signature. */
  readonly redacted: boolean
}

/**
 * The one alphabet of answers, whole ones and streams alike. The order is `start`, then blocks, `usage` anywhere, a `finish` for each choice, `end`.
 * Blocks of one choice never overlap: a decoder whose provider lets them holds back all but one. `delta` holds text, reasoning or arguments, by the
 * kind of its block. No event follows `error`. A stream without `end` was cut.
 */
export type NeutralEvent =
  | {
      readonly type: 'start'
      readonly id: string | null
      readonly model: string | null
      readonly created: number | null
      /** The tier that serves the request, where it is known so early. */
      readonly tier?: string | null
    }
  | { readonly type: 'block-start'; readonly choice: number; readonly block: BlockStart }
  | { readonly type: 'delta'; readonly choice: number; readonly text: string }
  | { readonly type: 'citation'; readonly choice: number; readonly citation: Citation }
  | { readonly type: 'logprobs'; readonly choice: number; readonly tokens: readonly TokenLogprob[] }
  | { readonly type: 'block-end'; readonly choice: number; readonly end: BlockEnd }
  | { readonly type: 'usage'; readonly usage: TokenUsage; readonly tier: string | null }
  | { readonly type: 'finish'; readonly choice: number; readonly finish: Finish }
  | { readonly type: 'error'; readonly error: NeutralError }
  /** The provider is alive, and sends no content. */
  | { readonly type: 'ping' }
  | { readonly type: 'end' }

export const plainEnd: BlockEnd = { signature: null, redacted: false }
