import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Counts, Dimension } from '../dialects/neutral/counts.ts'
import type { Task } from '../operations/operations.ts'
import type { ConditionalRates, PriceEntry } from '../prices/entry.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { priceAmount } from '../prices/price-usage.ts'
import { findRate, holdingRates, periodAt, type PriceFacts } from '../prices/rates.ts'
import { type FoundPrices, findPrices } from '../prices/resolve.ts'
import { searchFeeOf, searchSizeOf } from '../prices/search-fee.ts'
import { servedModel } from '../targets/azure-deployment.ts'
import type { Target } from '../targets/target.ts'
import { placeOf } from '../metering/region.ts'
import type { RequestBody } from '../wire/body.ts'
import { isForm } from '../wire/form.ts'
import { outputTokens, promptsOf } from './estimate.ts'
import { type BoundForm, boundForm, tokensOfForm, tokensOfImage } from './form-bound.ts'
import { inputBound, strictInputBound } from './input-bound.ts'
import type { MoneyTerms } from './limit.ts'
import { type OutputReader, positive, withOptions } from './output-bound.ts'
import { soldCalls, toolDimensions } from './sold-calls.ts'

/** A request that is about to be sent to a target. */
export interface PricedRequest {
  readonly target: Target
  readonly body: RequestBody
  readonly contentType: string
  /** Unknown: the path is the provider's own. Null: it runs no model. */
  readonly task: Task | 'unknown' | null
  readonly reader: OutputReader
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** Tokens of an answer for which the request names no bound. */
  readonly usual: number
}

const picoPerNano = 1000n

/**
 * Returns the most that a request is expected to cost, in whole nano-US-dollars; null: its price is not known. `strict` bounds it: as many
 * tokens as bytes, and as much output as the model can give.
 */
export function worstCost(request: PricedRequest, prices: PriceSource, output: Exclude<MoneyTerms['output'], 'inject'>): number | null {
  const { target } = request
  const terms = target.view?.prices ?? null
  // Provisioned throughput that is not charged may spill over to charged capacity.
  if (request.task === null || request.task === 'token-count') return 0
  const found = findPrices({ provider: target.providerId, answered: servedModel(target), sent: target.model, terms }, prices)
  if (found === null) return terms?.skipsCost === true ? 0 : null
  const { form, json } = fieldsOf(request)
  const tokens = tokensOf(request, found, { json, form, output })
  const facts = factsOf(request, found, { json, promptTokens: tokens.input })
  for (const counts of waysToSell(request, { json, tokens, found, facts })) {
    const amount = counts.image === undefined ? priceAmount({ counts, facts }, found) : imageAmount(counts, facts, found)
    if (amount !== null) return Number((amount + picoPerNano - 1n) / picoPerNano)
  }
  return null
}

const noFields: Fields = {}

interface AskedFields {
  readonly json: Fields
  /** The form that has them; null: it is JSON, or not held whole, or no reader reads it. */
  readonly form: BoundForm | null
}

function fieldsOf({ body, contentType }: PricedRequest): AskedFields {
  const { kind, bytes, json } = body
  if (kind !== 'bytes' || bytes === null || !isForm(contentType)) return { json: isFields(json) ? json : noFields, form: null }
  const form = boundForm(bytes, contentType)
  return { json: form?.fields ?? noFields, form }
}

interface Tokens {
  readonly input: number
  readonly output: number
}

function tokensOf(
  { body, task, usual, reader }: PricedRequest,
  { entry: { limits = {} } }: FoundPrices,
  { json, form, output }: { json: Fields; form: BoundForm | null; output: Exclude<MoneyTerms['output'], 'inject'> },
): Tokens {
  const isStrict = output === 'strict'
  const window = Math.min(limits.input ?? Infinity, limits.context ?? Infinity)
  const input = form === null ? inputOf(body, window, isStrict) : tokensOfForm(form, isStrict)
  if (task === 'embedding') return { input, output: 0 }
  return {
    input,
    output: outputTokens(json, reader, { unbounded: isStrict ? (limits.output ?? longestOutput) : usual, most: limits.output }),
  }
}

function inputOf(body: RequestBody, window: number, isStrict: boolean): number {
  const { tokens, isOpen } = isStrict ? strictInputBound(body) : inputBound(body)
  return isOpen && window !== Infinity ? window : Math.min(tokens, window)
}

