import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import type { Task } from '../operations/operations.ts'
import type { PriceEntry } from '../prices/entry.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { isModePriced, priceAmount } from '../prices/price-usage.ts'
import { lacksFee, lacksRate } from '../prices/lacks-fee.ts'
import type { PriceFacts } from '../prices/rates.ts'
import { type FoundPrices, findPrices } from '../prices/resolve.ts'
import { servedModel } from '../targets/azure-deployment.ts'
import type { Target } from '../targets/target.ts'
import { placeOf } from '../metering/region.ts'
import type { RequestBody } from '../wire/body.ts'
import { listOf } from '../dialects/openai-responses/sold-tools.ts'
import { sentValues } from '../dialects/sent-fields.ts'
import { isForm } from '../wire/form.ts'
import { type HeaderList, headerList } from '../wire/header-list.ts'
import { dearestTier } from './dear-tier.ts'
import { outputTokens } from './estimate.ts'
import { imagesOf, inputsOf } from './pieces.ts'
import { type BoundForm, boundForm, tokensOfForm } from './form-bound.ts'
import { dearer, drawnAmount, imageAmount, tokensOfDrawn } from './image-bound.ts'
import { inputBound, strictInputBound } from './input-bound.ts'
import type { MoneyTerms } from './limit.ts'
import { hasOpenPrice, isOpenModel } from './open-price.ts'
import type { OutputReader } from './output-bound.ts'
import type { ReadBefore } from './read-before.ts'
import { recordingBound } from './recording-bound.ts'
import { searchBound } from './rerank-bound.ts'
import { drawsUnpriced, tokenCounts, type Tokens, toolCounts } from './token-counts.ts'

/** A request that is about to be sent to a target. */
export interface PricedRequest {
  readonly target: Target
  readonly body: RequestBody
  readonly contentType: string
  /** The headers of the caller that may go with it. */
  readonly headers: HeaderList
  /** Unknown: the path is the provider's own. Null: it runs no model. */
  readonly task: Task | 'unknown' | null
  readonly reader: OutputReader
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** Tokens of an answer for which the request names no bound. */
  readonly usual: number
  /** The part of its prompt that its provider keeps; absent: none. */
  readonly before?: ReadBefore | undefined
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
const fallingBack: ReadonlySet<string> = new Set(['openrouter', 'vercel', 'perplexity-ai'])
const noOthers: readonly unknown[] = []
/** No provider tries so many, and each is priced by the whole body. */
const mostModels = 8

/** Returns the models of which any may answer. */
function modelsOf({ target, body: { json } }: PricedRequest): readonly (string | null)[] {
  const others = isFields(json) && fallingBack.has(target.providerId) ? sentValues(json, 'models').flatMap(listOf) : noOthers
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
  const amount = amountOf(request, saleOf(request, found, output), prices)
  return amount === null ? null : Number((amount + picoPerNano - 1n) / picoPerNano)
}

function amountOf(request: PricedRequest, sale: Sale, prices: PriceSource): bigint | null {
  const { json, facts, isStrict } = sale
  const { target } = request
  if (isStrict && isUnbounded(sale, target)) return null
  const drawn = drawnAmount(json, facts, { target, prices, isStrict })
  const amount = drawn === null ? null : saleAmount(request, sale)
  return drawn === null || amount === null ? null : amount + drawn
}

function saleOf(request: PricedRequest, found: FoundPrices, output: Exclude<MoneyTerms['output'], 'inject'>): Sale {
  const { form, json } = fieldsOf(request)
  const tokens = tokensOf(request, found, { json, form, output })
  const tier = dearestTier(json, headersOf(request))
  const facts = factsOf(request, found, { json, promptTokens: tokens.input, mode: tier.mode })
  return { json, tokens, found, facts, isTierNamed: tier.isNamed, isStrict: output === 'strict' }
}

/** Returns true for a request with work or a tier whose price no figure bounds. */
function isUnbounded({ json, facts, found, isTierNamed }: Sale, { model }: Target): boolean {
  if (isTierNamed && !isModePriced(found, facts)) return true
  if (hasOpenPrice(json) || isOpenModel(found.model) || (model !== null && isOpenModel(model)) || drawsUnpriced(found)) return true
  const tools = toolCounts(json, found)
  return tools !== null && lacksFee(tools, facts, found)
}

function headersOf({ headers, target: { customHeaders } }: PricedRequest): HeaderList {
  for (const name in customHeaders) if (name !== '') return [...headers, ...headerList(customHeaders)]
  return headers
}

/** The first way that has a price counts, and of images under a strict limit the dearest. */
function saleAmount(request: PricedRequest, sale: Sale): bigint | null {
  const { facts, found, isStrict } = sale
  const isDearest = isStrict && (request.task === 'image' || request.task === 'image-edit' || request.task === 'image-variation')
  let most: bigint | null = null
  for (const counts of waysToSell(request, sale)) {
    if (isStrict && lacksRate(counts, facts, found)) continue
    most = dearer(most, counts.image === undefined ? priceAmount({ counts, facts }, found) : imageAmount(counts, facts, found))
    if (most !== null && !isDearest) return most
  }
  return most
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
    output:
      outputTokens(json, reader, { unbounded: isStrict ? (limits.output ?? longestOutput) : usual, most: limits.output }) +
      (isStrict ? predictedTokens(json) : 0),
  }
}

/** The part of a predicted answer that is not taken is charged as output, above any bound: platform.openai.com/docs/guides/predicted-outputs. */
function predictedTokens(json: Fields): number {
  let tokens = 0
  for (const predicted of sentValues(json, 'prediction')) tokens += Buffer.byteLength(JSON.stringify(predicted))
  return tokens
}

