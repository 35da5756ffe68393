/** How a provider differs from the dialect that it speaks, for requests that Gatehouse translates to it. Data of a row of the catalogue. */
export interface Traits {
  /** The field of OpenAI's chat that caps an answer. */
  readonly cap: 'max_tokens' | 'max_completion_tokens'
  /** True if it knows the role `developer`; else it is `system`. */
  readonly developerRole: boolean
  /** True if `stream_options.include_usage` is known; a provider that refuses it sends usage anyhow, or never. */
  readonly streamUsage: boolean
  /** The field in which reasoning comes and goes back in OpenAI's chat. Null: it does not go back, and comes in either. */
  readonly reasoningField: 'reasoning_content' | 'reasoning' | null
  /** The form that ids of tool calls must have. */
  readonly toolIds: 'any' | 'nine-characters'
  /** The cloud on which the model runs, for formats that several serve with differences. */
  readonly host: 'own' | 'vertex' | 'bedrock' | 'azure'
  /** The one of several forms of the dialect that it takes, for tasks that are no conversations; null: the plain one. */
  readonly form: string | null
  /** The fields of the credential that stand in bodies, by their names. */
  readonly settings: Readonly<Record<string, string>>
}

/** A provider that says nothing of itself. */
export const plainTraits: Traits = {
  cap: 'max_tokens',
  developerRole: false,
  streamUsage: true,
  reasoningField: null,
  toolIds: 'any',
  host: 'own',
  form: null,
  settings: {},
}