const lengthOf = ({ bytes, length }: RequestBody): number | null => bytes?.length ?? length

/** The output bound of a model without a known one. */
const longestOutput = 128_000

function factsOf(
  { target, receivedAt }: PricedRequest,
  found: FoundPrices,
  { json, promptTokens }: { json: Fields; promptTokens: number },
): PriceFacts {
  const { geo, region } = placeOf(target, found)
  // Each by its name, as in the log's record.
  return {
    startedAt: receivedAt,
    mode: dearestMode(json),
    promptTokens,
    geo: geo ?? dearestPlace(found.entry),
    region,
    size: text(json['size']),
    quality: text(json['quality']),
    hasTokens: promptTokens > 0,
  }
}

/** The answer states where it was made: an unnamed place may be the dearest. */
function dearestPlace({ uplift }: PriceEntry): string | null {
  let dearest: string | null = null
  for (const name in uplift) if ((uplift[name] ?? 0) > Math.max(1000, dearest === null ? 0 : (uplift[dearest] ?? 0))) dearest = name
  return dearest
}

/** A request that leaves the tier open may be served in the dear one. */
function dearestMode(json: Fields): string | null {
  const all = withOptions(json)
  if (all.some(({ speed }) => speed === 'fast')) return 'fast'
  return all.some((fields) => tiersOf(fields).some((tier) => dearTiers.has(tier))) ? 'priority' : null
}

const dearTiers: ReadonlySet<string> = new Set(['priority', 'auto'])

/** Returns the tiers that a request names, in the words of every format. */
const tiersOf = ({ service_tier: snake, serviceTier: camel }: Fields): readonly string[] =>
  [snake, isFields(camel) ? camel['type'] : camel].flatMap((tier) => (typeof tier === 'string' ? [tier.toLowerCase()] : []))

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Counts the tokens of a conversation as the dearest that they may be, and the tools that its provider may run and sell beside them. */
function tokenCounts(tokens: Tokens, found: FoundPrices, of: { readonly facts: PriceFacts; readonly request: PricedRequest }): Counts {
  const { bytes, json } = of.request.body
  const { output } = tokens
  const extras = extrasOf(found.entry)
  // A body is only searched for parts that cost more.
  const read =
    extras.audio && bytes?.includes('"input_audio"') === true ? { input_audio: tokens.input, output } : textCounts(tokens, found, of)
  if (!extras.calls) return read
  const calls = isFields(json) ? soldCalls(json) : null
  const fee = searchFeeOf(found, json) ?? requestFeeOf(extras, json)
  if (fee !== null) return { ...read, ...calls, web_search: 0, [fee]: isFields(json) ? promptsOf(json) : 1 }
  return calls === null ? read : { ...read, ...calls }
}

/** The parts of a request beside plain text for which a model has a rate. */
interface Extras {
  readonly audio: boolean
  /** Tools that its provider runs. */
  readonly calls: boolean
  readonly writes: boolean
  /** The dearest of the fees for a request by how much of the web it reads; null: there are none. */
  readonly dearestFee: Dimension | null
}

const extrasByEntry = new WeakMap<PriceEntry, Extras>()

function extrasOf(entry: PriceEntry): Extras {
  const known = extrasByEntry.get(entry)
  if (known !== undefined) return known
  const named = new Set(entry.prices.flatMap(({ rates, when = [] }) => [rates, ...when.map((one) => one.rates)].flatMap(Object.keys)))
  const dearestFee = feesBySize.find((fee) => named.has(fee)) ?? null
  const extras = {
    audio: named.has('input_audio'),
    calls: dearestFee !== null || [...named].some((name) => toolDimensions.has(name)),
    writes: named.has('cache_write') || named.has('cache_write_1h'),
    dearestFee,
  }
  extrasByEntry.set(entry, extras)
  return extras
}

const feesBySize = ['web_search_high', 'web_search_medium', 'web_search_low'] as const satisfies readonly Dimension[]

/** Returns the fee that Perplexity takes for a request: that of the size which it names, or else the dearest. */
function requestFeeOf({ dearestFee }: Extras, json: unknown): Dimension | null {
  const size = dearestFee === null ? null : searchSizeOf(json)
  return feesBySize.find((fee) => fee === `web_search_${size}`) ?? dearestFee
}

