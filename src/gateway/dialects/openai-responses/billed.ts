import type { Fields } from '../../../lib/json/fields.ts'
import { Collector, countAt, fieldsIn, type ReadCounts } from '../neutral/disjoint.ts'

/** Reads the usage of responses, images and transcriptions. Every part is within the total of its side. */
export function readCounts(usage: Fields, { isImage }: { readonly isImage: boolean }): ReadCounts {
  const collector = new Collector()
  // Transcriptions write `input_token_details`.
  const details = usage['input_tokens_details'] === undefined ? 'input_token_details' : 'input_tokens_details'
  const cached = fieldsIn(fieldsIn(usage, details), 'cached_tokens_details')
  const cachedAudio = countAt(cached, 'audio_tokens')
  const cachedImage = countAt(cached, 'image_tokens')
  collector.whole(countAt(usage, 'input_tokens'))
  collector.part('cache_read_audio', cachedAudio)
  collector.part('cache_read_image', cachedImage)
  collector.part('cache_read', Math.max(0, countAt(usage, details, 'cached_tokens') - cachedAudio - cachedImage))
  collector.part('cache_write', countAt(usage, details, 'cache_write_tokens'))
  collector.part('input_audio', Math.max(0, countAt(usage, details, 'audio_tokens') - cachedAudio))
  collector.part('input_image', Math.max(0, countAt(usage, details, 'image_tokens') - cachedImage))
  collector.rest('input')
  const output = countAt(usage, 'output_tokens')
  collector.total(countAt(usage, 'total_tokens'), countAt(usage, 'input_tokens') + output)
  const text = countAt(usage, 'output_tokens_details', 'text_tokens')
  collector.whole(output)
  collector.part(
    'output_audio',
    countAt(usage, 'output_tokens_details', 'audio_tokens') || countAt(usage, 'output_token_details', 'audio_tokens'),
  )
  collector.part('output_image', isImage ? Math.max(0, output - text) : countAt(usage, 'output_tokens_details', 'image_tokens'))
  collector.part('reasoning', countAt(usage, 'output_tokens_details', 'reasoning_tokens'))
  collector.rest('output')
  return collector.read()
}
