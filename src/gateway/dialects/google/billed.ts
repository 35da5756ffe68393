import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { Collector, countAt, type ReadCounts } from '../neutral/disjoint.ts'

/** Reads Gemini's usage: cached tokens are within the prompt, thoughts and prompts of tools are apart. */
export function readCounts(usage: Fields): ReadCounts {
  const collector = new Collector()
  const [cachedAudio, cachedImage] = [ofModality(usage, 'cacheTokensDetails', 'AUDIO'), ofModality(usage, 'cacheTokensDetails', 'IMAGE')]
  const prompt = (modality: string) => ofModality(usage, 'promptTokensDetails', modality)
  const answer = (modality: string) => ofModality(usage, 'candidatesTokensDetails', modality)
  collector.split(countAt(usage, 'promptTokenCount'), 'input', [
    ['cache_read_audio', cachedAudio],
    ['cache_read_image', cachedImage],
    ['cache_read', Math.max(0, countAt(usage, 'cachedContentTokenCount') - cachedAudio - cachedImage)],
    ['input_audio', Math.max(0, prompt('AUDIO') - cachedAudio)],
    ['input_image', Math.max(0, prompt('IMAGE') - cachedImage)],
    ['input_video', prompt('VIDEO')],
  ])
  collector.add(['input', countAt(usage, 'toolUsePromptTokenCount')])
  collector.split(countAt(usage, 'candidatesTokenCount'), 'output', [
    ['output_audio', answer('AUDIO')],
    ['output_image', answer('IMAGE')],
    ['output_video', answer('VIDEO')],
  ])
  collector.add(['reasoning', countAt(usage, 'thoughtsTokenCount')])
  return collector.read()
}

function ofModality(usage: Fields, list: string, modality: string): number {
  const details = usage[list]
  const found: unknown = Array.isArray(details) ? details.find((one) => isFields(one) && one['modality'] === modality) : null
  return isFields(found) ? countAt(found, 'tokenCount') : 0
}
