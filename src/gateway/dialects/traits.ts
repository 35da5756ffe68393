import type { Fields } from '../../lib/json/fields.ts'
import type { Effort } from './neutral/request.ts'

/**
 * How the amount of a model's thinking is set in a chat. A request is brought to the nearest available setting; a setting that is unavailable is
 * reported as a loss.
 */
export interface ThinkingControl {
  /** The models for which it stands; absent: all that no other one before it stands for. */
  readonly models?: RegExp
  /** The fields that switch thinking on; absent: it is on by itself, or by an effort. */
  readonly on?: Fields
  /** The fields that switch it off; absent: it cannot be switched off but by the effort `none`. */
  readonly off?: Fields
  /** The efforts that are known, from the least to the most, with their words. */
  readonly efforts?: Readonly<Partial<Record<Effort, string>>>
  /** The place of the effort. Absent: `reasoning_effort`. */
  readonly effortAt?: readonly string[]
  /** The place of a budget in tokens, with its bounds. It goes before an effort. */
  readonly budget?: { readonly at: readonly string[]; readonly min?: number; readonly max?: number }
  /** The place of the field that keeps the reasoning out of the answer when it is true. */
  readonly hideAt?: readonly string[]
  /** True if a tool cannot be demanded of a model that thinks. */
  readonly freeChoice?: true
  /** The fields of every request to such a model. */
  readonly always?: Fields
  /** True if it thinks in streams alone, so that it is switched off for an answer that comes whole. */
  readonly onlyStreamed?: true
}

/** How a provider differs from the dialect that it speaks, for requests that Gatehouse translates to it. Data of a row of the catalogue. */
export interface Traits {
  /** The field of OpenAI's chat that caps an answer. */
  readonly cap: 'max_tokens' | 'max_completion_tokens'
  /** True if it supports the role `developer`; else it is `system`. */
  readonly developerRole: boolean
  /** True if a chat can allow some of its tools by `allowed_tools`; else the others are left out. */
  readonly allowedTools: boolean
  /** True if `stream_options.include_usage` is known; a provider that refuses it sends usage anyhow, or never. */
  readonly streamUsage: boolean
  /** The field in which reasoning comes and goes back in OpenAI's chat. Null: it does not go back, and comes in either. */
  readonly reasoningField: 'reasoning_content' | 'reasoning' | null
  /** The models that refuse the reasoning of earlier turns, where the field for it is known; null: none. */
  readonly refusesReasoning: RegExp | null
  /** True if reasoning comes in `reasoning_details` too, with signatures that go back with it. */
  readonly reasoningDetails: boolean
  /**
   * How the amount of thinking of its models is set in a chat, the first that stands for a model. Empty: by `reasoning_effort`, in all words of
   * OpenAI's.
   */
  readonly thinking: readonly ThinkingControl[]
  /** True if `top_k` is known in a chat. */
  readonly topK: boolean
  /** True if files stand in a chat by an address, which may hold their bytes, and sounds as their bytes alone: Mistral's words. */
  readonly documentUrls: boolean
  /** The form that ids of tool calls must have. */
  readonly toolIds: 'any' | 'nine-characters'
  /** True if ids of files in requests of OpenAI's formats are its own: those of one vendor mean nothing to another. */
  readonly keepsFiles: boolean
  /** The cloud on which the model runs, for formats that several serve with differences. */
  readonly host: 'own' | 'vertex' | 'bedrock' | 'azure'
  /** The one of several forms of the dialect that it takes, for tasks that are no conversations; null: the plain one. */
  readonly form: string | null
  /** The fields of the credential that stand in bodies, by their names. */
  readonly settings: Readonly<Record<string, string>>
}

/** A provider without traits of its own. */
export const plainTraits: Traits = {
  cap: 'max_tokens',
  developerRole: false,
  allowedTools: false,
  streamUsage: true,
  reasoningField: null,
  refusesReasoning: null,
  reasoningDetails: false,
  thinking: [],
  topK: false,
  documentUrls: false,
  toolIds: 'any',
  keepsFiles: false,
  host: 'own',
  form: null,
  settings: {},
}

/** Returns the field in which the reasoning of earlier turns goes back to a model; null: it does not. */
export const reasoningFieldFor = (
  { reasoningField, refusesReasoning }: Pick<Traits, 'reasoningField' | 'refusesReasoning'>,
  model: string | null,
): Traits['reasoningField'] => (refusesReasoning !== null && model !== null && refusesReasoning.test(model) ? null : reasoningField)
