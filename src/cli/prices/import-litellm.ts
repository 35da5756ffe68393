import type { ConditionalPart } from '../../app/prices/joint-rates.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ListedProvider } from './catalogue-files.ts'
import { numbersOf, perUnit } from './list-rates.ts'
import {
  litellmAbilities,
  litellmByKind,
  litellmInputs,
  litellmKinds,
  litellmModes,
  litellmPrefixes,
  litellmProviders,
  litellmRates,
} from './litellm-names.ts'
import { createCollector } from './model-collector.ts'

/** `model_prices_and_context_window.json`: US dollars for one unit, all providers in one object. */
export function ofLitellm(text: string): readonly ListedProvider[] {
  const given: unknown = JSON.parse(text)
  if (!isFields(given)) throw new Error('the file is no JSON object')
  const found = createCollector()
  for (const [key, model] of Object.entries(given)) {
    const named = isFields(model) ? model['litellm_provider'] : null
    if (!isFields(model) || typeof named !== 'string' || isNoModel(key)) continue
    const provider = providerOf(named)
    const { name, condition } = shapeOf(key, [...(litellmPrefixes[provider] ?? []), `${named}/`])
    const kind = litellmKinds[String(model['mode'])]
    const parts = withoutSteps(provider, kind) ? [] : [...partsOf(model, kind, condition), ...searchesOf(model, kind)]
    found.add({ provider, name, periods: [{ from: null, parts }], facts: factsOf(model, kind) })
  }
  return found.lists()
}

/** Sizes of hosts, commitments and containers of code are no models, a price for the largest size of all is no price of a size, and Bedrock sells no platform of others. */
const isNoModel = (key: string): boolean =>
  key === 'sample_spec' ||
  /commitment|^(?:together|fireworks)-ai-|max-x-max|max-steps|(?:^|\/)container$|^bedrock\/claude_platform\//.test(key)

/** Fireworks charges for steps of pictures, which stand under the name of tokens. */
const withoutSteps = (provider: string, kind: string | undefined): boolean => provider === 'fireworks-ai' && kind === 'image'

const providerOf = (named: string): string => (named.startsWith('vertex_ai') ? 'vertex-ai' : (litellmProviders[named] ?? named))

/** A key can begin with the quality and size of a picture: `high/1024-x-1024/gpt-image-1`. */
function shapeOf(key: string, prefixes: readonly string[]): { readonly name: string; readonly condition: Fields } {
  const [, quality, width, height, rest] =
    /^(?:(?:azure|azure_ai|openai|xai|vertex_ai|fal_ai)\/)?(?:(low|medium|high|standard|hd|auto|max|xhigh)\/)?(\d+)-x-(\d+)\/(?:\d+-steps\/)?(.+)$/.exec(
      key,
    ) ?? []
  const whole = rest ?? key
  const prefix = prefixes.find((one) => whole.startsWith(one)) ?? ''
  const name = whole.slice(prefix.length)
  if (width === undefined || height === undefined) return { name, condition: {} }
  return { name, condition: { size: `${width}x${height}`, ...(quality === undefined ? {} : { quality }) } }
}

const field = /^(.*?)(?:_above_(1hr|12hr))?(?:_above_(\d+)k_tokens)?(?:_(batches|priority|flex|ultrafast))?$/

function partsOf(model: Fields, kind: string | undefined, condition: Fields): readonly ConditionalPart[] {
  const own = Object.entries(model).flatMap(([name, price]): ConditionalPart[] => {
    const rate = perUnit(price)
    const found = rate === null || isOfInput(name, model, kind) ? null : (tokenRate(name) ?? thingRate(name, kind, condition))
    if (rate === null || found === null) return []
    const { dimension, units } = found
    return [
      { condition: { ...condition, ...found.condition }, rates: { [dimension]: units === undefined ? rate : inThreeDigits(rate * units) } },
    ]
  })
  const tiers = Array.isArray(model['tiered_pricing']) ? model['tiered_pricing'].filter(isFields) : []
  const long = tiers.flatMap((tier) => {
    const from: unknown = Array.isArray(tier['range']) ? tier['range'][0] : null
    return typeof from === 'number' ? partsOf(tier, kind, from === 0 ? condition : { ...condition, over: from }) : []
  })
  return [...own, ...long, ...offPeak(model, kind)]
}

/** The price of a pixel is that of a picture, divided: three digits are all that was published. */
const inThreeDigits = (rate: number): number => Number(rate.toPrecision(3))

/** A model that makes pictures sells these by `input_cost_per_image` only if it has no other price of its answers. */
const isOfInput = (name: string, model: Fields, kind: string | undefined): boolean =>
  name === 'input_cost_per_image' &&
  kind === 'image' &&
  (model['output_cost_per_image'] ?? model['output_cost_per_image_token']) !== undefined

