/** How a dimension of prices is counted, and where to look when a model has no rate for it. */
export interface DimensionFacts {
  readonly unit: string
  /** How many counted units one rate is for: an hour has 3,600,000 counted milliseconds. */
  readonly per: bigint
  /** The dimension whose rate applies when the model has none. */
  readonly parent: string | null
}

const token = (parent: string | null = null): DimensionFacts => ({ unit: 'token', per: 1n, parent })
const each = (unit: string): DimensionFacts => ({ unit, per: 1n, parent: null })
const time = (milliseconds: bigint): DimensionFacts => ({ unit: 'millisecond', per: milliseconds, parent: null })
const [second, minute, hour] = [time(1000n), time(60_000n), time(3_600_000n)]

/** Every dimension that a price can have. Time is counted in milliseconds and megapixels in pixels, so that every count is whole. */
export const dimensions = {
  input: token(),
  output: token(),
  cache_read: token('input'),
  cache_read_explicit: token('cache_read'),
  cache_write: token('input'),
  cache_write_1h: token('cache_write'),
  cache_write_12h: token('cache_write'),
  reasoning: token('output'),
  input_audio: token('input'),
  output_audio: token('output'),
  cache_read_audio: token('cache_read'),
  cache_write_audio: token('cache_write'),
  input_image: token('input'),
  output_image: token('output'),
  cache_read_image: token('cache_read'),
  input_video: token('input'),
  output_video: token('output'),
  citation: token('input'),
  training: token(),
  routing: token(),
  image: each('image'),
  input_image_each: each('image'),
  megapixel: { unit: 'pixel', per: 1_000_000n, parent: null },
  video_second: second,
  input_video_second: second,
  input_audio_second: second,
  input_audio_minute: minute,
  input_audio_hour: hour,
  output_audio_second: second,
  output_audio_minute: minute,
  output_audio_hour: hour,
  audio_second: second,
  audio_minute: minute,
  audio_hour: hour,
  input_character: each('character'),
  output_character: each('character'),
  page: each('page'),
  annotated_page: each('page'),
  search_unit: each('search unit'),
  request: each('request'),
  text_message: each('message'),
  web_search: each('call'),
  web_search_low: each('call'),
  web_search_medium: each('call'),
  web_search_high: each('call'),
  enterprise_web_search: each('call'),
  maps: each('call'),
  file_search: each('call'),
  x_search: each('call'),
  attachment_search: each('call'),
  code_execution: each('call'),
  code_session: each('session'),
  training_hour: hour,
  // An answer that used more tokens than its provider stated and its caller got. No list has a rate for it.
  unseen_output: each('answer'),
  // A request whose provider stated no prompt, and read more than its body shows: files, earlier turns, packed documents. No list has a rate for it.
  unseen_input: each('request'),
  // An answer for which the provider may have run tools without a known fee. No list has a rate for it either.
  unpriced_tool: each('answer'),
  // An answer in a tier that costs more, by a model without rates for it.
  unpriced_tier: each('answer'),
} satisfies Readonly<Record<string, DimensionFacts>>

export type Dimension = keyof typeof dimensions

/** Returns true if prices can have the dimension. */
export const isDimension = (name: string): name is Dimension => Object.hasOwn(dimensions, name)

/**
 * The usage by dimension. The counts are disjoint: `input` has no token that `cache_read` or `input_audio` counts, and `output` none that `reasoning`
 * counts. Their sum is the provider's total.
 */
export type Counts = { readonly [Name in Dimension]?: number }

/** Returns the sums of counts, dimension by dimension; null: there are none. */
export function sumCounts(all: readonly (Counts | null)[]): Counts | null {
  const known = all.filter((counts) => counts !== null)
  if (known.length === 0) return null
  const sum: Partial<Record<Dimension, number>> = {}
  for (const counts of known) for (const name in counts) if (isDimension(name)) sum[name] = (sum[name] ?? 0) + (counts[name] ?? 0)
  return sum
}

/** Returns the counts that are not 0; null: all are. */
export function toldCounts(counts: Counts): Counts | null {
  const told = Object.entries(counts).filter(([, count]) => count > 0)
  return told.length === 0 ? null : Object.fromEntries(told)
}
