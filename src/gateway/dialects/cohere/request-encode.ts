import type { Fields } from '../../../lib/json/fields.ts'
import { type EncodeContext, type EncodedRequest, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { dropWish, effortOf, effortTokens } from '../effort.ts'
import { spendBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import type { FunctionTool, NeutralRequest, RequestField, ToolChoice } from '../neutral/request.ts'
import { objectSchema } from '../object-schema.ts'
import { dropChoice, type FunctionTools, functionTools, toolsNamed } from '../tools.ts'
import { writeMessages } from './messages-encode.ts'

const naming = { legal: /^[A-Za-z0-9_-]+$/, longest: 64 }

/** Writes a chat of Cohere's second version. */
export function encodeRequest(request: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model } = context
  const own = spendBag(request, 'cohere', loss)
  refuseForeign(request, loss)
  const tools = functionTools(request, naming, loss)
  const documents: Fields[] = []
  const messages = writeMessages(request, { ...context, nameOf: tools.nameOf, documents })
  const body = compact({
    model,
    messages,
    documents: documents.length === 0 ? null : documents,
    ...writeSampling(request, loss),
    ...writeTools(request, tools, loss),
    response_format: writeFormat(request, documents.length > 0, loss),
    thinking: writeThinking(request, context),
    ...(request.stream && { stream: true }),
    ...own,
  })
  return { body, headers: [], memory: { ...noMemory, ...tools.memory } }
}

/** Steering that Cohere has no field for. */
const dropped: readonly RequestField[] = ['logitBias', 'verbosity', 'user', 'metadata', 'tier', 'cache', 'topLogprobs']

function refuseForeign(request: NeutralRequest, loss: Loss): void {
  if ((request.candidates ?? 1) > 1) loss.refuse('candidates', 'asks for several answers, and this provider gives one')
  if (request.modalities?.some((one) => one !== 'text') === true) loss.refuse('modalities', 'asks for more than text')
  for (const field of dropped) if (request[field] !== null) loss.drop(field)
  if (request.store === true) loss.drop('store')
  if (request.parallelTools === false) loss.drop('parallelTools')
}

const mostStops = 5

/** The fields that have bounds: Cohere's name, and the bounds. */
const bounded = [
  ['topP', 'p', 0.01, 0.99],
  ['topK', 'k', 0, 500],
  ['frequencyPenalty', 'frequency_penalty', 0, 1],
  ['presencePenalty', 'presence_penalty', 0, 1],
] as const satisfies readonly (readonly [RequestField, string, number, number])[]

function writeSampling(request: NeutralRequest, loss: Loss): Fields {
  const { stop } = request
  const written: Record<string, unknown> = {
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    seed: request.seed,
    stop_sequences: stop.length === 0 ? null : stop.slice(0, mostStops),
    logprobs: request.logprobs === true ? true : null,
  }
  if (stop.length > mostStops) loss.drop('stop', `has more than ${mostStops} entries`)
  for (const [field, name, min, max] of bounded) {
    const value = request[field]
    if (value === null) continue
    written[name] = Math.min(max, Math.max(min, value))
    if (written[name] !== value) loss.dropAt(loss.nameOf(field), `was brought within ${min} and ${max}`)
  }
  return written
}

function writeTools(request: NeutralRequest, { tools, nameOf }: FunctionTools, loss: Loss): Fields {
  const { toolChoice } = request
  const names = toolChoice?.names?.map((name) => nameOf(name)) ?? null
  const offered = names === null ? tools : toolsNamed(tools, names)
  if (offered.length === 0) {
    dropChoice(request, loss)
    return {}
  }
  if (names !== null && names.length > 1 && offered.length < tools.length) loss.note('tool_choice (the other tools were left out)')
  return {
    tools: offered.map((tool) => writeTool(tool, loss)),
    tool_choice: toolChoice === null ? null : choices[toolChoice.mode],
    strict_tools: writeStrict(request, loss),
  }
}

const choices: Readonly<Record<ToolChoice['mode'], string | null>> = { auto: null, none: 'NONE', required: 'REQUIRED' }

/** All tools are strict, or none. */
function writeStrict({ tools }: NeutralRequest, loss: Loss): true | null {
  const strict = tools.filter((tool) => tool.kind === 'function' && tool.strict === true)
  if (strict.length > 0 && strict.length < tools.length) loss.dropAt('tools.strict', 'holds for all tools or for none')
  return strict.length > 0 && strict.length === tools.length ? true : null
}

function writeTool(tool: FunctionTool, loss: Loss): Fields {
  const { name, description, cache } = tool
  if (cache !== null) loss.dropAt('cache_control')
  return { type: 'function', function: compact({ name, description, parameters: objectSchema(tool, loss) }) }
}

function writeFormat({ format, tools }: NeutralRequest, hasDocuments: boolean, loss: Loss): Fields | null {
  if (format === null) return null
  if (tools.length > 0 || hasDocuments) return loss.refuse('format', 'cannot stand beside tools or documents there')
  if (format.kind === 'json') return { type: 'json_object' }
  const { $schema: _version, ...schema } = format.schema
  return { type: 'json_object', json_schema: schema }
}

/** Models that do not think; those of a later day do. */
const plain = /command-(?:r|light|nightly|a-03|a-vision|a-translate)|c4ai|aya/

function writeThinking(request: NeutralRequest, { loss, model }: EncodeContext): Fields | null {
  const { reasoning, maxTokens } = request
  if (reasoning === null) return null
  dropWish(request, loss)
  const effort = effortOf(reasoning, maxTokens)
  if (plain.test(model)) {
    if (effort !== 'none') loss.drop('reasoning', 'is not known to this model')
    return null
  }
  if (effort === 'none') return { type: 'disabled' }
  const budget = reasoning.budget !== null && reasoning.budget > 0 ? reasoning.budget : effort === null ? null : effortTokens[effort]
  if (budget === null) return { type: 'enabled' }
  return { type: 'enabled', token_budget: maxTokens === null ? budget : Math.max(1, Math.min(budget, maxTokens - 1)) }
}