interface NamedRate {
  readonly dimension: string
  readonly condition: Fields
  /** So many times the rate are one unit of the dimension. */
  readonly units?: number
}

/** Reads names such as `input_cost_per_token_above_272k_tokens_flex`. */
function tokenRate(name: string): NamedRate | null {
  const [, base = '', life, thousands, mode] = field.exec(name) ?? []
  const dimension = litellmRates[base]
  if (dimension === undefined || (life !== undefined && dimension !== 'cache_write')) return null
  const condition = {
    ...(thousands === undefined ? {} : { over: Number(thousands) * 1000 }),
    ...(mode === undefined ? {} : { mode: litellmModes[mode] }),
  }
  return { dimension: life === undefined ? dimension : `${dimension}_${life === '1hr' ? '1h' : '12h'}`, condition }
}

function thingRate(name: string, kind: string | undefined, { size }: Fields): NamedRate | null {
  const byKind = litellmByKind[name]
  const dimension = byKind?.[kind ?? 'any'] ?? byKind?.['any']
  if (dimension !== undefined) return { dimension, condition: {} }
  const [, thing, ofSize] = /^output_cost_per_(second|image)_(\d+p|[\d.]+k|\d+)$/i.exec(name) ?? []
  if (ofSize !== undefined) return { dimension: thing === 'second' ? 'video_second' : 'image', condition: { size: ofSize } }
  if (kind !== 'image' || !/^(?:in|out)put_cost_per_pixel$/.test(name)) return null
  if (typeof size !== 'string') return { dimension: 'megapixel', condition: {}, units: 1_000_000 }
  return { dimension: 'image', condition: {}, units: size.split('x').reduce((all, side) => all * Number(side), 1) }
}

/** Prices for hours of the day. */
function offPeak(model: Fields, kind: string | undefined): readonly ConditionalPart[] {
  const prices = model['off_peak_pricing']
  if (!isFields(prices) || !Array.isArray(prices['windows'])) return []
  return prices['windows'].filter(isFields).flatMap(({ hours_utc: hours, weekdays }) => {
    const utc = [hours].flat().filter((window) => typeof window === 'string')
    return utc.length === 0 ? [] : partsOf({ ...prices, windows: null }, kind, { utc, ...(Array.isArray(weekdays) ? { weekdays } : {}) })
  })
}

const searching: ReadonlySet<string> = new Set(['chat', 'completion', 'realtime', 'search'])

/** A web search has one price, or one for each size of its context. */
function searchesOf({ search_context_cost_per_query: search }: Fields, kind = ''): readonly ConditionalPart[] {
  if (!isFields(search) || !searching.has(kind)) return []
  const [low, medium, high] = ['low', 'medium', 'high'].map((size) => perUnit(search[`search_context_size_${size}`]) ?? 0)
  if (low === undefined || medium === undefined || high === undefined || low + medium + high === 0) return []
  const rates: Record<string, number> =
    low === medium && medium === high ? { web_search: low } : { web_search_low: low, web_search_medium: medium, web_search_high: high }
  return [{ condition: {}, rates: Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate > 0)) }]
}

function factsOf(model: Fields, kind: string | undefined): Fields {
  const can = trueIn(model, litellmAbilities)
  const taken = [...new Set([...textsIn(model['supported_modalities']), ...trueIn(model, litellmInputs)])].toSorted()
  const out = textsIn(model['supported_output_modalities']).toSorted()
  const limits = numbersOf({ input: model['max_input_tokens'], output: kind === 'embedding' ? null : model['max_output_tokens'] })
  const { deprecation_date: deprecated } = model
  return {
    ...(kind === undefined ? {} : { kind }),
    ...upliftOf(model),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(taken.length === 0 ? {} : { in: taken }),
    ...(out.length === 0 ? {} : { out }),
    ...(can.length === 0 ? {} : { can }),
    ...(typeof deprecated === 'string' && /^\d{4}-\d\d-\d\d$/.test(deprecated) ? { deprecated } : {}),
  }
}

const textsIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [])

const trueIn = (model: Fields, names: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(names)
    .flatMap(([name, ours]) => (model[name] === true ? [ours] : []))
    .toSorted()

const upliftFields: Readonly<Record<string, string>> = {
  regional_endpoint_uplift_multiplier: 'regional',
  regional_processing_uplift_multiplier_us: 'us',
  regional_processing_uplift_multiplier_eu: 'eu',
}

/** Surcharges of a place, per mille. */
function upliftOf(model: Fields): Fields {
  const found = Object.entries(upliftFields).flatMap(([name, place]) => {
    const rate = perUnit(model[name])
    return rate === null ? [] : [[place, Number(BigInt(rate) / 1_000_000_000n)] as const]
  })
  return found.length === 0 ? {} : { uplift: Object.fromEntries(found) }
}
