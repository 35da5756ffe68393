import type { Fields } from '../../../lib/json/fields.ts'
import { modelFacts } from '../anthropic/model-facts.ts'
import { isThinking, writeThinking } from '../anthropic/thinking-encode.ts'
import { type EncodeContext, type EncodedRequest, type Memory, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { dropWish, effortOf } from '../effort.ts'
import { spendBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import type { CacheMark } from '../neutral/parts.ts'
import type { Effort, NeutralRequest, RequestField } from '../neutral/request.ts'
import { functionTools } from '../tools.ts'
import { writeFormat } from './format-encode.ts'
import { writeMessages, writeSystem } from './messages-encode.ts'
import { type Family, familyOf } from './model-facts.ts'
import { writeTools } from './tools-encode.ts'

const naming = { legal: /^[A-Za-z][A-Za-z0-9_-]*$/, longest: 64 }

/** Writes a request of Converse. Which fields a model of another vendor takes beside the common ones, its vendor says. */
export function encodeRequest(request: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model } = context
  const family = familyOf(model)
  const own = spendBag(request, 'bedrock', loss)
  refuseForeign(request, loss)
  const more = writeReasoning(request, family, context)
  const format = writeFormat(request, { family, model, thinks: more.thinks, loss })
  const tools = functionTools(format.request, naming, loss)
  const mark = marker(family, loss)
  const written = { ...context, family, nameOf: tools.nameOf, mark, documents: new Map<string, number>() }
  const inference = compact(writeInference(request, { family, thinks: more.thinks }, context))
  const extra = { ...more.fields, ...writeTopK(request, { family, thinks: more.thinks }, context) }
  const body = compact({
    messages: writeMessages(request, written),
    system: writeSystem(request, format.instructions, written),
    inferenceConfig: Object.keys(inference).length === 0 ? null : inference,
    toolConfig: writeTools(format.request, { tools, model, family, mark, loss }),
    additionalModelRequestFields: Object.keys(extra).length === 0 ? null : extra,
    outputConfig: format.native,
    requestMetadata: writeMetadata(request, loss),
    serviceTier: writeTier(request, loss),
    ...own,
  })
  const memory: Memory = { ...noMemory, ...tools.memory, schemaTool: format.memory, unwrapsJson: format.unwraps }
  return { body, headers: [], memory }
}

/** Steering that Converse has no field for. */
const dropped: readonly RequestField[] = ['seed', 'frequencyPenalty', 'presencePenalty', 'logitBias', 'verbosity', 'user', 'topLogprobs']

function refuseForeign(request: NeutralRequest, loss: Loss): void {
  if ((request.candidates ?? 1) > 1) loss.refuse('candidates', 'asks for several answers, and this provider gives one')
  if (request.logprobs === true) loss.refuse('logprobs', 'asks for probabilities, which this provider does not return')
  if (request.modalities?.some((one) => one !== 'text') === true) loss.refuse('modalities', 'asks for more than text')
  for (const field of dropped) if (request[field] !== null) loss.drop(field)
  if (request.store === true) loss.drop('store')
  if (request.parallelTools === false) loss.drop('parallelTools')
}

interface FamilyOptions {
  readonly family: Family
  readonly thinks: boolean
}

function writeInference(request: NeutralRequest, asking: FamilyOptions, { loss, model }: EncodeContext): Fields {
  const { maxTokens, stop, temperature, topP } = request
  const isFixed = asking.family === 'anthropic' && (asking.thinks || modelFacts(model).fixedSampling)
  const clashes = asking.family === 'anthropic' && temperature !== null && !modelFacts(model).takesBoth
  if (topP !== null && (isFixed || clashes)) loss.drop('topP', 'is not taken by this model beside the rest')
  return {
    maxTokens,
    temperature: temperature === null ? null : writeTemperature(temperature, isFixed, loss),
    topP: isFixed || clashes ? null : topP,
    stopSequences: writeStop(stop, loss),
  }
}

function writeTemperature(temperature: number, isFixed: boolean, loss: Loss): number | null {
  if (isFixed) {
    if (temperature !== 1) loss.drop('temperature', 'is fixed for this model')
    return null
  }
  if (temperature > 1) loss.drop('temperature', 'was lowered to 1')
  return Math.min(1, temperature)
}

function writeStop(stop: readonly string[], loss: Loss): readonly string[] | null {
  const kept = stop.filter((one) => one.trim() !== '')
  if (kept.length < stop.length) loss.drop('stop', 'has an entry of white space')
  return kept.length === 0 ? null : kept
}

function writeTopK({ topK }: NeutralRequest, { family, thinks }: FamilyOptions, { loss, model }: EncodeContext): Fields {
  if (topK === null) return {}
  if (family === 'anthropic' && !thinks && !modelFacts(model).fixedSampling) return { top_k: topK }
  if (family === 'amazon') return { inferenceConfig: { topK } }
  loss.drop('topK')
  return {}
}

interface Thought {
  readonly fields: Fields
  readonly thinks: boolean
}

const noThought: Thought = { fields: {}, thinks: false }

/** Writes how much the model thinks, in the words of its vendor. */
function writeReasoning(request: NeutralRequest, family: Family, context: EncodeContext): Thought {
  const { reasoning, maxTokens } = request
  if (reasoning === null) return noThought
  if (family === 'anthropic') {
    const facts = modelFacts(context.model)
    const thinking = writeThinking({ request, facts, maxTokens: maxTokens ?? facts.maxOutput }, context)
    const effort = thinking.effort === null ? {} : { output_config: { effort: thinking.effort } }
    return { fields: { ...thinking.fields, ...effort }, thinks: isThinking(thinking) }
  }
  dropWish(request, context.loss)
  const effort = effortOf(reasoning, maxTokens)
  return effort === null ? noThought : { fields: writeEffort(effort, family, context.loss), thinks: false }
}

/** The efforts that models other than Anthropic's support, and `none`. */
const levels: Readonly<Record<Effort, 'none' | 'low' | 'medium' | 'high'>> = {
  none: 'none',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

function writeEffort(effort: Effort, family: Family, loss: Loss): Fields {
  const level = levels[effort]
  if (family === 'amazon')
    return { reasoningConfig: level === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: level } }
  if (level === 'none') return {}
  if (family === 'openai') return { reasoning_effort: level }
  loss.drop('reasoning', 'is not known to this model')
  return {}
}

/** So many marks a model takes. */
const mostMarks = 4

/** Returns the writer of marks, up to as many as the model takes. */
function marker(family: Family, loss: Loss): (cache: CacheMark | null) => Fields | null {
  let left = family === 'anthropic' || family === 'amazon' ? mostMarks : 0
  return (cache) => {
    if (cache === null) return null
    if (left === 0) {
      loss.dropAt('cache_control', 'is one more than this model takes')
      return null
    }
    left -= 1
    return { cachePoint: cache.ttl === null ? { type: 'default' } : { type: 'default', ttl: cache.ttl } }
  }
}

function writeMetadata({ metadata }: NeutralRequest, loss: Loss): Fields | null {
  if (metadata === null) return null
  const pairs = Object.entries(metadata)
  const fits = pairs.length <= 16 && pairs.every(([name, value]) => name.length <= 256 && typeof value === 'string' && value.length <= 256)
  if (fits) return metadata
  loss.drop('metadata')
  return null
}

const tiers: ReadonlySet<string> = new Set(['default', 'flex', 'priority', 'reserved'])

function writeTier({ tier }: NeutralRequest, loss: Loss): Fields | null {
  if (tier === null || tier === 'auto') return null
  if (tiers.has(tier)) return { type: tier }
  loss.drop('tier')
  return null
}