/** Models whose prompts are written into a cache without a request for it: platform.openai.com/docs/guides/prompt-caching. */
const writtenUnasked = /\bgpt-/i
const asksToWrite = (bytes: Buffer): boolean => bytes.includes('"cache_control"') || bytes.includes('"cachePoint"')

/** A prompt that is written into a cache costs more than one that is not. */
function textCounts(
  tokens: Tokens,
  { entry, model }: FoundPrices,
  { facts, request: { body } }: { facts: PriceFacts; request: PricedRequest },
): Counts {
  if (!extrasOf(entry).writes || body.bytes === null || !(writtenUnasked.test(model) || asksToWrite(body.bytes))) return tokens
  const period = periodAt(entry, facts.startedAt)
  if (period === null) return tokens
  const { input, output } = tokens
  const holding = holdingRates(period, facts)
  const rate = (name: Dimension) => findRate(name, period, holding)?.rate ?? 0
  const written = body.bytes.includes('"1h"') ? 'cache_write_1h' : 'cache_write'
  return rate(written) > rate('input') ? { [written]: input, output } : tokens
}

/** The length of an upload without a known one: the providers' maximum. */
const longestUpload = 25 * 1024 * 1024
/** Speech has at least so many bytes for each millisecond: 16 kbit/s. */
const bytesPerMs = 2

interface Sale {
  readonly json: Fields
  readonly tokens: Tokens
  readonly found: FoundPrices
  readonly facts: PriceFacts
}

/** Returns the ways in which models for a task are sold, by the piece or by the token. The first that has a price counts. */
function waysToSell(request: PricedRequest, sale: Sale): readonly Counts[] {
  const { json, tokens, found, facts } = sale
  switch (request.task) {
    case 'image':
      return imageSale(json, tokens)
    case 'image-edit':
    case 'image-variation':
      return imageSale(json, tokens, 'input_image')
    case 'speech':
      return speechSale(json, tokens)
    case 'transcription':
    case 'translation':
      return recordingSale(request.body)
    case 'rerank':
      return [{ search_unit: searchUnits(json) }, { input: tokens.input }]
    case 'unknown':
      return [
        tokenCounts(tokens, found, { facts, request }),
        ...imageSale(json, tokens),
        ...speechSale(json, tokens),
        ...recordingSale(request.body),
        { search_unit: 1 },
      ]
    default:
      return [tokenCounts(tokens, found, { facts, request })]
  }
}

/** Returns the units of a search, which has up to a hundred documents: docs.cohere.com/docs/rate-limits. */
const searchUnits = ({ documents }: Fields): number => (Array.isArray(documents) ? Math.max(1, Math.ceil(documents.length / 100)) : 1)

/** `ofPrompt`: the kind of its tokens. Pictures have a rate of their own at some. */
function imageSale(json: Fields, { input }: Tokens, ofPrompt: 'input' | 'input_image' = 'input'): readonly Counts[] {
  const images = positive(json['n']) ?? 1
  return [{ image: images }, { [ofPrompt]: input, output_image: images * tokensOfImage }]
}

/** Returns the cost of images. Where a request leaves their size or quality to the model, they may be the dearest. */
function imageAmount(counts: Counts, facts: PriceFacts, found: FoundPrices): bigint | null {
  let dearest = priceAmount({ counts, facts }, found)
  if (facts.size !== 'auto' && facts.quality !== 'auto') return dearest
  for (const rates of periodAt(found.entry, facts.startedAt)?.when ?? []) {
    const amount = priceAmount({ counts, facts: madeAs(rates, facts) }, found)
    if (dearest === null || (amount ?? 0n) > dearest) dearest = amount
  }
  return dearest
}

const madeAs = ({ size, quality }: ConditionalRates, facts: PriceFacts): PriceFacts => ({
  ...facts,
  size: facts.size === 'auto' ? (size ?? null) : facts.size,
  quality: facts.quality === 'auto' ? (quality ?? null) : facts.quality,
})

function speechSale(json: Fields, { input }: Tokens): readonly Counts[] {
  const characters = text(json['input'])?.length ?? 0
  return [{ input_character: characters }, { input, output_audio: characters * 2 }]
}

function recordingSale(body: RequestBody): readonly Counts[] {
  const ms = Math.ceil((lengthOf(body) ?? longestUpload) / bytesPerMs)
  const seconds = Math.ceil(ms / 1000)
  return [{ input_audio_second: ms }, { input_audio: seconds * 32, output: seconds * 5 }]
}
