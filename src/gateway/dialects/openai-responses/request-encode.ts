import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { searchOfChat } from '../anthropic/web-search.ts'
import { objectAnswer } from '../answer-object.ts'
import { compact } from '../compact.ts'
import { type EncodeContext, type EncodedRequest, noMemory } from '../codec.ts'
import { effortOf } from '../effort.ts'
import { spendBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import type { CustomTool, FunctionTool, NeutralRequest, OutputFormat, RequestField, ToolChoice } from '../neutral/request.ts'
import { type ModelFacts, modelFacts } from '../openai-chat/model-facts.ts'
import { marksCache, wrapsAnswer } from '../openai-chat/request-encode.ts'
import { objectSchema } from '../object-schema.ts'
import { dropChoice, functionTools } from '../tools.ts'
import { writeItems } from './items-encode.ts'

const naming = { legal: /^[A-Za-z0-9_-]+$/, longest: 64 }
/** The least cap that the API takes. */
const leastTokens = 16
/** Fields that mean the same in OpenAI's chat. */
const shared: ReadonlySet<string> = new Set(['prompt_cache_key', 'prompt_cache_retention', 'moderation'])
/** The search in the web that a chat asks for is a tool here. */
const searchOptions = 'web_search_options'

/** Writes a request for a response, which the provider does not store by default. */
export function encodeRequest(request: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model } = context
  const facts = modelFacts(model)
  const own = spendOwn(request, context)
  const customs = request.tools.filter((tool) => tool.kind === 'custom')
  const functions = functionTools({ ...request, tools: request.tools.filter((tool) => tool.kind !== 'custom') }, naming, loss)
  const { nameOf } = functions
  const search = searchIn(request)
  const tools = [
    ...(search === null ? [] : [search]),
    ...functions.tools.map((tool) => writeFunction(tool, loss)),
    ...customs.map((tool) => writeCustom(tool, nameOf)),
  ]
  const body: Record<string, unknown> = {
    model,
    ...writeItems(request, { ...context, nameOf }),
    store: request.store ?? false,
    ...writeOutput(request, context),
    ...writeSampling(request, facts, context),
    ...compact({ reasoning: writeReasoning(request, facts, context), include: included(request, facts) }),
    ...(tools.length > 0 && { tools, ...writeChoices(request, { nameOf, customs }) }),
    ...own,
  }
  if (tools.length === 0) dropChoice(request, loss)
  if (request.stream) body['stream'] = true
  if (marksCache(request)) loss.dropAt('cache_control')
  return { body, headers: [], memory: { ...noMemory, toolNames: functions.memory.toolNames, wrapsAnswer: wrapsAnswer(request) } }
}

const isSearch = (name: string, value: unknown): boolean => name === searchOptions && isFields(value)

function searchIn({ bag }: NeutralRequest): Fields | null {
  const options = bag['openai-chat']?.[searchOptions]
  return isFields(options) ? searchOfChat(options) : null
}

/** Spends the fields that the caller's dialect alone has; some of them have the same name here. */
function spendOwn(request: NeutralRequest, { loss }: EncodeContext): Fields {
  const { 'openai-chat': chat = null, ...others } = request.bag
  if (chat === null) return spendBag(request, 'openai-responses', loss)
  const kept = Object.fromEntries(Object.entries(chat).filter(([name]) => shared.has(name)))
  const rest = Object.fromEntries(Object.entries(chat).filter(([name, value]) => !shared.has(name) && !isSearch(name, value)))
  return { ...kept, ...spendBag({ ...request, bag: { ...others, 'openai-chat': rest } }, 'openai-responses', loss) }
}

function writeOutput(request: NeutralRequest, { loss }: EncodeContext): Fields {
  const { maxTokens, stop, format, candidates, topLogprobs, user, tier, verbosity, modalities, metadata } = request
  if (modalities?.some((one) => one !== 'text') === true) loss.refuse('modalities', 'asks for more than text')
  if (candidates !== null && candidates > 1) loss.refuse('candidates', 'asks for more than one answer')
  if (stop.length > 0) loss.drop('stop')
  const tooSmall = maxTokens !== null && maxTokens < leastTokens
  if (tooSmall) loss.drop('maxTokens', `is below ${leastTokens}`)
  const text = compact({ format: writeFormat(format), verbosity })
  return compact({
    max_output_tokens: tooSmall ? leastTokens : maxTokens,
    text: Object.keys(text).length === 0 ? null : text,
    top_logprobs: topLogprobs,
    safety_identifier: user,
    service_tier: tier,
    metadata,
  })
}

