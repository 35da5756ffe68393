import type { Fields } from '../../../lib/json/fields.ts'
import { type EncodeContext, type EncodedRequest, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { dropWish, effortOf } from '../effort.ts'
import { spendBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import type { Effort, FunctionTool, NeutralRequest, RequestField } from '../neutral/request.ts'
import { objectSchema } from '../object-schema.ts'
import { type FunctionTools, functionTools, toolsNamed } from '../tools.ts'
import { writeMessages } from './messages-encode.ts'

const naming = { legal: /^[A-Za-z0-9_.-]+$/, longest: 128 }

/** Writes a chat: docs.ollama.com/api/chat. It streams by default. */
export function encodeRequest(request: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model } = context
  const own = spendBag(request, 'ollama', loss)
  refuseForeign(request, loss)
  const tools = functionTools(request, naming, loss)
  const body = compact({
    model,
    messages: writeMessages(request, { ...context, nameOf: tools.nameOf }),
    tools: writeTools(request, tools, loss),
    format: writeFormat(request),
    think: writeThinking(request, context),
    logprobs: request.logprobs === true ? true : null,
    top_logprobs: request.logprobs === true ? request.topLogprobs : null,
    options: writeOptions(request),
    stream: request.stream,
    ...own,
  })
  return { body, headers: [], memory: { ...noMemory, ...tools.memory } }
}

/** Steering that Ollama has no field for. */
const dropped: readonly RequestField[] = ['logitBias', 'verbosity', 'user', 'metadata', 'tier', 'cache']

function refuseForeign(request: NeutralRequest, loss: Loss): void {
  if ((request.candidates ?? 1) > 1) loss.refuse('candidates', 'asks for several answers, and this provider gives one')
  if (request.modalities?.some((one) => one !== 'text') === true) loss.refuse('modalities', 'asks for more than text')
  for (const field of dropped) if (request[field] !== null) loss.drop(field)
  if (request.store === true) loss.drop('store')
  if (request.parallelTools === false) loss.drop('parallelTools')
}

function writeOptions(request: NeutralRequest): Fields | null {
  const options = compact({
    num_predict: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    stop: request.stop.length === 0 ? null : request.stop,
  })
  return Object.keys(options).length === 0 ? null : options
}

/** A model is offered the tools that it may call, since no call of it can be demanded or forbidden. */
function writeTools({ toolChoice }: NeutralRequest, { tools, nameOf }: FunctionTools, loss: Loss): readonly Fields[] | null {
  const names = toolChoice?.names?.map((name) => nameOf(name)) ?? null
  if (toolChoice?.mode === 'required') loss.drop('toolChoice', 'demands a call, which cannot be demanded there')
  const offered = toolChoice?.mode === 'none' ? [] : names === null ? tools : toolsNamed(tools, names)
  return offered.length === 0 ? null : offered.map((tool) => writeTool(tool, loss))
}

function writeTool(tool: FunctionTool, loss: Loss): Fields {
  const { name, description, strict, cache, at } = tool
  if (cache !== null) loss.dropAt('cache_control')
  if (strict === true) loss.dropAt(`${at}.strict`)
  return { type: 'function', function: compact({ name, description, parameters: objectSchema(tool, loss) }) }
}

function writeFormat({ format }: NeutralRequest): unknown {
  if (format === null) return null
  return format.kind === 'json' ? 'json' : format.schema
}

/** Models that take an amount of thinking, and cannot be kept from it; all others take yes or no. */
const graded = /gpt-oss/

const grades: Readonly<Record<Effort, 'low' | 'medium' | 'high'>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

function writeThinking(request: NeutralRequest, { loss, model }: EncodeContext): boolean | string | null {
  const { reasoning, maxTokens } = request
  if (reasoning === null) return null
  dropWish(request, loss)
  const effort = effortOf(reasoning, maxTokens)
  if (!graded.test(model)) return effort !== 'none'
  if (effort === 'none') loss.drop('reasoning', 'cannot be switched off for this model')
  return grades[effort ?? 'medium']
}
