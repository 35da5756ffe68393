import type { Fields } from '../../../lib/json/fields.ts'
import type { DialectId } from '../dialect.ts'
import type { Bag, CacheMark, Part } from './parts.ts'

/**
 * All parts of one side in a conversation until the turn of the other. Neighbours never have one role, and all results of one round of tools are one
 * turn. A turn with the role `system` stands in the midst of a conversation; instructions before it are in `system` of the request.
 */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'tool' | 'system'
  readonly parts: readonly Part[]
  /** The place in the caller's body: `messages[3]`. */
  readonly at: string
}

/** A function that the model may call. */
export interface FunctionTool {
  readonly kind: 'function'
  readonly name: string
  readonly description: string | null
  /** JSON Schema, as the caller wrote it; null: it takes no parameters. */
  readonly parameters: Fields | null
  readonly strict: boolean | null
  /** The group in which the caller put it, with which its name begins. */
  readonly namespace?: string
  readonly cache: CacheMark | null
  readonly at: string
  readonly bag: Bag | null
}

/** A tool that takes a plain text. */
export interface CustomTool {
  readonly kind: 'custom'
  readonly name: string
  readonly description: string | null
  /** A grammar for the text; null: any text. */
  readonly format: Fields | null
  readonly namespace?: string
  readonly at: string
}

/** A tool that the vendor itself brings, such as a search in the web. */
export interface VendorTool {
  readonly kind: 'vendor'
  readonly dialect: DialectId
  readonly type: string
  readonly raw: Fields
  readonly at: string
}

export type Tool = FunctionTool | CustomTool | VendorTool

/** The tools that the model may or must call. */
export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'required'
  /** Null: any of them. */
  readonly names: readonly string[] | null
}

/** The form of an answer; null in a request: text. */
export type OutputFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema'
      readonly schema: Fields
      readonly name: string | null
      readonly description: string | null
      readonly strict: boolean | null
    }

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** How much a model thinks before it answers. */
export interface Reasoning {
  readonly effort: Effort | null
  /** The budget in tokens; -1: the model decides. */
  readonly budget: number | null
  /** True, false: switched on or off as such; null: only an effort or a budget is named. */
  readonly enabled: boolean | null
  /** True, false: whether the caller wants to read it; null: not set. */
  readonly show: boolean | null
}

/** A request for a conversation, in no vendor's words. Null: not set. */
export interface NeutralRequest {
  readonly dialect: DialectId
  readonly model: string
  readonly system: readonly Part[]
  readonly turns: readonly Turn[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice | null
  readonly parallelTools: boolean | null
  readonly maxTokens: number | null
  readonly stop: readonly string[]
  readonly format: OutputFormat | null
  /** `text`, `audio`, `image`. */
  readonly modalities: readonly string[] | null
  readonly candidates: number | null
  readonly logprobs: boolean | null
  readonly topLogprobs: number | null
  readonly temperature: number | null
  readonly topP: number | null
  readonly topK: number | null
  readonly seed: number | null
  readonly frequencyPenalty: number | null
  readonly presencePenalty: number | null
  readonly logitBias: Fields | null
  readonly verbosity: string | null
  readonly reasoning: Reasoning | null
  /** An opaque id of the person who asks. */
  readonly user: string | null
  readonly metadata: Fields | null
  readonly store: boolean | null
  /** `auto`, `default`, `flex`, `scale`, `priority`. */
  readonly tier: string | null
  /** A mark on the request as a whole, that its beginning may be kept. */
  readonly cache: CacheMark | null
  readonly stream: boolean
  /** True if the counts of tokens are to come in a stream, where the dialect leaves that to the caller. */
  readonly streamUsage: boolean
  /** Places of the caller's body below its top that have no field here: `messages[0].name`. */
  readonly unplaced: readonly string[]
  /** Values that the request leaves to the client's API, and that no provider would choose alike: `max_tokens=16`. */
  readonly chosen: readonly string[]
  /** Top-level fields that only the caller's dialect has, and unknown ones. */
  readonly bag: Bag
  /** Facts that the caller's own dialect needs again to write the answer. No provider gets them. */
  readonly echo: Fields
}

/** A request with the dialect of its caller only. Decoders write over it. */
export const emptyRequest = (dialect: DialectId): NeutralRequest => ({
  dialect,
  model: '',
  system: [],
  turns: [],
  tools: [],
  toolChoice: null,
  parallelTools: null,
  maxTokens: null,
  stop: [],
  format: null,
  modalities: null,
  candidates: null,
  logprobs: null,
  topLogprobs: null,
  temperature: null,
  topP: null,
  topK: null,
  seed: null,
  frequencyPenalty: null,
  presencePenalty: null,
  logitBias: null,
  verbosity: null,
  reasoning: null,
  user: null,
  metadata: null,
  store: null,
  tier: null,
  cache: null,
  stream: false,
  streamUsage: false,
  unplaced: [],
  chosen: [],
  bag: {},
  echo: {},
})

/** The fields of a request that a dialect may lack a place for. */
export type RequestField = Exclude<
  keyof NeutralRequest,
  'dialect' | 'model' | 'system' | 'turns' | 'unplaced' | 'chosen' | 'bag' | 'echo' | 'stream' | 'streamUsage'
>

/** How one dialect names the fields of a request: `maxTokens` is `generationConfig.maxOutputTokens`. */
export type FieldNames = Readonly<Partial<Record<RequestField, string>>>
