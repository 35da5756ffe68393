import type { Fields } from '../../../lib/json/fields.ts'
import type { DialectId } from '../dialect.ts'
import type { Signature } from './signature.ts'

/** Fields that only one dialect has, by that dialect. They go to no other. */
export type Bag = Readonly<Partial<Record<DialectId, Fields>>>

/** A mark that all before it may be kept by the provider, for a next request with the same beginning. Null: for as long as usual. */
export interface CacheMark {
  readonly ttl: '5m' | '1h' | null
}

interface PartBase {
  /** The place in the caller's body: `messages[3].content[1]`. */
  readonly at: string
  readonly cache: CacheMark | null
  readonly bag: Bag | null
}

/** The bytes of an image, a file, a sound or a film, or their place. */
export type MediaSource =
  | { readonly kind: 'url'; readonly url: string }
  /** Plain base64, without line breaks. */
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  /** An id at one vendor, which means nothing to others. */
  | { readonly kind: 'id'; readonly dialect: DialectId; readonly id: string }
  /** A plain text as a document. */
  | { readonly kind: 'text'; readonly text: string }

export interface TextPart extends PartBase {
  readonly kind: 'text'
  readonly text: string
}

export interface ImagePart extends PartBase {
  readonly kind: 'image'
  readonly source: MediaSource
  readonly detail: string | null
}

export interface AudioPart extends PartBase {
  readonly kind: 'audio'
  readonly source: MediaSource
}

export interface VideoPart extends PartBase {
  readonly kind: 'video'
  readonly source: MediaSource
}

/** A PDF or another document. */
export interface FilePart extends PartBase {
  readonly kind: 'file'
  readonly source: MediaSource
  readonly name: string | null
}

export interface ToolCallPart extends PartBase {
  readonly kind: 'tool-call'
  readonly id: string
  readonly name: string
  /** JSON as a text: `{}` without arguments. For a custom tool the plain input. */
  readonly arguments: string
  /** True if the tool takes a plain text in place of JSON. */
  readonly custom: boolean
  /** Google signs calls. */
  readonly signature: Signature | null
}

export interface ToolResultPart extends PartBase {
  readonly kind: 'tool-result'
  readonly callId: string
  /** The name of the tool, as far as the request states it. */
  readonly name: string | null
  /** Text, images and files. */
  readonly parts: readonly Part[]
  readonly isError: boolean
}

export interface ReasoningPart extends PartBase {
  readonly kind: 'reasoning'
  /** Empty when the vendor keeps it to itself. */
  readonly text: string
  /** Null: it is unsigned, so that most vendors refuse it. */
  readonly signature: Signature | null
  /** True if the signature is all there is, and holds the sealed text. */
  readonly redacted: boolean
  /** The characters of text before it, where the client's format keeps it apart from the text; absent: it stands in its place. */
  readonly after?: number
}

export interface RefusalPart extends PartBase {
  readonly kind: 'refusal'
  readonly text: string
}

/** Content that only one vendor understands, such as the result of a tool that runs at the vendor. Others refuse or drop it. */
export interface OpaquePart extends PartBase {
  readonly kind: 'opaque'
  readonly dialect: DialectId
  /** The type in the vendor's words. */
  readonly type: string
  readonly raw: Fields
}

/** A piece of a conversation. */
export type Part =
  | TextPart
  | ImagePart
  | AudioPart
  | VideoPart
  | FilePart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | OpaquePart

/** Returns a part that is a plain text. */
export const textPart = (text: string, at: string, cache: CacheMark | null = null): TextPart => ({
  kind: 'text',
  text,
  at,
  cache,
  bag: null,
})

/** Returns true if a part, or one within it, is marked to be kept by the provider. */
export const isMarked = (part: Part): boolean =>
  part.cache !== null || (part.kind === 'tool-result' && part.parts.some(({ cache }) => cache !== null))
