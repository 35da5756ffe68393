import { type PlaceNode, placeTree } from '../wire/place-tree.ts'
import type { DialectId } from './dialect.ts'

/** Places in answers, each with the name of its value in the result. */
type Places = Readonly<Record<string, string>>

/**
 * The names of objects that hold counts, in the order in which they go before each other. Counts that stand beside each other in the answer
 * itself come last.
 */
export const usageNames = ['usage', 'usageMetadata', 'usage_info', 'billed_units', 'amazon-bedrock-invocationMetrics'] as const
/** Counts that have no object of their own. */
export const bareCounts: ReadonlySet<string> = new Set([
  'prompt_eval_count',
  'eval_count',
  'inputTextTokenCount',
  'prompt_token_count',
  'generation_token_count',
])

const bare: Places = Object.fromEntries([...bareCounts].map((name) => [name, name]))

/** No answer has anything here that its caller or its model wrote. */
const everywhere: Places = {
  usage: 'usage',
  usageMetadata: 'usageMetadata',
  usage_info: 'usage_info',
  'meta.billed_units': 'billed_units',
  model: 'model',
  modelVersion: 'modelVersion',
  service_tier: 'tier',
  serviceTier: 'tier',
}

const itemAt = (path: string): Places => ({
  [path]: 'item',
  [`${path}.type`]: 'item.type',
  [`${path}.id`]: 'item.id',
  [`${path}.container_id`]: 'item.container_id',
  [`${path}.status`]: 'item.status',
  [`${path}.model`]: 'item.model',
  [`${path}.size`]: 'item.size',
  [`${path}.quality`]: 'item.quality',
  [`${path}.environment`]: 'item.environment',
  [`${path}.environment.type`]: 'item.environment.type',
  [`${path}.action`]: 'item.action',
  [`${path}.action.type`]: 'item.action.type',
})

interface AnswerPlaces {
  readonly whole?: Places
  /** In the events of a stream, beside those of a whole answer. */
  readonly stream?: Places
}

const grounding = 'candidates[*].groundingMetadata'
const anthropic: Places = { 'message.usage': 'usage', 'message.model': 'model', type: 'type' }
const cohere: Places = { 'response.meta.billed_units': 'billed_units', 'delta.usage': 'usage' }
const google: AnswerPlaces = {
  whole: {
    [`${grounding}.webSearchQueries`]: 'queries',
    [`${grounding}.retrievalQueries`]: 'retrievals',
    [`${grounding}.groundingChunks[*].maps!`]: 'maps',
    'candidates[*].finishReason!': 'finish',
  },
}
const responses: AnswerPlaces = {
  whole: { 'tool_usage.image_gen': 'drawn', ...itemAt('output[*]') },
  stream: {
    'response.usage': 'usage',
    'response.model': 'model',
    'response.service_tier': 'tier',
    'response.tool_usage.image_gen': 'drawn',
    type: 'type',
    ...itemAt('response.output[*]'),
    ...itemAt('item'),
  },
}

const places: Readonly<Partial<Record<DialectId, AnswerPlaces>>> = {
  'openai-chat': { stream: { 'x_groq.usage': 'usage' } },
  'openai-responses': responses,
  anthropic: { stream: anthropic },
  google,
  cohere: { stream: cohere },
  // Answers of Invoke are those of the model's vendor.
  bedrock: {
    whole: bare,
    stream: { ...anthropic, ...cohere, 'amazon-bedrock-invocationMetrics': 'amazon-bedrock-invocationMetrics' },
  },
  ollama: { whole: bare },
  'workers-ai': { whole: { 'result.usage': 'usage' } },
  images: {
    whole: { 'data[*].b64_json!': 'image', 'data[*].url!': 'image', size: 'size', quality: 'quality' },
    stream: { 'b64_json!': 'image', type: 'type' },
  },
  audio: { whole: { duration: 'duration' }, stream: { type: 'type' } },
}

const every = Object.values(places)
/** All places, for an answer of an unknown format. */
const unknown: AnswerPlaces = {
  whole: Object.assign({}, ...every.map(({ whole = {} }) => whole)),
  stream: Object.assign({}, ...every.map(({ stream = {} }) => stream)),
}

const trees = new Map<string, PlaceNode>()

/** Returns the places of an answer in a dialect; null: it is not known. */
export function answerPlaces(dialect: DialectId | null, isStream: boolean): PlaceNode {
  const key = `${dialect ?? ''} ${isStream}`
  const held = trees.get(key)
  if (held !== undefined) return held
  const { whole = {}, stream = {} } = dialect === null ? unknown : (places[dialect] ?? {})
  const tree = placeTree({ ...everywhere, ...whole, ...(isStream ? stream : {}) })
  trees.set(key, tree)
  return tree
}
