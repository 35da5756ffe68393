import type { Fields } from '../../../lib/json/fields.ts'
import { isEffort } from '../effort.ts'
import { unread } from '../leftovers.ts'
import type { NeutralRequest, OutputFormat, Reasoning } from '../neutral/request.ts'
import { fieldsIn, flagIn, listIn, numberIn, textIn, unreadable } from '../reading.ts'
import { unplacedIn } from '../unplaced.ts'
import { fieldsRead } from './fields-read.ts'
import { readMessages } from './messages-decode.ts'
import { cacheMarkIn } from './parts-decode.ts'
import { readChoice, readFunctions, readTools } from './tools-decode.ts'

/** The fields that are read. */
export const known: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'n',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'user',
  'safety_identifier',
  'metadata',
  'store',
  'service_tier',
  'stream',
  'stream_options',
  'tools',
  'functions',
  'function_call',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'thinking',
  'verbosity',
  'modalities',
  'cache_control',
])

/** Reads a chat completion. */
export function decodeRequest(body: Fields): NeutralRequest {
  const { system, turns } = readMessages(listIn(body, 'messages'))
  const isOld = Array.isArray(body['functions']) && !Array.isArray(body['tools'])
  const { stream, streamUsage } = readStreaming(body)
  const { temperature, topP, topK, seed, frequencyPenalty, presencePenalty, logitBias } = readSampling(body)
  // Each by its name, because an object that is spread from others grows step by step.
  return {
    dialect: 'openai-chat',
    model: textIn(body, 'model') ?? '',
    system,
    turns,
    tools: isOld ? readFunctions(listIn(body, 'functions')) : readTools(listIn(body, 'tools')),
    toolChoice: readChoice(isOld ? body['function_call'] : body['tool_choice']),
    parallelTools: isOld ? false : flagIn(body, 'parallel_tool_calls'),
    maxTokens: numberIn(body, 'max_completion_tokens') ?? numberIn(body, 'max_tokens'),
    stop: readStop(body['stop']),
    format: readFormat(fieldsIn(body, 'response_format')),
    modalities: listIn(body, 'modalities').filter((item) => typeof item === 'string'),
    candidates: numberIn(body, 'n'),
    logprobs: flagIn(body, 'logprobs'),
    topLogprobs: numberIn(body, 'top_logprobs'),
    temperature,
    topP,
    topK,
    seed,
    frequencyPenalty,
    presencePenalty,
    logitBias,
    verbosity: textIn(body, 'verbosity'),
    reasoning: readReasoning(body),
    user: textIn(body, 'safety_identifier') ?? textIn(body, 'user'),
    metadata: fieldsIn(body, 'metadata'),
    store: flagIn(body, 'store'),
    tier: textIn(body, 'service_tier'),
    cache: cacheMarkIn(body),
    stream,
    streamUsage,
    unplaced: withObfuscation(unplacedIn(body, fieldsRead), body),
    chosen: [],
    bag: { 'openai-chat': unread(body, known) },
    echo: isOld ? { functions: true } : {},
  }
}

export const readStreaming = (body: Fields) => ({
  stream: flagIn(body, 'stream') ?? false,
  streamUsage: fieldsIn(body, 'stream_options')?.['include_usage'] === true,
})

/** Adds to the unplaced fields the wish for padding that hides how long the pieces of a stream are: no stream has it here. */
export function withObfuscation(places: readonly string[], body: Fields): readonly string[] {
  if (!Object.hasOwn(body, 'stream_options')) return places
  const isWanted = fieldsIn(body, 'stream_options')?.['include_obfuscation'] === true
  return isWanted ? [...places, 'stream_options.include_obfuscation'] : places
}

export const readSampling = (body: Fields) => ({
  temperature: numberIn(body, 'temperature'),
  topP: numberIn(body, 'top_p'),
  topK: numberIn(body, 'top_k'),
  seed: numberIn(body, 'seed'),
  frequencyPenalty: numberIn(body, 'frequency_penalty'),
  presencePenalty: numberIn(body, 'presence_penalty'),
  logitBias: fieldsIn(body, 'logit_bias'),
})

export function readStop(stop: unknown): readonly string[] {
  if (stop === undefined || stop === null) return []
  if (typeof stop === 'string') return [stop]
  if (Array.isArray(stop) && stop.every((one) => typeof one === 'string')) return stop
  throw unreadable('stop', 'a string, or a list of strings')
}

function readFormat(format: Fields | null): OutputFormat | null {
  if (format === null || format['type'] === 'text') return null
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') throw unreadable('response_format.type', 'text, json_object or json_schema')
  const about = fieldsIn(format, 'json_schema', 'response_format.') ?? {}
  const at = 'response_format.json_schema.'
  return {
    kind: 'schema',
    schema: fieldsIn(about, 'schema', at) ?? {},
    name: textIn(about, 'name', at),
    description: textIn(about, 'description', at),
    strict: flagIn(about, 'strict', at),
  }
}

/** `thinking` is how clients with support for Claude switch it on in this format. */
function readReasoning(body: Fields): Reasoning | null {
  const [effort, thinking] = [textIn(body, 'reasoning_effort'), fieldsIn(body, 'thinking')]
  if (effort === null && thinking === null) return null
  if (effort !== null && !isEffort(effort)) throw unreadable('reasoning_effort', 'none, minimal, low, medium, high, xhigh or max')
  const type = thinking?.['type']
  return {
    effort,
    budget: thinking === null ? null : numberIn(thinking, 'budget_tokens', 'thinking.'),
    enabled: type === undefined ? null : type !== 'disabled',
    show: thinking === null ? null : readDisplay(textIn(thinking, 'display', 'thinking.')),
  }
}

function readDisplay(display: string | null): boolean | null {
  if (display === null) return null
  if (display !== 'summarized' && display !== 'omitted') throw unreadable('thinking.display', 'summarized or omitted')
  return display === 'summarized'
}
