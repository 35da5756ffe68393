import type { Fields } from '../../../lib/json/fields.ts'
import type { Counts, Dimension } from '../neutral/counts.ts'
import { Collector, countAt, fieldsIn, type ReadCounts } from '../neutral/disjoint.ts'

/** Hosts whose `completion_tokens` leave out the model's thoughts, although the total has them. */
const thoughtsApart: ReadonlySet<string> = new Set(['google', 'vertex-ai'])

/** Returns the counts with rates of their own, apart from sound that was not cached: kinds of tokens within their totals, and those beside them. */
export function kindsOf(usage: Fields): Counts {
  const fee = feeOf(usage)
  return {
    cache_read_audio: cachedAudioOf(usage),
    input_image: countAt(usage, 'prompt_tokens_details', 'image_tokens'),
    output_image: countAt(usage, 'completion_tokens_details', 'image_tokens'),
    citation: countAt(usage, 'citation_tokens'),
    ...(fee !== null && { [fee]: 1 }),
  }
}

const cachedAudioOf = (usage: Fields): number =>
  countAt(fieldsIn(fieldsIn(usage, 'prompt_tokens_details'), 'cached_tokens_details'), 'audio_tokens')

/** Perplexity's fee for a request, by how much of the search results the model reads; models that count their searches pay for those instead. */
const searchesBySize: Readonly<Record<string, Dimension>> = {
  low: 'web_search_low',
  medium: 'web_search_medium',
  high: 'web_search_high',
}

function feeOf(usage: Fields): Dimension | null {
  const size = usage['search_context_size']
  return typeof size === 'string' && countAt(usage, 'num_search_queries') === 0 ? (searchesBySize[size] ?? null) : null
}

/**
 * Reads the usage of chat and text completions and of embeddings. Cached and written tokens and those of audio are within `prompt_tokens`. Reasoning
 * is within `completion_tokens`, unless the provider's own total shows that it is not.
 */
export function readCounts(usage: Fields, provider: string): ReadCounts {
  const collector = new Collector()
  // Mistral's tools put their findings into the prompt, beside its own figure.
  const found = countAt(usage, 'connector_tokens')
  const total = Math.max(0, countAt(usage, 'total_tokens') - found)
  const completion = countAt(usage, 'completion_tokens')
  // Some hosts state the total of an embedding alone.
  const prompt = countAt(usage, 'prompt_tokens') || (completion === 0 ? total : 0)
  const cached = cachedOf(usage)
  const cachedAudio = cachedAudioOf(usage)
  collector.whole(prompt)
  collector.part('cache_read_audio', cachedAudio)
  collector.part('cache_read', Math.max(0, cached - cachedAudio))
  collector.part('cache_write', countAt(usage, 'prompt_tokens_details', 'cache_write_tokens'))
  collector.part('input_audio', Math.max(0, countAt(usage, 'prompt_tokens_details', 'audio_tokens') - cachedAudio))
  collector.part('input_image', countAt(usage, 'prompt_tokens_details', 'image_tokens'))
  collector.rest('input')
  const reasoning = reasoningOf(usage)
  const answer = answerTokens({ provider, prompt, completion, total, reasoning })
  collector.total(total, prompt + answer, prompt + completion)
  collector.whole(answer)
  collector.part('output_audio', countAt(usage, 'completion_tokens_details', 'audio_tokens'))
  collector.part('output_image', countAt(usage, 'completion_tokens_details', 'image_tokens'))
  collector.part('reasoning', reasoning)
  collector.rest('output')
  collector.add('input', found)
  collector.add('citation', countAt(usage, 'citation_tokens'))
  // xAI counts the sources that it looked into.
  collector.add('web_search', countAt(usage, 'num_search_queries') || countAt(usage, 'num_sources_used'))
  const fee = feeOf(usage)
  if (fee !== null) collector.add(fee, 1)
  return collector.read()
}

/** DeepSeek and Moonshot state cached tokens at the top, xAI under another name. */
const cachedOf = (usage: Fields): number =>
  countAt(usage, 'prompt_tokens_details', 'cached_tokens') ||
  countAt(usage, 'prompt_cache_hit_tokens') ||
  countAt(usage, 'cached_tokens') ||
  countAt(usage, 'cached_prompt_text_tokens')

const reasoningOf = (usage: Fields): number =>
  countAt(usage, 'completion_tokens_details', 'reasoning_tokens') || countAt(usage, 'reasoning_tokens')

interface Totals {
  readonly provider: string
  readonly prompt: number
  readonly completion: number
  readonly total: number
  readonly reasoning: number
}

/** Returns all tokens of the answer. The provider's total settles whether reasoning is among those of the completion. */
function answerTokens({ provider, prompt, completion, total, reasoning }: Totals): number {
  if (thoughtsApart.has(provider) && total > prompt + completion) return total - prompt
  const isApart = reasoning > completion || (reasoning > 0 && total === prompt + completion + reasoning)
  return isApart ? completion + reasoning : completion
}
