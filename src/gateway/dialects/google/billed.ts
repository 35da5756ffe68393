import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Counts } from '../neutral/counts.ts'
import { Collector, countAt, type ReadCounts } from '../neutral/disjoint.ts'

/** Returns the kinds of tokens that have rates of their own, apart from those of sound that were not cached; they are within their totals. */
export function kindsOf(usage: Fields): Counts {
  const [cachedAudio, cachedImage] = [ofModality(usage, 'cacheTokensDetails', 'AUDIO'), ofModality(usage, 'cacheTokensDetails', 'IMAGE')]
  return {
    cache_read_audio: cachedAudio,
    cache_read_image: cachedImage,
    input_image: Math.max(0, ofModality(usage, 'promptTokensDetails', 'IMAGE') - cachedImage),
    input_video: Math.max(0, ofModality(usage, 'promptTokensDetails', 'VIDEO') - ofModality(usage, 'cacheTokensDetails', 'VIDEO')),
    output_image: ofModality(usage, 'candidatesTokensDetails', 'IMAGE'),
    output_video: ofModality(usage, 'candidatesTokensDetails', 'VIDEO'),
  }
}

/** Reads Gemini's usage: cached tokens are within the prompt, thoughts and prompts of tools are apart. */
export function readCounts(usage: Fields): ReadCounts {
  const collector = new Collector()
  const kinds = kindsOf(usage)
  const { cache_read_audio: cachedAudio = 0, cache_read_image: cachedImage = 0 } = kinds
  collector.whole(countAt(usage, 'promptTokenCount'))
  collector.part('cache_read_audio', cachedAudio)
  collector.part('cache_read_image', cachedImage)
  collector.part('cache_read', Math.max(0, countAt(usage, 'cachedContentTokenCount') - cachedAudio - cachedImage))
  collector.part('input_audio', Math.max(0, ofModality(usage, 'promptTokensDetails', 'AUDIO') - cachedAudio))
  collector.part('input_image', kinds.input_image ?? 0)
  collector.part('input_video', kinds.input_video ?? 0)
  collector.rest('input')
  collector.add('input', countAt(usage, 'toolUsePromptTokenCount'))
  collector.whole(countAt(usage, 'candidatesTokenCount'))
  collector.part('output_audio', ofModality(usage, 'candidatesTokensDetails', 'AUDIO'))
  collector.part('output_image', kinds.output_image ?? 0)
  collector.part('output_video', kinds.output_video ?? 0)
  collector.rest('output')
  collector.add('reasoning', countAt(usage, 'thoughtsTokenCount'))
  const spoken = countAt(usage, 'promptTokenCount') + countAt(usage, 'candidatesTokenCount')
  const beside = countAt(usage, 'toolUsePromptTokenCount') + countAt(usage, 'thoughtsTokenCount')
  collector.total(countAt(usage, 'totalTokenCount'), spoken + beside)
  return collector.read()
}

function ofModality(usage: Fields, list: string, modality: string): number {
  const details = usage[list]
  const found: unknown = Array.isArray(details) ? details.find((one) => isFields(one) && one['modality'] === modality) : null
  return isFields(found) ? countAt(found, 'tokenCount') : 0
}
