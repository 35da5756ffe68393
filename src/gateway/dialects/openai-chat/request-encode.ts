import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { type EncodeContext, type EncodedRequest, noMemory } from '../codec.ts'
import { objectAnswer } from '../answer-object.ts'
import { compact } from '../compact.ts'
import { spendBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import { isMarked } from '../neutral/parts.ts'
import type { FunctionTool, NeutralRequest, OutputFormat, RequestField, ToolChoice } from '../neutral/request.ts'
import { objectSchema } from '../object-schema.ts'
import { dropChoice, type FunctionTools, functionTools, toolsNamed } from '../tools.ts'
import { writeMessages } from './messages-encode.ts'
import { type ModelFacts, modelFacts } from './model-facts.ts'
import { writeThinking } from './thinking-encode.ts'

const naming = { legal: /^[A-Za-z0-9_-]+$/, longest: 64 }

/** Writes a chat completion. */
export function encodeRequest(request: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model, traits } = context
  const facts = modelFacts(model)
  const own = spendBag(request, 'openai-chat', loss)
  const tools = functionTools(request, naming, loss)
  const body: Record<string, unknown> = {
    model,
    messages: writeMessages(request, { ...context, nameOf: tools.nameOf }),
    ...writeOutput(request, facts, context),
    ...writeSampling(request, facts, context),
    ...writeTools(request, tools, context),
    ...own,
    ...writeThinking(request, facts, context),
  }
  if (request.stream) {
    body['stream'] = true
    if (traits.streamUsage) body['stream_options'] = { include_usage: true }
  }
  if (marksCache(request)) loss.dropAt('cache_control')
  return { body, headers: [], memory: { ...noMemory, ...tools.memory, wrapsAnswer: wrapsAnswer(request) } }
}

/** Returns true if the answer that a request asks for is no object, which is all that OpenAI's API takes. */
export const wrapsAnswer = ({ format }: NeutralRequest): boolean => format?.kind === 'schema' && objectAnswer(format.schema).isWrapped

function writeOutput(request: NeutralRequest, facts: ModelFacts, { loss, traits }: EncodeContext): Fields {
  const { maxTokens, stop, format, candidates, logprobs, topLogprobs, user, store, tier, verbosity, modalities, metadata } = request
  if (modalities?.some((one) => one !== 'text') === true) loss.refuse('modalities', 'asks for more than text')
  if (stop.length > 4) loss.drop('stop', 'has more than 4 entries')
  if (metadata !== null && store !== true) loss.drop('metadata')
  return compact({
    [traits.cap === 'max_completion_tokens' || facts.fixedSampling ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
    stop: stop.length === 0 ? null : stop.slice(0, 4),
    response_format: writeFormat(format),
    n: candidates,
    logprobs,
    top_logprobs: topLogprobs,
    user,
    store,
    metadata: store === true ? metadata : null,
    service_tier: tier,
    verbosity,
  })
}

function writeFormat(format: OutputFormat | null): Fields | null {
  if (format === null) return null
  if (format.kind === 'json') return { type: 'json_object' }
  const { name, description, strict } = format
  const { schema } = objectAnswer(format.schema)
  return {
    type: 'json_schema',
    json_schema: compact({ name: name ?? 'response', description, schema, strict: strict ?? fitsStrict(schema) }),
  }
}

/** Returns true for a schema that OpenAI's strict mode takes as it is; null for any other: a caller's schema is not rewritten. */
function fitsStrict(schema: unknown): true | null {
  return isStrict(schema) ? true : null
}

function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every((one) => isStrict(one))
  if (!isFields(schema)) return true
  return !Object.hasOwn(schema, 'default') && listsAll(schema) && Object.values(schema).every((one) => isStrict(one))
}

/** Every property must be required, and no other allowed. */
function listsAll({ properties, required, additionalProperties }: Fields): boolean {
  if (!isFields(properties)) return true
  const names = new Set<unknown>(Array.isArray(required) ? required : [])
  return additionalProperties === false && Object.keys(properties).every((name) => names.has(name))
}

const samplingFields = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['seed', 'seed'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['presencePenalty', 'presence_penalty'],
  ['logitBias', 'logit_bias'],
] as const satisfies readonly (readonly [RequestField, string])[]

/** Models that think take none of it. */
function writeSampling(request: NeutralRequest, { fixedSampling, knowsNone }: ModelFacts, { loss, traits }: EncodeContext): Fields {
  const fixed = fixedSampling && !(knowsNone && request.reasoning?.effort === 'none')
  const written: Record<string, unknown> = {}
  for (const [field, name] of samplingFields) {
    const value = request[field]
    if (value === null) continue
    if (fixed && field !== 'seed') loss.drop(field, 'is fixed for this model')
    else written[name] = value
  }
  if (request.topK === null) return written
  if (traits.topK && !fixed) written['top_k'] = request.topK
  else loss.drop('topK')
  return written
}

interface ToolOffer {
  readonly offered: readonly FunctionTool[]
  readonly choice: ToolChoice | null
}

/** Returns the tools and the choice among them: where some cannot be named, the others are left out. */
function offer(
  choice: ToolChoice | null,
  { tools, nameOf }: Pick<FunctionTools, 'tools' | 'nameOf'>,
  { allowedTools }: EncodeContext['traits'],
): ToolOffer {
  const names = choice?.names ?? null
  if (choice === null || names === null || allowedTools || (choice.mode === 'required' && names.length === 1))
    return { offered: tools, choice }
  return {
    offered: toolsNamed(
      tools,
      names.map((name) => nameOf(name)),
    ),
    choice: { ...choice, names: null },
  }
}

function writeTools(request: NeutralRequest, { tools, nameOf }: FunctionTools, { loss, traits }: EncodeContext): Fields {
  const { toolChoice, parallelTools } = request
  if (tools.length === 0) {
    dropChoice(request, loss)
    return {}
  }
  const { offered, choice } = offer(toolChoice, { tools, nameOf }, traits)
  if (offered.length < tools.length) loss.note('tool_choice (the other tools were left out)')
  return compact({
    tools: offered.map((tool) => writeTool(tool, loss)),
    tool_choice: choice === null ? null : writeChoice(choice.mode, choice.names?.map((name) => nameOf(name)) ?? null),
    parallel_tool_calls: parallelTools,
  })
}

function writeTool(tool: FunctionTool, loss: Loss): Fields {
  const { name, description, strict } = tool
  return { type: 'function', function: compact({ name, description, parameters: objectSchema(tool, loss), strict }) }
}

function writeChoice(mode: string, names: readonly string[] | null): unknown {
  const [only] = names ?? []
  if (names === null || only === undefined) return mode
  if (mode === 'required' && names.length === 1) return { type: 'function', function: { name: only } }
  return { type: 'allowed_tools', allowed_tools: { mode, tools: names.map((name) => ({ type: 'function', function: { name } })) } }
}

/** Returns true if anything of a request is marked to be kept by the provider. */
export const marksCache = ({ cache, system, turns, tools }: NeutralRequest): boolean =>
  cache !== null ||
  system.some(isMarked) ||
  turns.some(({ parts }) => parts.some(isMarked)) ||
  tools.some((tool) => tool.kind === 'function' && tool.cache !== null)
