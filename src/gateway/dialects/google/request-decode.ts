import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import {
  emptyRequest,
  type Effort,
  type NeutralRequest,
  type OutputFormat,
  type Reasoning,
  type Tool,
  type ToolChoice,
} from '../neutral/request.ts'
import { fieldsAt, fieldsIn, flagIn, listIn, neededText, numberIn, textIn, unreadable } from '../reading.ts'
import { readContents, readSystem } from './contents-decode.ts'
import { jsonSchemaOf } from './schema-decode.ts'
import { unplacedIn } from '../unplaced.ts'
import { fieldsRead } from './fields-read.ts'
import { camelCased } from './signature.ts'

/** The fields that are read. */
export const known: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'labels',
  'serviceTier',
  'store',
])

/** Those of `generationConfig`. */
export const knownConfig: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'candidateCount',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'thinkingConfig',
  'responseModalities',
])

const place = 'generationConfig.'

/** Reads a request for content. */
export function decodeRequest(given: Fields): NeutralRequest {
  const body = camelCased(given)
  const config = camelCased(fieldsIn(body, 'generationConfig') ?? {})
  const format = readFormat(config)
  const tier = textIn(body, 'serviceTier')
  return {
    ...emptyRequest('google'),
    ...readSampling(config),
    model: textIn(body, 'model') ?? '',
    system: readSystem(fieldsIn(body, 'systemInstruction')),
    turns: readContents(listIn(body, 'contents')),
    tools: readTools(listIn(body, 'tools')),
    toolChoice: readChoice(fieldsIn(body, 'toolConfig')),
    format: format.format,
    reasoning: readReasoning(config),
    metadata: fieldsIn(body, 'labels'),
    store: flagIn(body, 'store'),
    tier: tier === null ? null : (tiers[tier.toLowerCase()] ?? tier),
    streamUsage: true,
    bag: { google: { ...unread(body, known), ...unread(config, knownConfig, place) } },
    unplaced: unplacedIn(body, fieldsRead, true),
    echo: { enum: format.isEnum },
  }
}

const tiers: Readonly<Record<string, string>> = { standard: 'default', unspecified: 'auto', flex: 'flex', priority: 'priority' }

function readSampling(config: Fields): Partial<NeutralRequest> {
  const modalities = listIn(config, 'responseModalities', place).filter((one) => typeof one === 'string')
  const stop = listIn(config, 'stopSequences', place).filter((one) => typeof one === 'string')
  return {
    maxTokens: numberIn(config, 'maxOutputTokens', place),
    stop,
    modalities: modalities.length === 0 ? null : modalities.map((one) => one.toLowerCase()),
    candidates: numberIn(config, 'candidateCount', place),
    logprobs: flagIn(config, 'responseLogprobs', place),
    topLogprobs: numberIn(config, 'logprobs', place),
    temperature: numberIn(config, 'temperature', place),
    topP: numberIn(config, 'topP', place),
    topK: numberIn(config, 'topK', place),
    seed: numberIn(config, 'seed', place),
    frequencyPenalty: numberIn(config, 'frequencyPenalty', place),
    presencePenalty: numberIn(config, 'presencePenalty', place),
  }
}

interface Format {
  readonly format: OutputFormat | null
  /** True if the answer is one of a list of words, without quotes. */
  readonly isEnum: boolean
}

function readFormat(config: Fields): Format {
  const type = textIn(config, 'responseMimeType', place)
  const own = fieldsIn(config, 'responseSchema', place)
  const schema =
    fieldsIn(config, 'responseJsonSchema', place) ??
    fieldsIn(config, '_responseJsonSchema', place) ??
    (own === null ? null : jsonSchemaOf(own))
  const isEnum = type === 'text/x.enum'
  if (type === null || type === 'text/plain') return { format: null, isEnum: false }
  if (!isEnum && type !== 'application/json') throw unreadable(`${place}responseMimeType`, 'text/plain, application/json or text/x.enum')
  if (schema === null) return { format: { kind: 'json' }, isEnum: false }
  const whole = isEnum ? { type: 'object', properties: { value: schema }, required: ['value'], additionalProperties: false } : schema
  return { format: { kind: 'schema', schema: whole, name: null, description: null, strict: null }, isEnum }
}

const levels: Readonly<Record<string, Effort>> = { MINIMAL: 'minimal', LOW: 'low', MEDIUM: 'medium', HIGH: 'high' }

function readReasoning(config: Fields): Reasoning | null {
  const given = fieldsIn(config, 'thinkingConfig', place)
  if (given === null) return null
  const thinking = camelCased(given)
  const within = `${place}thinkingConfig.`
  const level = textIn(thinking, 'thinkingLevel', within)?.toUpperCase() ?? null
  const effort = level === null || level === 'THINKING_LEVEL_UNSPECIFIED' ? null : levels[level]
  if (effort === undefined) throw unreadable(`${within}thinkingLevel`, 'MINIMAL, LOW, MEDIUM or HIGH')
  const budget = numberIn(thinking, 'thinkingBudget', within)
  return { effort, budget, enabled: budget === 0 ? false : null, show: flagIn(thinking, 'includeThoughts', within) === true }
}

const readTools = (tools: readonly unknown[]): readonly Tool[] =>
  tools.flatMap((item, index) => {
    const at = `tools[${index}]`
    const tool = camelCased(fieldsAt(item, at))
    return Object.keys(tool).flatMap((type): readonly Tool[] => {
      if (tool[type] === null || tool[type] === undefined) return []
      if (type !== 'functionDeclarations')
        return [{ kind: 'vendor', dialect: 'google', type, raw: { [type]: tool[type] }, at: `${at}.${type}` }]
      return listIn(tool, type, `${at}.`).map((one, number) => {
        const within = `${at}.functionDeclarations[${number}]`
        return readFunction(camelCased(fieldsAt(one, within)), within)
      })
    })
  })

function readFunction(declared: Fields, at: string): Tool {
  const own = fieldsIn(declared, 'parameters', `${at}.`)
  return {
    kind: 'function',
    name: neededText(declared, 'name', `${at}.`),
    description: textIn(declared, 'description', `${at}.`),
    parameters: fieldsIn(declared, 'parametersJsonSchema', `${at}.`) ?? (own === null ? null : jsonSchemaOf(own)),
    strict: null,
    cache: null,
    at,
    bag: null,
  }
}

const modes: Readonly<Record<string, ToolChoice['mode']>> = { AUTO: 'auto', VALIDATED: 'auto', ANY: 'required', NONE: 'none' }

function readChoice(config: Fields | null): ToolChoice | null {
  const given = config === null ? null : camelCased(config)['functionCallingConfig']
  if (!isFields(given)) return null
  const calling = camelCased(given)
  const word = textIn(calling, 'mode', 'toolConfig.functionCallingConfig.')?.toUpperCase() ?? null
  const names = listIn(calling, 'allowedFunctionNames', 'toolConfig.functionCallingConfig.').filter((name) => typeof name === 'string')
  if (word === null || word === 'MODE_UNSPECIFIED') return null
  const mode = Object.hasOwn(modes, word) ? modes[word] : undefined
  if (mode === undefined) throw unreadable('toolConfig.functionCallingConfig.mode', 'AUTO, ANY, NONE or VALIDATED')
  return { mode, names: names.length === 0 ? null : names }
}
