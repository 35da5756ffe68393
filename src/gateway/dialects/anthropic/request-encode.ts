import type { Fields } from '../../../lib/json/fields.ts'
import { type EncodeContext, type EncodedRequest, type Memory, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import type { FunctionTool, NeutralRequest, RequestField, ToolChoice } from '../neutral/request.ts'
import { objectSchema } from '../object-schema.ts'
import { dropChoice, type FunctionTools, functionTools, toolsNamed } from '../tools.ts'
import { withMarkAtEnd } from './mark-end.ts'
import { writeMark, writeMessages, writeSystem } from './messages-encode.ts'
import { type ModelFacts, modelFacts } from './model-facts.ts'
import { isThinking, writeThinking } from './thinking-encode.ts'
import { type FormatEmulation, emulateFormat } from './format-encode.ts'
import { strictSchema } from './strict-tools.ts'
import { hostedVersions } from './hosted.ts'
import { takeSearch, withSearchAsTool } from './web-search.ts'

const naming = { legal: /^[A-Za-z0-9_-]+$/, longest: 128 }

/** Writes a request of Anthropic's Messages. */
export function encodeRequest(given: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model, traits } = context
  const asked = withSearchAsTool(given, context)
  const facts = modelFacts(model)
  const own = spendBag(asked, 'anthropic', loss)
  refuseForeign(asked, context)
  const maxTokens = asked.maxTokens ?? facts.maxOutput
  if (asked.maxTokens === null) loss.note(`max_tokens=${maxTokens}`)
  const thinking = writeThinking({ request: asked, facts, maxTokens }, context)
  const format = emulateFormat(asked, { facts, isThinking: isThinking(thinking), loss })
  const { request, search } = takeSearch(format.request, context)
  const tools = functionTools(request, naming, loss)
  const version = hostedVersions[traits.host]
  const body = compact({
    ...(version === undefined ? { model } : { anthropic_version: version }),
    max_tokens: maxTokens,
    system: writeSystem(request, format.instructions, context),
    messages: writeMessages(request, { ...context, nameOf: tools.nameOf }),
    stop_sequences: writeStop(request, context),
    ...writeSampling({ request, facts, isThinking: isThinking(thinking) }, context),
    ...writeTools(request, { tools, search, facts, format }, context),
    ...thinking.fields,
    output_config: outputConfig(thinking.effort, format.native),
    metadata: request.user === null ? null : { user_id: request.user },
    service_tier: writeTier(request, context),
    ...(request.stream && traits.host !== 'bedrock' && { stream: true }),
    ...own,
  })
  const memory: Memory = { ...noMemory, ...tools.memory, schemaTool: format.memory, unwrapsJson: format.unwraps }
  return { body: marked(body, request, context), headers: version === undefined ? versionHeader : [], memory }
}

/** It is demanded wherever the version is not in the body. */
const versionHeader: readonly string[] = ['anthropic-version', '2023-06-01']

/** Steering that Anthropic has no field for. */
const dropped: readonly RequestField[] = ['seed', 'frequencyPenalty', 'presencePenalty', 'logitBias', 'verbosity', 'metadata', 'store']

function refuseForeign(request: NeutralRequest, { loss }: EncodeContext): void {
  if ((request.candidates ?? 1) > 1) loss.refuse('candidates', 'asks for several answers, and this provider gives one')
  if (request.logprobs === true) loss.refuse('logprobs', 'asks for probabilities, which this provider does not return')
  if (request.modalities?.some((one) => one !== 'text') === true) loss.refuse('modalities', 'asks for more than text')
  for (const field of dropped) if (request[field] !== null && request[field] !== false) loss.drop(field)
  if (request.topLogprobs !== null) loss.drop('topLogprobs')
}

function writeStop({ stop }: NeutralRequest, { loss }: EncodeContext): readonly string[] | null {
  const kept = stop.filter((one) => one.trim() !== '')
  if (kept.length < stop.length) loss.drop('stop', 'has an entry of white space')
  return kept.length === 0 ? null : kept
}

function writeTier({ tier }: NeutralRequest, { loss }: EncodeContext): string | null {
  if (tier === null || tier === 'auto') return tier
  if (tier === 'default') return 'standard_only'
  loss.drop('tier')
  return 'auto'
}

