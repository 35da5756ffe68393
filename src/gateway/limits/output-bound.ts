import { type Fields, isFields } from '../../lib/json/fields.ts'
import { sentFields } from '../dialects/sent-fields.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { Provider } from '../providers/provider.ts'
import { spokenHere } from '../providers/endpoint.ts'

/** The side that reads a request: its format, and its names for the most tokens of an answer. */
export interface OutputReader {
  /** Null: the path is the provider's own, and no format is known. */
  readonly dialect: DialectId | null
  /** True if a chat may name its bound `max_completion_tokens` alone. */
  readonly readsNewerName: boolean
}

/** A request as its reader is found. */
export interface ReadRequest {
  readonly dialect: DialectId | null
  readonly provider: Provider
  readonly providerId: string
  readonly fields: Readonly<Record<string, string>>
  /** True if the path is the provider's own, at which no name is changed. */
  readonly isOwnPath: boolean
}

/** Providers whose chats read both names although they are not the ones that Gatehouse writes: openrouter.ai/docs, docs.fireworks.ai. */
const readBoth: ReadonlySet<string> = new Set(['openrouter', 'fireworks-ai'])
const newerName = 'max_completion_tokens'

/** Returns the reader of a request. A provider that speaks no chats is asked in another format, for which both names are read. */
export function outputReader({ dialect, provider, providerId, fields, isOwnPath }: ReadRequest): OutputReader {
  if (dialect !== 'openai-chat') return { dialect, readsNewerName: false }
  const readsNewerName =
    provider.traits?.cap === newerName ||
    (!isOwnPath && provider.quirks?.rename?.[newerName] !== undefined) ||
    readBoth.has(providerId) ||
    (!isOwnPath && spokenHere(provider, fields).every((spoken) => spoken.dialect !== 'openai-chat'))
  return { dialect, readsNewerName }
}

/** The names of the most tokens of an answer, in all formats. */
const names = [
  newerName,
  'max_tokens',
  'max_output_tokens',
  'max_tokens_to_sample',
  'num_predict',
  'maxTokens',
  'maxOutputTokens',
  'maxCompletionTokens',
  'max_new_tokens',
  'maxTokenCount',
  'max_gen_len',
] as const
/** The names of the number of answers. */
const answerNames = ['n', 'best_of', 'candidateCount', 'candidate_count', 'num_generations', 'numResults', 'num_return_sequences'] as const
/** The objects in which some formats have these fields. */
const holders = [
  'generationConfig',
  'generation_config',
  'inferenceConfig',
  'textGenerationConfig',
  'options',
  'parameters',
  'additionalModelRequestFields',
  'chatRequest',
  'input',
] as const
/** Holders that such fields replace as a whole. */
const replaced = ['generationConfig', 'generation_config', 'inferenceConfig'] as const

/** The places where a format reads the most tokens of an answer. */
const placesOf: Readonly<Partial<Record<DialectId, readonly (readonly [holder: string | null, name: string])[]>>> = {
  'openai-chat': [[null, 'max_tokens']],
  completions: [[null, 'max_tokens']],
  'openai-responses': [[null, 'max_output_tokens']],
  anthropic: [[null, 'max_tokens']],
  google: [
    ['generationConfig', 'maxOutputTokens'],
    ['generationConfig', 'max_output_tokens'],
    ['generation_config', 'maxOutputTokens'],
    ['generation_config', 'max_output_tokens'],
  ],
  bedrock: [['inferenceConfig', 'maxTokens']],
  cohere: [[null, 'max_tokens']],
  ollama: [['options', 'num_predict']],
}

/** The bound of each answer of a request. */
export interface OutputBound {
  /** True if the reader surely reads one of the fields that name it. */
  readonly isSure: boolean
  /** The largest that any format would read; null: no field names one. */
  readonly most: number | null
  /** The largest number of answers that any format would read. */
  readonly answers: number
}

/** Returns the bound of each answer: of all fields that may count the largest, since which of them a provider reads is known to it alone. */
export function outputBound(json: Fields, reader: OutputReader): OutputBound {
  const found: FoundBound = { most: null, answers: 1 }
  lookInto(json, found)
  const isReplaced = lookIntoHeld(json, found)
  return { ...found, isSure: !isReplaced && isNamed(json, reader) }
}

interface FoundBound {
  most: number | null
  answers: number
}

function isNamed(json: Fields, { dialect, readsNewerName }: OutputReader): boolean {
  if (dialect === null) return false
  if (readsNewerName && positive(json[newerName]) !== null) return true
  for (const [holder, name] of placesOf[dialect] ?? []) {
    const fields = holder === null ? json : json[holder]
    if (isFields(fields) && positive(fields[name]) !== null) return true
  }
  return false
}

function lookInto(json: Fields, found: FoundBound): void {
  note(json, found)
  for (const holder of holders) {
    const fields = json[holder]
    if (isFields(fields)) note(fields, found)
  }
}

/** Returns true if they may take the place of the bound. */
function lookIntoHeld(json: Fields, found: FoundBound): boolean {
  let isReplaced = false
  for (const own of sentFields(json)) {
    if (own === json || holders.some((holder) => json[holder] === own)) continue
    lookInto(own, found)
    isReplaced ||= names.some((name) => Object.hasOwn(own, name)) || replaced.some((holder) => Object.hasOwn(own, holder))
    isReplaced ||= isFields(own['options']) && Object.hasOwn(own['options'], 'num_predict')
  }
  return isReplaced
}

function note(fields: Fields, found: FoundBound): void {
  for (const name of names) {
    const bound = positive(fields[name])
    if (bound !== null && bound > (found.most ?? 0)) found.most = bound
  }
  for (const name of answerNames) found.answers = Math.max(found.answers, positive(fields[name]) ?? 1)
}

/** Returns a figure of a request as a whole number; null: it names none. Some providers read figures in texts. */
export function positive(value: unknown): number | null {
  const figure = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof figure === 'number' && Number.isFinite(figure) && figure > 0 ? Math.min(Math.ceil(figure), mostNamed) : null
}

/** More than any model takes or gives: products of such figures stay numbers. */
const mostNamed = 1e12
