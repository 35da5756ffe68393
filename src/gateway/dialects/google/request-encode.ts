import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { withAnswerTool } from '../answer-tool.ts'
import { type EncodeContext, type EncodedRequest, type Memory, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { spendBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import type { NeutralRequest } from '../neutral/request.ts'
import { functionTools } from '../tools.ts'
import { SchemaSize } from '../written-out.ts'
import { writeContents, writeSystem } from './contents-encode.ts'
import { type ModelFacts, modelFacts } from './model-facts.ts'
import { subsetSchema, wholeSchema } from './schema-encode.ts'
import { writeThinking } from './thinking-encode.ts'
import { writeTools } from './tools-encode.ts'

const naming = { legal: /^[A-Za-z_][A-Za-z0-9_.:-]*$/, longest: 64 }

/** Writes a request for content. */
export function encodeRequest(given: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model } = context
  const facts = modelFacts(model)
  const { request, searches } = withoutSearch(given)
  const own = spendBag(request, 'google', loss)
  const answering = asksByTool(request, facts) ? withAnswerTool(request, false) : null
  const tools = functionTools(answering?.request ?? request, naming, loss)
  dropForeign(request, context)
  const size = new SchemaSize(loss)
  const config = compact({
    ...writeSampling(request, facts, context),
    ...(answering === null && writeFormat(request, { facts, size }, context)),
    thinkingConfig: writeThinking(request, facts, loss),
    mediaResolution: writeResolution(request, context),
  })
  const body = compact({
    contents: writeContents(request, { ...context, dialect: request.dialect, nameOf: tools.nameOf }),
    systemInstruction: writeSystem(request, context),
    ...writeTools(answering?.request ?? request, { tools, facts, searches, size, loss }),
    generationConfig: Object.keys(config).length === 0 ? null : config,
    labels: writeLabels(request, context),
    serviceTier: writeTier(request, context),
    ...own,
  })
  const memory: Memory = { ...noMemory, ...tools.memory, schemaTool: answering?.memory ?? null }
  return { body, headers: [], memory }
}

/** Takes the wish for a search on the web out: Google has one too. */
function withoutSearch(request: NeutralRequest): { readonly request: NeutralRequest; readonly searches: boolean } {
  const chat = request.bag['openai-chat']
  if (chat === undefined || !isFields(chat['web_search_options'])) return { request, searches: false }
  const { web_search_options: _options, ...rest } = chat
  return { request: { ...request, bag: { ...request.bag, 'openai-chat': rest } }, searches: true }
}

function dropForeign(request: NeutralRequest, { loss }: EncodeContext): void {
  if (request.logitBias !== null) loss.drop('logitBias')
  if (request.verbosity !== null) loss.drop('verbosity')
  if (request.user !== null) loss.drop('user')
  if (request.store === true) loss.drop('store')
  if (request.cache !== null) loss.drop('cache')
  if (request.system.some(({ cache }) => cache !== null)) loss.dropAt('cache_control')
}

/** Largest and smallest numbers of 32 bits. */
const isInt32 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 31
const mostStops = 5
const mostCandidates = 8

function writeSampling(request: NeutralRequest, facts: ModelFacts, { loss }: EncodeContext): Fields {
  const { stop, logprobs } = request
  if (stop.length > mostStops) loss.drop('stop', `has more than ${mostStops} entries`)
  return {
    maxOutputTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    stopSequences: stop.length === 0 ? null : stop.slice(0, mostStops),
    candidateCount: writeCandidates(request, facts, loss),
    seed: writeSeed(request, loss),
    frequencyPenalty: below(request, 'frequencyPenalty', loss),
    presencePenalty: below(request, 'presencePenalty', loss),
    responseLogprobs: logprobs === true ? true : null,
    logprobs: logprobs === true ? request.topLogprobs : null,
  }
}

function writeCandidates({ candidates }: NeutralRequest, { thinking }: ModelFacts, loss: Loss): number | null {
  if (candidates === null || candidates <= 1) return null
  if (candidates > mostCandidates) loss.refuse('candidates', `asks for more than ${mostCandidates} answers`)
  if (thinking !== 'none') loss.refuse('candidates', 'asks for several answers, and models that think give one')
  return candidates
}

function writeSeed({ seed }: NeutralRequest, loss: Loss): number | null {
  if (seed === null || isInt32(seed)) return seed
  loss.drop('seed', 'is no whole number of 32 bits')
  return null
}

/** A penalty of 2 is out of bounds there. */
function below(request: NeutralRequest, field: 'frequencyPenalty' | 'presencePenalty', loss: Loss): number | null {
  const value = request[field]
  if (value === null || value < 2) return value
  loss.drop(field, 'was lowered to 1.99')
  return 1.99
}

/** The model for which schemas are written, and their size so far. */
interface SchemaContext {
  readonly facts: ModelFacts
  readonly size: SchemaSize
}

function writeFormat(request: NeutralRequest, schemas: SchemaContext, context: EncodeContext): Fields {
  const { format, modalities } = request
  const { loss } = context
  const isMedia = modalities?.some((one) => one !== 'text') === true
  if (isMedia && (modalities.includes('audio') || !context.model.includes('image')))
    loss.refuse('modalities', 'asks for more than text, which this model does not give')
  const responseModalities = isMedia ? ['TEXT', 'IMAGE'] : null
  if (format === null) return { responseModalities }
  if (format.kind === 'json') {
    if (request.tools.length === 0 || schemas.facts.jsonBesideTools) return { responseModalities, responseMimeType: 'application/json' }
    loss.drop('format', 'cannot stand beside tools for this model')
    return { responseModalities }
  }
  return { responseModalities, responseMimeType: 'application/json', ...writeSchema(format.schema, schemas, context) }
}

const writeSchema = (schema: Fields, { facts, size }: SchemaContext, { loss }: EncodeContext): Fields =>
  facts.jsonSchema
    ? { responseJsonSchema: wholeSchema(schema) }
    : { responseSchema: subsetSchema(schema, { at: loss.nameOf('format'), size, loss }) }

/** Returns true for a model that cannot have both functions and a schema. */
const asksByTool = ({ tools, format }: NeutralRequest, { jsonBesideTools }: ModelFacts): boolean =>
  format?.kind === 'schema' && !jsonBesideTools && tools.length > 0

const resolutions: Readonly<Record<string, string>> = {
  low: 'MEDIA_RESOLUTION_LOW',
  high: 'MEDIA_RESOLUTION_HIGH',
  original: 'MEDIA_RESOLUTION_HIGH',
}

/** One resolution holds for all images: where they differ none is asked for. */
function writeResolution({ turns }: NeutralRequest, { loss }: EncodeContext): string | null {
  const asked = turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'image' && part.detail !== null && part.detail !== 'auto' ? [part] : [])),
  )
  const [first] = asked
  if (first === undefined) return null
  const found = resolutions[first.detail ?? '']
  if (found !== undefined && asked.every(({ detail }) => detail === first.detail)) return found
  for (const { at } of asked) loss.dropAt(`${at}.detail`)
  return null
}

/** Labels exist on Vertex alone. */
function writeLabels({ metadata }: NeutralRequest, { traits, loss }: EncodeContext): Fields | null {
  if (metadata === null) return null
  const fits = Object.entries(metadata).every(
    ([name, value]) => /^[a-z][a-z0-9_-]{0,62}$/.test(name) && typeof value === 'string' && /^[a-z0-9_-]{0,63}$/.test(value),
  )
  if (traits.host === 'vertex' && fits) return metadata
  loss.drop('metadata')
  return null
}

const tiers: Readonly<Record<string, string>> = { default: 'standard', flex: 'flex', priority: 'priority' }

function writeTier({ tier }: NeutralRequest, { loss }: EncodeContext): string | null {
  if (tier === null || tier === 'auto') return null
  const found = tiers[tier]
  if (found === undefined) loss.drop('tier')
  return found ?? null
}