/** Each of several inputs has a window of its own. */
function inputOf({ body, target, task, before }: PricedRequest, window: number, isStrict: boolean): number {
  const shown = isStrict ? strictInputBound(body, target.model) : inputBound(body)
  const tokens = shown.tokens + (before?.tokens ?? 0)
  const most = window * inputsOf(body.json, task)
  // A strict limit does not trust the figures of a conversation that its provider keeps.
  if (!shown.isOpen && (before === undefined || (!before.isOpen && !isStrict))) return Math.min(tokens, most)
  return window !== Infinity ? most : isStrict ? Math.max(tokens, longestInput) : tokens
}

/** The window of a model without a known one. */
const longestInput = 2_000_000

/** The output bound of a model without a known one. */
const longestOutput = 128_000

function factsOf(
  { target, receivedAt }: PricedRequest,
  found: FoundPrices,
  { json, promptTokens, mode }: { json: Fields; promptTokens: number; mode: string | null },
): PriceFacts {
  const { geo, region } = placeOf(target, found)
  // Each by its name, as in the log's record.
  return {
    startedAt: receivedAt,
    mode,
    promptTokens,
    geo: geo ?? dearestPlace(found.entry),
    region,
    size: textOf(json, 'size'),
    quality: textOf(json, 'quality'),
    hasTokens: promptTokens > 0,
  }
}

/** The answer states where it was made: an unnamed place may be the dearest. */
function dearestPlace({ uplift }: PriceEntry): string | null {
  let dearest: string | null = null
  for (const name in uplift) if ((uplift[name] ?? 0) > Math.max(1000, dearest === null ? 0 : (uplift[dearest] ?? 0))) dearest = name
  return dearest
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Returns the text of a field; `auto` where it has several, since any of them may count. */
function textOf(json: Fields, name: string): string | null {
  const texts = new Set(sentValues(json, name).map(text))
  const [only = null] = texts
  return texts.size > 1 ? 'auto' : only
}

interface Sale {
  readonly json: Fields
  readonly tokens: Tokens
  readonly found: FoundPrices
  readonly facts: PriceFacts
  /** True if the request names its tier. */
  readonly isTierNamed: boolean
  readonly isStrict: boolean
}

/** Returns true if a conversation that its provider keeps may have sound. */
const mayHear = ({ before }: PricedRequest, isStrict: boolean): boolean =>
  before !== undefined && (isStrict || before.isOpen || before.audio > 0)

/** Returns the ways in which models for a task are sold, by the piece or by the token. The first that has a price counts. */
function waysToSell(request: PricedRequest, sale: Sale): readonly Counts[] {
  const { json, tokens, isStrict } = sale
  const ofTokens = (): Counts => tokenCounts(tokens, { ...sale, body: request.body, mayHear: mayHear(request, isStrict) })
  switch (request.task) {
    case 'image':
      return imageSale(sale)
    case 'image-edit':
    case 'image-variation':
      return imageSale(sale, 'input_image')
    case 'speech':
      return speechSale(sale)
    case 'transcription':
    case 'translation':
      return recordingSale(request, isStrict)
    case 'rerank':
      return searchSale(sale)
    case 'unknown':
      return [
        ofTokens(),
        ...imageSale(sale),
        ...speechSale(sale),
        ...recordingSale(request, isStrict),
        { search_unit: searchBound(json, isStrict).units },
      ]
    default:
      return [ofTokens()]
  }
}

/** Models that are sold by the token read the query once for each document. */
function searchSale({ json, tokens, isStrict }: Sale): readonly Counts[] {
  const { units, queryTokens, documents } = searchBound(json, isStrict)
  return [{ search_unit: units }, { input: tokens.input + queryTokens * (documents - 1) }]
}

/** A request may name several sizes where it has fields for single formats. */
const tokensOfLargest = (json: Fields, isStrict: boolean): number =>
  Math.max(tokensOfDrawn(null, isStrict), ...sentValues(json, 'size').map((size) => tokensOfDrawn(text(size), isStrict)))

/** `ofPrompt`: the kind of its tokens. Pictures have a rate of their own at some. */
function imageSale({ json, tokens: { input }, isStrict }: Sale, ofPrompt: 'input' | 'input_image' = 'input'): readonly Counts[] {
  const images = imagesOf(json)
  return [{ image: images }, { [ofPrompt]: input, output_image: images * tokensOfLargest(json, isStrict) }]
}

/** Tokens of speech for a character; a strict limit expects words that are spelled out, and a second for each where the speaker may be told to be slow. */
const [usualSpeech, spelledSpeech, slowSpeech] = [2, 12, 32] as const
/** A speaker that is told how to speak may say more than it is given. */
const longestTold = 8192

function speechSale({ json, tokens: { input }, found, isStrict }: Sale): readonly Counts[] {
  const characters = text(json['input'])?.length ?? 0
  const isTold = sentValues(json, 'instructions').length + sentValues(json, 'speed').length > 0
  const spoken = !isStrict ? characters * usualSpeech : isTold ? Math.max(longestTold, characters * slowSpeech) : characters * spelledSpeech
  const output = isStrict ? Math.min(spoken, found.entry.limits?.output ?? Infinity) : spoken
  return [{ input_character: characters }, { input, output_audio: output }]
}

/** No way has a price where a strict limit cannot see the length. */
function recordingSale(request: PricedRequest, isStrict: boolean): readonly Counts[] {
  const ms = recordingBound(request, isStrict)
  if (ms === null) return []
  const seconds = Math.ceil(ms / 1000)
  return [{ input_audio_second: ms }, { input_audio: seconds * 32, output: seconds * 5 }]
}