/** Clouds support marks of blocks alone, so that the mark of the whole request stands at its end. */
function marked(body: Fields, { cache }: NeutralRequest, { loss, traits: { host } }: EncodeContext): Fields {
  const mark = writeMark(cache)
  if (mark === null) return body
  if (hostedVersions[host] === undefined) return { ...body, cache_control: mark }
  const messages = withMarkAtEnd(body, mark)
  if (messages === null) loss.drop('cache', 'cannot be said at the end of this request')
  return messages === null ? body : { ...body, messages }
}

function outputConfig(effort: string | null, format: Fields | null): Fields | null {
  return effort === null && format === null ? null : compact({ effort, format })
}

interface SamplingInput {
  readonly request: NeutralRequest
  readonly facts: ModelFacts
  readonly isThinking: boolean
}

function writeSampling(sampled: SamplingInput, { loss }: EncodeContext): Fields {
  const { request, facts, isThinking: thinks } = sampled
  const { topP, topK } = request
  const fixed = facts.fixedSampling || thinks
  const written: Record<string, unknown> = { temperature: writeTemperature(request, fixed, loss) }
  if (topK !== null && fixed) loss.drop('topK', 'is fixed for this model')
  else if (topK !== null) written['top_k'] = topK
  if (topP !== null && takesTopP(sampled, topP)) written['top_p'] = topP
  else if (topP !== null) loss.drop('topP', 'is not taken by this model beside the rest')
  return written
}

function writeTemperature({ temperature }: NeutralRequest, fixed: boolean, loss: Loss): number | null {
  if (temperature === null) return null
  if (fixed) {
    if (temperature !== 1) loss.drop('temperature', 'is fixed for this model')
    return null
  }
  if (temperature > 1) loss.drop('temperature', 'was lowered to 1')
  return Math.min(1, temperature)
}

function takesTopP({ request: { temperature }, facts, isThinking: thinks }: SamplingInput, topP: number): boolean {
  if (temperature !== null && !facts.takesBoth) return false
  if (facts.fixedSampling) return topP >= 0.99
  return !thinks || topP >= 0.95
}

interface ToolOffer {
  readonly tools: FunctionTools
  /** The search in the web; null: none is asked for. */
  readonly search: Fields | null
  readonly facts: ModelFacts
  readonly format: FormatEmulation
}

function writeTools(request: NeutralRequest, { tools, search, facts, format }: ToolOffer, { loss }: EncodeContext): Fields {
  const { toolChoice } = request
  const names = toolChoice?.names?.map((name) => tools.nameOf(name)) ?? null
  const offered = names === null || isOne(toolChoice) ? tools.tools : toolsNamed(tools.tools, names)
  if (offered.length < tools.tools.length) loss.note('tool_choice (the other tools were left out)')
  if (!facts.schemas && offered.some(({ strict }) => strict === true)) loss.dropAt('tools.strict', 'is not known to this model')
  const written = [...offered.map((tool) => writeTool(tool, facts, loss)), ...(search === null ? [] : [search])]
  if (written.length > 0) return compact({ tools: written, tool_choice: serially(request, choiceOf(toolChoice, names), format.memory) })
  dropChoice(request, loss)
  return {}
}

/** One call at a time is a part of the choice. An answer is given once. */
function serially({ parallelTools }: NeutralRequest, choice: Fields | null, answer: Memory['schemaTool']): Fields | null {
  const answersOnly = answer !== null && choice?.['name'] === answer.name
  if ((parallelTools !== false && !answersOnly) || choice?.['type'] === 'none') return choice
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

const isOne = (choice: ToolChoice | null): boolean => choice?.mode === 'required' && choice.names?.length === 1

function choiceOf(choice: ToolChoice | null, names: readonly string[] | null): Fields | null {
  if (choice === null) return null
  const { mode } = choice
  if (isOne(choice)) return { type: 'tool', name: names?.[0] }
  return { type: mode === 'required' ? 'any' : mode }
}

function writeTool(tool: FunctionTool, { schemas }: ModelFacts, loss: Loss): Fields {
  const { name, description, cache, strict } = tool
  const schema = strictSchema(tool, { takesStrict: schemas, loss })
  return compact({
    name,
    description,
    input_schema: schema ?? objectSchema(tool, loss),
    strict: schema === null || strict !== true ? null : true,
    cache_control: writeMark(cache),
  })
}
