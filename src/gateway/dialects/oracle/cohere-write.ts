import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { refuseBeyondText } from '../beyond-text.ts'
import { type EncodeContext, type EncodedRequest, noMemory } from '../codec.ts'
import { compact } from '../compact.ts'
import { effortOf } from '../effort.ts'
import { spendBag } from '../leftovers.ts'
import type { Loss } from '../neutral/loss.ts'
import type { FunctionTool, NeutralRequest, RequestField } from '../neutral/request.ts'
import { functionTools, type FunctionTools, toolsNamed } from '../tools.ts'
import { writeConversation } from './cohere-turns.ts'
import { servingFields } from './serving-mode.ts'

const naming = { legal: /^[A-Za-z0-9_-]+$/, longest: 64 }

/** Steering that this format has no field for. */
const dropped: readonly RequestField[] = ['logitBias', 'verbosity', 'user', 'metadata', 'tier', 'cache', 'topLogprobs']

/** docs.oracle.com/iaas/api: CohereChatRequest, which is Cohere's first version. */
export function encodeCohere(request: NeutralRequest, context: EncodeContext): EncodedRequest {
  const { loss, model, traits } = context
  const own = spendBag(request, 'oracle', loss)
  refuseForeign(request, loss)
  const tools = functionTools(request, naming, loss)
  const chatRequest = compact({
    apiFormat: 'COHERE',
    ...writeConversation(request, { ...context, nameOf: tools.nameOf }),
    ...writeSampling(request, loss),
    tools: writeTools(request, tools, loss),
    responseFormat: writeFormat(request, loss),
    isStream: request.stream,
    streamOptions: request.stream ? { isIncludeUsage: true } : null,
    ...own,
  })
  return { body: { ...servingFields(model, traits), chatRequest }, headers: [], memory: { ...noMemory, ...tools.memory } }
}

function refuseForeign(request: NeutralRequest, loss: Loss): void {
  refuseBeyondText(request, dropped, loss)
  if (request.reasoning !== null && effortOf(request.reasoning, request.maxTokens) !== 'none')
    loss.drop('reasoning', 'is not known to this model')
}

const mostStops = 5

/** The fields that have bounds. */
const bounded = [
  ['topP', 0, 0.99],
  ['topK', 0, 500],
  ['frequencyPenalty', 0, 1],
  ['presencePenalty', 0, 1],
] as const satisfies readonly (readonly [RequestField, number, number])[]

function writeSampling(request: NeutralRequest, loss: Loss): Fields {
  const { stop } = request
  if (stop.length > mostStops) loss.drop('stop', `has more than ${mostStops} entries`)
  const written: Record<string, unknown> = {
    maxTokens: request.maxTokens,
    temperature: request.temperature,
    seed: request.seed,
    stopSequences: stop.length === 0 ? null : stop.slice(0, mostStops),
  }
  for (const [field, min, max] of bounded) {
    const value = request[field]
    if (value === null) continue
    written[field] = Math.min(max, Math.max(min, value))
    if (written[field] !== value) loss.dropAt(loss.nameOf(field), `was brought within ${min} and ${max}`)
  }
  return written
}

function writeTools({ toolChoice }: NeutralRequest, { tools, nameOf }: FunctionTools, loss: Loss): readonly Fields[] | null {
  const names = toolChoice?.names?.map((name) => nameOf(name)) ?? null
  if (toolChoice?.mode === 'required') loss.drop('toolChoice', 'demands a call, which cannot be demanded there')
  const offered = toolChoice?.mode === 'none' ? [] : names === null ? tools : toolsNamed(tools, names)
  return offered.length === 0 ? null : offered.map((tool) => writeTool(tool, loss))
}

/** Types as Python names them. */
const types: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'list',
  object: 'dict',
}

function writeTool({ name, description, parameters, strict, cache, at }: FunctionTool, loss: Loss): Fields {
  if (cache !== null) loss.dropAt('cache_control')
  if (strict === true) loss.dropAt(`${at}.strict`)
  const properties = isFields(parameters?.['properties']) ? parameters['properties'] : {}
  const needed: readonly unknown[] = Array.isArray(parameters?.['required']) ? parameters['required'] : []
  const definitions = Object.entries(properties).map(([property, schema]) => [
    property,
    writeDefinition(schema, { isRequired: needed.includes(property), at: `${at}.parameters.properties.${property}`, loss }),
  ])
  return compact({
    name,
    description: description ?? name,
    parameterDefinitions: definitions.length === 0 ? null : Object.fromEntries(definitions),
  })
}

/** A parameter is a type and a text: the rest of its schema stands in that text, where the model reads it. */
function writeDefinition(
  schema: unknown,
  { isRequired, at, loss }: { readonly isRequired: boolean; readonly at: string; readonly loss: Loss },
): Fields {
  const { type, description, ...rest } = isFields(schema) ? schema : {}
  const isNested = Object.keys(rest).length > 0
  if (isNested) loss.note(`${at} (told in its description)`)
  const told = isNested ? `JSON Schema: ${JSON.stringify(rest)}` : null
  const text = [typeof description === 'string' ? description : null, told].filter((one) => one !== null).join(' ')
  return compact({ type: typeof type === 'string' ? (types[type] ?? type) : 'str', description: text === '' ? null : text, isRequired })
}

function writeFormat({ format, tools }: NeutralRequest, loss: Loss): Fields | null {
  if (format === null) return null
  if (tools.length > 0) return loss.refuse('format', 'cannot stand beside tools there')
  if (format.kind === 'json') return { type: 'JSON_OBJECT' }
  const { $schema: _version, ...schema } = format.schema
  return { type: 'JSON_OBJECT', schema }
}