function writeFormat(format: OutputFormat | null): Fields | null {
  if (format === null) return null
  if (format.kind === 'json') return { type: 'json_object' }
  const { name, description, strict } = format
  const { schema } = objectAnswer(format.schema)
  return compact({ type: 'json_schema', name: name ?? 'response', description, schema, strict: strict ?? false })
}

const samplingFields = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
] as const satisfies readonly (readonly [RequestField, string])[]
const unknownFields = ['topK', 'seed', 'frequencyPenalty', 'presencePenalty', 'logitBias'] as const satisfies readonly RequestField[]

function writeSampling(request: NeutralRequest, { fixedSampling, knowsNone }: ModelFacts, { loss }: EncodeContext): Fields {
  const fixed = fixedSampling && !(knowsNone && request.reasoning?.effort === 'none')
  const written: Record<string, unknown> = {}
  for (const [field, name] of samplingFields) {
    const value = request[field]
    if (value === null) continue
    if (fixed) loss.drop(field, 'is fixed for this model')
    else written[name] = value
  }
  for (const field of unknownFields) if (request[field] !== null) loss.drop(field)
  return written
}

function writeReasoning(
  { reasoning, maxTokens }: NeutralRequest,
  { reasons, knowsNone }: ModelFacts,
  { loss }: EncodeContext,
): Fields | null {
  if (reasoning === null) return null
  const wanted = effortOf(reasoning, maxTokens)
  if (!reasons) {
    if (wanted !== null && wanted !== 'none') loss.drop('reasoning', 'is not known to this model')
    return null
  }
  if (wanted === 'none' && !knowsNone) loss.drop('reasoning', 'cannot be switched off for this model')
  const effort = wanted === 'none' && !knowsNone ? 'low' : wanted
  const written = compact({ effort, summary: reasoning.show === true && effort !== 'none' ? 'auto' : null })
  return Object.keys(written).length === 0 ? null : written
}

/** Sealed reasoning comes only on demand, and goes back with the next turn. */
function included({ logprobs }: NeutralRequest, { reasons }: ModelFacts): readonly string[] | null {
  const names = [...(reasons ? ['reasoning.encrypted_content'] : []), ...(logprobs === true ? ['message.output_text.logprobs'] : [])]
  return names.length === 0 ? null : names
}

/** Strictness is always written: the API takes a tool without it as strict. */
function writeFunction(tool: FunctionTool, loss: Loss): Fields {
  const { name, description, strict } = tool
  return compact({ type: 'function', name, description, parameters: objectSchema(tool, loss), strict: strict ?? false })
}

function writeCustom({ name, description, format }: CustomTool, nameOf: (name: string) => string): Fields {
  const grammar = isFields(format?.['grammar']) ? { type: 'grammar', ...format['grammar'] } : format
  return compact({ type: 'custom', name: nameOf(name), description, format: grammar })
}

interface ToolNames {
  readonly nameOf: (name: string) => string
  readonly customs: readonly CustomTool[]
}

const writeChoices = ({ toolChoice, parallelTools }: NeutralRequest, named: ToolNames): Fields =>
  compact({ tool_choice: toolChoice === null ? null : writeChoice(toolChoice, named), parallel_tool_calls: parallelTools })

function writeChoice({ mode, names }: ToolChoice, { nameOf, customs }: ToolNames): unknown {
  const [only] = names ?? []
  if (names === null || only === undefined) return mode
  const custom = new Set(customs.map(({ name }) => name))
  const tools = names.map((name) => ({ type: custom.has(name) ? 'custom' : 'function', name: nameOf(name) }))
  return mode === 'required' && tools.length === 1 ? tools[0] : { type: 'allowed_tools', mode, tools }
}
