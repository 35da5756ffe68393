import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Counts, Dimension } from '../dialects/neutral/counts.ts'
import type { Task } from '../operations/operations.ts'
import type { PriceEntry } from '../prices/entry.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { priceAmount } from '../prices/price-usage.ts'
import { findRate, holdingRates, periodAt, type PriceFacts } from '../prices/rates.ts'
import { type FoundPrices, findPrices } from '../prices/resolve.ts'
import { searchFeeOf, searchSizeOf } from '../prices/search-fee.ts'
import { servedModel } from '../targets/azure-deployment.ts'
import type { Target } from '../targets/target.ts'
import { placeOf } from '../metering/region.ts'
import { tokensOfImage } from '../tokens/estimate-tokens.ts'
import type { RequestBody } from '../wire/body.ts'
import { listOf } from '../dialects/openai-responses/sold-tools.ts'
import { asksSound } from '../dialects/asks-sound.ts'
import { isForm } from '../wire/form.ts'
import { recordedMs } from '../wire/recorded-length.ts'
import { outputTokens, promptsOf } from './estimate.ts'
import { imagesOf, inputsOf } from './pieces.ts'
import { type BoundForm, boundForm, tokensOfForm } from './form-bound.ts'
import { drawnAmount, imageAmount } from './image-bound.ts'
import { inputBound, strictInputBound } from './input-bound.ts'
import type { MoneyTerms } from './limit.ts'
import { type OutputReader, withOptions } from './output-bound.ts'
import { soldCalls } from './sold-calls.ts'

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
 * Returns the most that a request is expected to cost, in whole nano-US-dollars; null: its price is not known, or it lists too many models.
 * `strict` bounds it: as many tokens as bytes, and as much output as the model can give.
 */
export function worstCost(request: PricedRequest, prices: PriceSource, output: Exclude<MoneyTerms['output'], 'inject'>): number | null {
  const models = modelsOf(request)
  if (models.length > mostModels) return null
  const costs = models.map((model) => worstOf({ ...request, target: { ...request.target, model } }, prices, output))
  return costs.includes(null) ? null : Math.max(...costs.map((cost) => cost ?? 0))
}

/** Providers that take another one of the models that a request lists when the first fails. */
const fallingBack: ReadonlySet<string> = new Set(['openrouter', 'vercel'])
const noOthers: readonly unknown[] = []
/** No provider tries so many, and each is priced by the whole body. */
const mostModels = 8

/** Returns the models of which any may answer. */
function modelsOf({ target, body: { json } }: PricedRequest): readonly (string | null)[] {
  const others = isFields(json) && fallingBack.has(target.providerId) ? listOf(json['models']) : noOthers
  const named = others.filter((one) => typeof one === 'string')
  return [...new Set(target.model === null && named.length > 0 ? named : [target.model, ...named])]
}

