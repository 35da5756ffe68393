import { type Fields, isFields } from '../../lib/json/fields.ts'
import { asksSound } from '../dialects/asks-sound.ts'
import type { Counts, Dimension } from '../dialects/neutral/counts.ts'
import type { PriceEntry } from '../prices/entry.ts'
import { priceAmount } from '../prices/price-usage.ts'
import type { PriceFacts } from '../prices/rates.ts'
import type { FoundPrices } from '../prices/resolve.ts'
import { searchFeeOf, searchSizeOf } from '../prices/search-fee.ts'
import type { RequestBody } from '../wire/body.ts'
import { promptsOf } from './estimate.ts'
import { holdsWord } from './held-words.ts'
import { sentFields } from '../dialects/sent-fields.ts'
import { partsOf } from './prompt-parts.ts'
import { soldCalls } from './sold-calls.ts'

export interface Tokens {
  readonly input: number
  readonly output: number
}

/** A conversation as its tokens are priced. */
interface Conversation {
  readonly body: RequestBody
  readonly facts: PriceFacts
  readonly found: FoundPrices
  readonly isStrict: boolean
  /** True: its prompt has sound that the body does not show. */
  readonly mayHear: boolean
}

/** Counts the tokens of a conversation as the dearest that they may be, and the tools that its provider may run and sell beside them. */
export function tokenCounts({ input, output }: Tokens, of: Conversation): Counts {
  return { [dearest(readAs(of), input, of)]: input, [dearest(saidAs(of), output, of)]: output, ...toolCounts(of.body.json, of.found) }
}

function dearest(names: readonly Dimension[], count: number, { facts, found }: Conversation): Dimension {
  let [best = 'input'] = names
  if (names.length === 1) return best
  const amountOf = (name: Dimension): bigint => priceAmount({ counts: { [name]: count }, facts }, found) ?? 0n
  for (const name of names) if (amountOf(name) > amountOf(best)) best = name
  return best
}

/** Returns the kinds of tokens that a prompt may have. It is only looked through for those with a rate of their own. */
function readAs({ body, found: { entry, model }, mayHear }: Conversation): readonly Dimension[] {
  const rated = ratedBy(entry)
  const { pictures, hasFilm, hasSound } = partsOf(body.json)
  const names: Dimension[] = ['input']
  if (heard.some((name) => rated.has(name)) && (mayHear || hasSound || holdsWord(body, 'input_audio'))) names.push('input_audio')
  if (pictures > 0 || hasFilm) names.push('input_image')
  if (hasFilm) names.push('input_video')
  if (!isWritten(body, rated, model)) return names
  if (names.includes('input_audio')) names.push('cache_write_audio')
  names.push(holdsWord(body, '1h') ? 'cache_write_1h' : 'cache_write')
  return names
}

const heard: readonly Dimension[] = ['input_audio', 'cache_write_audio']
const written: readonly Dimension[] = ['cache_write', 'cache_write_1h', 'cache_write_audio']
/** Models whose prompts are written into a cache without a request for it: platform.openai.com/docs/guides/prompt-caching. */
const writtenUnasked = /\bgpt-/i

/** Returns true for a prompt that may be written into a cache, at a price. */
const isWritten = (body: RequestBody, rated: ReadonlySet<string>, model: string): boolean =>
  body.bytes !== null &&
  written.some((name) => rated.has(name)) &&
  (writtenUnasked.test(model) || holdsWord(body, 'cache_control') || holdsWord(body, 'cachePoint'))

/** Returns the kinds of tokens that an answer may have. */
function saidAs({ body: { json }, found: { entry }, isStrict }: Conversation): readonly Dimension[] {
  const names: Dimension[] = ['output']
  // Thought costs more than words at a few models, which a strict limit expects of all of the answer.
  if (isStrict && ratedBy(entry).has('reasoning')) names.push('reasoning')
  if (isFields(json) && sentFields(json).some(asksSound)) names.push('output_audio')
  if (draws(entry)) names.push('output_image')
  return names
}

/** Returns true for a model of conversations that may draw, at a rate of its own. */
const draws = (entry: PriceEntry): boolean => ratedBy(entry).has('output_image') && (entry.out?.includes('image') ?? true)

/** A few lists name images as output of models that give words alone. */
const drawing = /image|banana/i

/** Returns true for a model of conversations that draws, and whose images have no known price. */
export const drawsUnpriced = ({ entry, model }: FoundPrices): boolean =>
  entry.free !== true && entry.out?.includes('image') === true && drawing.test(model) && !ratedBy(entry).has('output_image')

/** The calls of tools and the fees of a request beside its tokens; null: there are none. */
export function toolCounts(json: unknown, found: FoundPrices): Counts | null {
  const calls = isFields(json) ? soldCalls(json) : null
  const fee = isFields(json) ? (searchFee(json, found) ?? requestFeeOf(found.entry, json)) : null
  return fee === null ? calls : { ...calls, web_search: 0, [fee]: isFields(json) ? promptsOf(json) : 1 }
}

const namesSearch = ({ web_search_options: options }: Fields): boolean => isFields(options)

const feesBySize = ['web_search_high', 'web_search_medium', 'web_search_low'] as const satisfies readonly Dimension[]

/** Returns the dearest fee that a model may take because it searches for every request. */
function searchFee(json: Fields, found: FoundPrices): Dimension | null {
  const fees = sentFields(json).map((fields) => searchFeeOf(found, fields))
  return feesBySize.find((fee) => fees.includes(fee)) ?? fees[0] ?? null
}

/** Returns the fee that Perplexity takes for a request: that of the size which it names, or else the dearest. */
function requestFeeOf(entry: PriceEntry, json: Fields): Dimension | null {
  const dearestFee = feesBySize.find((fee) => ratedBy(entry).has(fee)) ?? null
  const sizes = new Set(sentFields(json).filter(namesSearch).map(searchSizeOf))
  const [size] = dearestFee === null || sizes.size > 1 ? [] : sizes
  return feesBySize.find((fee) => fee === `web_search_${size}`) ?? dearestFee
}

const ratedByEntry = new WeakMap<PriceEntry, ReadonlySet<string>>()

/** Returns the dimensions for which a model has a rate at any time. */
export function ratedBy(entry: PriceEntry): ReadonlySet<string> {
  const known = ratedByEntry.get(entry)
  if (known !== undefined) return known
  const rated = new Set(entry.prices.flatMap(({ rates, when = [] }) => [rates, ...when.map((one) => one.rates)].flatMap(Object.keys)))
  ratedByEntry.set(entry, rated)
  return rated
}
