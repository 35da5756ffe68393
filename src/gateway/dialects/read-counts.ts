import { type Fields, isFields } from '../../lib/json/fields.ts'
import { readCounts as anthropic } from './anthropic/billed.ts'
import { readCounts as converse, readInvocationCounts as invocation } from './bedrock/billed.ts'
import { readCounts as cohere } from './cohere/billed.ts'
import { readCounts as google } from './google/billed.ts'
import { Collector, countAt, type ReadCounts } from './neutral/disjoint.ts'
import { readCounts as chat } from './openai-chat/billed.ts'
import { readCounts as responses } from './openai-responses/billed.ts'

/** The facts that decide how a usage object is read, where its own fields do not. */
export interface CountsAbout {
  /** A row of the catalogue. */
  readonly provider: string
  readonly operation: string
}

type Reader = (usage: Fields, about: CountsAbout) => ReadCounts

const recordings: ReadonlySet<string> = new Set(['createTranscription', 'createTranslation'])
const images: ReadonlySet<string> = new Set(['imageGenerate', 'imageEdit', 'imageVary'])
const isImage = ({ operation }: CountsAbout): boolean => images.has(operation)

/** Providers that answer in the words of Cohere's own API. */
const coheres: ReadonlySet<string> = new Set(['cohere', 'azure-ai'])

/**
 * The words by which a usage object is known, in the order in which they are looked for: it is read in the words that it has. `of`: the
 * providers at which a word means this alone; absent: all.
 */
const readers: readonly (readonly [field: string, read: Reader, of?: ReadonlySet<string>])[] = [
  ['billed_units', cohere],
  ['search_units', cohere],
  ['image_tokens', cohere, coheres],
  ['images', cohere, coheres],
  ['promptTokenCount', google],
  ['totalTokenCount', google],
  ['cache_read_input_tokens', anthropic],
  ['cache_creation_input_tokens', anthropic],
  ['cache_creation', anthropic],
  [
    'input_tokens',
    (usage, about) => (isAnthropic(usage) ? anthropic(usage) : spoken(responses(usage, { isImage: isImage(about) }), about)),
  ],
  ['output_tokens', anthropic],
  ['prompt_tokens', (usage, about) => recorded(usage, about) ?? chat(usage, about.provider)],
  ['inputTokens', converse],
  ['inputTokenCount', invocation],
  ['prompt_eval_count', (usage) => bare(usage, 'prompt_eval_count', 'eval_count')],
  ['eval_count', (usage) => bare(usage, 'prompt_eval_count', 'eval_count')],
  ['inputTextTokenCount', (usage) => bare(usage, 'inputTextTokenCount', null)],
  ['prompt_token_count', (usage) => bare(usage, 'prompt_token_count', 'generation_token_count')],
  ['pages_processed', (usage) => one('page', countAt(usage, 'pages_processed'))],
  ['seconds', (usage) => one('input_audio_second', milliseconds(usage['seconds']))],
  ['total_input_tokens', interactions],
  ['total_tokens', (usage) => one('input', countAt(usage, 'total_tokens'))],
]

/** Returns true for Anthropic's own words, whose counts of its cache may be null. */
const isAnthropic = (usage: Fields): boolean =>
  isFields(usage['server_tool_use']) ||
  Object.hasOwn(usage, 'cache_read_input_tokens') ||
  Object.hasOwn(usage, 'cache_creation_input_tokens')

/** The tokens of speech are sound. */
function spoken(read: ReadCounts, { operation }: CountsAbout): ReadCounts {
  const { output, ...others } = read.counts
  return operation !== 'createSpeech' || output === undefined
    ? read
    : { ...read, counts: { ...others, output_audio: output + (others.output_audio ?? 0) } }
}

/** Reads counts that stand beside each other in the answer itself. */
function bare(usage: Fields, input: string, output: string | null): ReadCounts {
  const collector = new Collector()
  collector.add('input', countAt(usage, input))
  if (output !== null) collector.add('output', countAt(usage, output))
  return collector.read()
}

/** Reads the usage of Gemini's Interactions API: cached tokens are within the input, thoughts and prompts of tools are apart. */
function interactions(usage: Fields): ReadCounts {
  const collector = new Collector()
  collector.whole(countAt(usage, 'total_input_tokens'))
  collector.part('cache_read', countAt(usage, 'total_cached_tokens'))
  collector.rest('input')
  collector.add('input', countAt(usage, 'total_tool_use_tokens'))
  collector.add('output', countAt(usage, 'total_output_tokens'))
  collector.add('reasoning', countAt(usage, 'total_thought_tokens'))
  return collector.read()
}

/** Returns true for a total that stands alone, as those of vectors and rankings do: beside figures of unknown names it is no count of input. */
const isAlone = (usage: Fields): boolean => Object.keys(usage).every((name) => name === 'total_tokens' || typeof usage[name] !== 'number')

/** Mistral charges the length of a recording, and states tokens beside it. */
function recorded({ prompt_audio_seconds: seconds }: Fields, { operation }: CountsAbout): ReadCounts | null {
  return recordings.has(operation) && typeof seconds === 'number' ? one('input_audio_second', milliseconds(seconds)) : null
}

/** Reads a provider's usage object into disjoint counts; null when it has no words that are known. */
export function readCounts(usage: Fields, about: CountsAbout): ReadCounts | null {
  const found = readers.find(
    ([field, , of]) =>
      usage[field] !== undefined &&
      usage[field] !== null &&
      (of === undefined || of.has(about.provider)) &&
      (field !== 'total_tokens' || isAlone(usage)),
  )
  if (found === undefined) return null
  const read = found[1](usage, about)
  return !read.inconsistent && hasNoCount(usage) ? { ...read, inconsistent: true } : read
}

/** Returns true if a figure is below 0, or one of tokens is no whole number, also in an object within; it is read as 0. */
function hasNoCount(usage: Fields): boolean {
  for (const name in usage) {
    const value = usage[name]
    if (
      typeof value === 'number' ? value < 0 || (!Number.isSafeInteger(value) && ofTokens.test(name)) : isFields(value) && hasNoCount(value)
    )
      return true
  }
  return false
}

/** Returns true if a provider states that no token was used: its figures of tokens are all 0. */
export const tellsNone = (usage: Fields | null): boolean => usage !== null && tokenFigures(usage) === 0

/** Returns the sum of all figures of tokens; null: there is none. */
function tokenFigures(usage: Fields): number | null {
  let sum: number | null = null
  for (const name in usage) {
    const value = usage[name]
    const figure = isFields(value) ? tokenFigures(value) : typeof value === 'number' && ofTokens.test(name) ? Math.abs(value) : null
    if (figure !== null) sum = (sum ?? 0) + figure
  }
  return sum
}

const ofTokens = /tokens?(?:count)?$/i

const one = (dimension: keyof ReadCounts['counts'], count: number): ReadCounts => ({
  counts: count > 0 ? { [dimension]: count } : {},
  inconsistent: false,
})

/** Returns a duration in whole milliseconds; the provider writes seconds, with a fraction. */
export const milliseconds = (seconds: unknown): number =>
  typeof seconds === 'number' && seconds > 0 && seconds < 1e9 ? Math.round(seconds * 1000) : 0