function worstOf(request: PricedRequest, prices: PriceSource, output: Exclude<MoneyTerms['output'], 'inject'>): number | null {
  const { target } = request
  const terms = target.view?.prices ?? null
  // Provisioned throughput that is not charged may spill over to charged capacity.
  if (request.task === null || request.task === 'token-count') return 0
  const found = findPrices({ provider: target.providerId, answered: servedModel(target), sent: target.model, terms }, prices)
  if (found === null) return terms?.skipsCost === true ? 0 : null
  const { form, json } = fieldsOf(request)
  const tokens = tokensOf(request, found, { json, form, output })
  const facts = factsOf(request, found, { json, promptTokens: tokens.input })
  const drawn = drawnAmount(json, facts, { target, prices, isStrict: output === 'strict' })
  if (drawn === null) return null
  for (const counts of waysToSell(request, { json, tokens, found, facts, isStrict: output === 'strict' })) {
    const amount = counts.image === undefined ? priceAmount({ counts, facts }, found) : imageAmount(counts, facts, found)
    if (amount !== null) return Number((amount + drawn + picoPerNano - 1n) / picoPerNano)
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
  request: PricedRequest,
  { entry: { limits = {} } }: FoundPrices,
  { json, form, output }: { json: Fields; form: BoundForm | null; output: Exclude<MoneyTerms['output'], 'inject'> },
): Tokens {
  const { task, usual, reader } = request
  const isStrict = output === 'strict'
  const window = Math.min(limits.input ?? Infinity, limits.context ?? Infinity)
  const input = form === null ? inputOf(request, window, isStrict) : tokensOfForm(form, isStrict)
  if (task === 'embedding') return { input, output: 0 }
  return {
    input,
    output: outputTokens(json, reader, { unbounded: isStrict ? (limits.output ?? longestOutput) : usual, most: limits.output }),
  }
}

/** Each of several inputs has a window of its own. */
function inputOf({ body, target, task }: PricedRequest, window: number, isStrict: boolean): number {
  const { tokens, isOpen } = isStrict ? strictInputBound(body, target.model) : inputBound(body)
  const most = window * inputsOf(body.json, task)
  return isOpen && window !== Infinity ? most : Math.min(tokens, most)
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
  const spoken = asksSound(json) ? { output_audio: output, output: 0 } : null
  const extras = extrasOf(found.entry)
  // A body is only looked through for parts that cost more.
  const said =
    extras.audio && bytes?.includes('"input_audio"') === true ? { input_audio: tokens.input, output } : textCounts(tokens, found, of)
  const read = spoken === null ? said : { ...said, ...spoken }
  const calls = isFields(json) ? soldCalls(json) : null
  const fee = searchFeeOf(found, json) ?? requestFeeOf(extras, json)
  if (fee !== null) return { ...read, ...calls, web_search: 0, [fee]: isFields(json) ? promptsOf(json) : 1 }
  return calls === null ? read : { ...read, ...calls }
}

/** The parts of a request beside plain text for which a model has a rate. */
interface Extras {
  readonly audio: boolean
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
/** Speech has so many bytes for each millisecond: mostly 16 kbit/s and more, and at least 6 kbit/s where it is not silent. */
const [bytesPerMs, fewestPerMs] = [2, 0.75] as const

interface Sale {
  readonly json: Fields
  readonly tokens: Tokens
  readonly found: FoundPrices
  readonly facts: PriceFacts
  readonly isStrict: boolean
}

/** Returns the ways in which models for a task are sold, by the piece or by the token. The first that has a price counts. */
function waysToSell(request: PricedRequest, sale: Sale): readonly Counts[] {
  const { json, tokens, found, facts, isStrict } = sale
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
      return recordingSale(request.body, isStrict)
    case 'rerank':
      return [{ search_unit: searchUnits(json) }, { input: tokens.input }]
    case 'unknown':
      return [
        tokenCounts(tokens, found, { facts, request }),
        ...imageSale(json, tokens),
        ...speechSale(json, tokens),
        ...recordingSale(request.body, isStrict),
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
  const images = imagesOf(json)
  return [{ image: images }, { [ofPrompt]: input, output_image: images * tokensOfImage }]
}

function speechSale(json: Fields, { input }: Tokens): readonly Counts[] {
  const characters = text(json['input'])?.length ?? 0
  return [{ input_character: characters }, { input, output_audio: characters * 2 }]
}

/** The length of a recording is measured where its form is held. */
function recordingSale(body: RequestBody, isStrict: boolean): readonly Counts[] {
  const told = body.bytes === null || body.watched === undefined ? null : recordedMs(body.watched.told())
  const ms = told ?? Math.ceil((lengthOf(body) ?? longestUpload) / (isStrict ? fewestPerMs : bytesPerMs))
  const seconds = Math.ceil(ms / 1000)
  return [{ input_audio_second: ms }, { input_audio: seconds * 32, output: seconds * 5 }]
}
