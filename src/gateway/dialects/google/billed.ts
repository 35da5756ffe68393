import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { Collector, countAt, type ReadCounts } from '../neutral/disjoint.ts'

/** Reads Gemini's usage: cached tokens are within the prompt, thoughts and prompts of tools are apart. */
export function readCounts(usage: Fields): ReadCounts {
  const collector = new Collector()
  const [cachedAudio, cachedImage] = [ofModality(usage, 'cacheTokensDetails', 'AUDIO'), ofModality(usage, 'cacheTokensDetails', 'IMAGE')]
  const prompt = (modality: string) => ofModality(usage, 'promptTokensDetails', modality)
  const answer = (modality: string) => ofModality(usage, 'candidatesTokensDetails', modality)
  collector.whole(countAt(usage, 'promptTokenCount'))
  collector.part('cache_read_audio', cachedAudio)
  collector.part('cache_read_image', cachedImage)
  collector.part('cache_read', Math.max(0, countAt(usage, 'cachedContentTokenCount') - cachedAudio - cachedImage))
  collector.part('input_audio', Math.max(0, prompt('AUDIO') - cachedAudio))
  collector.part('input_image', Math.max(0, prompt('IMAGE') - cachedImage))
  collector.part('input_video', prompt('VIDEO'))
  collector.rest('input')
  collector.add('input', countAt(usage, 'toolUsePromptTokenCount'))
  collector.whole(countAt(usage, 'candidatesTokenCount'))
  collector.part('output_audio', answer('AUDIO'))
  collector.part('output_image', answer('IMAGE'))
  collector.part('output_video', answer('VIDEO'))
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
