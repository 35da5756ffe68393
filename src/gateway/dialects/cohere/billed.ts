import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { Collector, countAt, type ReadCounts } from '../neutral/disjoint.ts'

/** Reads Cohere's `billed_units`; `tokens` beside it has the template too, which is not billed. */
export function readCounts(usage: Fields): ReadCounts {
  const collector = new Collector()
  const units = isFields(usage['billed_units']) ? usage['billed_units'] : usage
  collector.whole(countAt(units, 'input_tokens'))
  // Tokens of the template may come from the cache too: no more of them are billed than of the prompt.
  collector.part('cache_read', Math.min(countAt(usage, 'cached_tokens'), countAt(units, 'input_tokens')))
  collector.rest('input')
  collector.add('output', countAt(units, 'output_tokens'))
  collector.add('search_unit', countAt(units, 'search_units'))
  const image = countAt(units, 'image_tokens')
  collector.add('input_image', image)
  // Pictures are paid by the token, or else by the piece.
  if (image === 0) collector.add('input_image_each', countAt(units, 'images'))
  return collector.read()
}
