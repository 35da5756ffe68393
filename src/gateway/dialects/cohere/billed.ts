import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { Collector, countAt, type ReadCounts } from '../neutral/disjoint.ts'

/** Reads Cohere's `billed_units`; `tokens` beside it has the template too, which is not billed. */
export function readCounts(usage: Fields): ReadCounts {
  const collector = new Collector()
  const units = isFields(usage['billed_units']) ? usage['billed_units'] : usage
  collector.split(countAt(units, 'input_tokens'), 'input', [['cache_read', countAt(usage, 'cached_tokens')]])
  collector.add(
    ['output', countAt(units, 'output_tokens')],
    ['search_unit', countAt(units, 'search_units')],
    ['input_image', countAt(units, 'image_tokens')],
    ['input_image_each', countAt(units, 'images')],
  )
  return collector.read()
}
