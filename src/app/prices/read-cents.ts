import { divideEven } from '../../gateway/ports/prices.ts'
import { centNames, centUnits } from '../../lib/cent-names.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { parsePico } from '../../lib/pico.ts'
import { conditionKey, type ConditionalPart, type ListedRates, withJointRates } from './joint-rates.ts'

/**
 * Reads a public price file in US cents: prices of tokens, units and images, half prices of batches, and those by region, mode and length of the
 * prompt. Prices without a name here are left out, so that their use is unpriced and not free. Throws when no model has a price.
 */
export function readCents(list: Fields): Readonly<Record<string, Fields>> {
  const models: Record<string, Fields> = {}
  for (const [name, model] of Object.entries(list)) {
    const entry = name !== 'default' && isFields(model) ? entryOf(model) : null
    if (entry !== null) models[name] = entry
  }
  if (Object.keys(models).length === 0) throw new Error('the list has no price')
  return models
}

/** Names that files have beside those that we write. */
const tokenNames: Readonly<Record<string, string>> = {
  ...centNames,
  request_text_token: 'input',
  response_text_token: 'output',
  cache_read_text_input_token: 'cache_read',
}
const unitNames: Readonly<Record<string, string>> = {
  ...centUnits,
  web_search_low_context: 'web_search_low',
  web_search_medium_context: 'web_search_medium',
  web_search_high_context: 'web_search_high',
  enterprise_web_search: 'enterprise_web_search',
  maps: 'maps',
  x_search: 'x_search',
  attachment_search: 'attachment_search',
  code_execution: 'code_execution',
  image_token: 'output_image',
  output_video_token: 'output_video',
  generated_images: 'image',
  megapixels: 'megapixel',
  video_seconds: 'video_second',
}

type Rates = ListedRates

/** Rates under a condition; without one they are those of the model. */
type Part = ConditionalPart

function entryOf({ pricing_config: config, custom_pricing: custom }: Fields): Fields | null {
  const parts = [...(isFields(config) ? partsOf(config) : []), ...(isFields(custom) ? customParts(custom) : [])]
  const base = parts.filter(({ condition }) => Object.keys(condition).length === 0)
  const rates: Rates = Object.assign({}, ...base.map((part) => part.rates))
  const conditional = parts.filter(({ condition, rates: own }) => Object.keys(condition).length > 0 && Object.keys(own).length > 0)
  const when = withModesOfLengths(rates, conditional).map(({ condition, rates: own }) => Object.assign({ rates: own }, condition))
  return Object.keys(rates).length === 0 ? null : { prices: [Object.assign({ rates }, when.length > 0 && { when })] }
}

/** A mode and a length of the prompt that a file names one by one have a rate together too: else one of them would be lost. */
function withModesOfLengths(rates: Rates, parts: readonly Part[]): readonly Part[] {
  const alone = parts.filter(({ condition: { mode, over, ...others } }) => Object.keys(others).length === 0 && (mode ?? over) !== undefined)
  const known = new Set(alone.map(({ condition }) => conditionKey(condition)))
  return parts.concat(withJointRates(rates, alone).filter(({ condition }) => !known.has(conditionKey(condition))))
}

/** Amounts in another currency are no US cents. */
function partsOf(config: Fields): readonly Part[] {
  const { pay_as_you_go: prices, batch_config: batch, currency = 'USD' } = config
  if (!isFields(prices) || currency !== 'USD') return []
  const own = allRates(prices)
  return [
    { condition: {}, rates: own },
    ...(isFields(prices['image']) ? imageParts(prices['image']) : []),
    ...(isFields(batch) ? [{ condition: { mode: 'batch' }, rates: allRates(batch) }] : []),
  ]
}

const allRates = (prices: Fields): Rates => ({
  ...ratesOf(prices, tokenNames),
  ...(isFields(prices['additional_units']) ? ratesOf(prices['additional_units'], unitNames) : {}),
})

/** Zero stands for "not known" in these files. */
function ratesOf(prices: Fields, names: Readonly<Record<string, string>>): Rates {
  const rates: Record<string, number> = {}
  for (const [from, to] of Object.entries(names)) {
    const rate = rateOf(prices[from])
    if (rate !== null) rates[to] = rate
  }
  return rates
}

function rateOf(price: unknown): number | null {
  const cents = isFields(price) ? price['price'] : null
  return typeof cents === 'number' && cents > 0 ? Number(divideEven(parsePico(String(cents)), 100n)) : null
}

/** The qualities that a request need not name. */
const usualQualities: ReadonlySet<string> = new Set(['default', 'standard'])

/** Prices of images by quality and size. */
function imageParts(image: Fields): readonly Part[] {
  return Object.entries(image).flatMap(([quality, sizes]) =>
    Object.entries(isFields(sizes) ? sizes : {}).flatMap(([size, price]): Part[] => {
      const rate = rateOf(price)
      const condition = { ...(usualQualities.has(quality) ? {} : { quality }), ...(size === 'default' ? {} : { size }) }
      return rate === null ? [] : [{ condition, rates: { image: rate } }]
    }),
  )
}

/** Prices by region, by the mode of a request and by the length of its prompt: each of them may be the usual one. */
function customParts({ regions, context_tier_map: tiers }: Fields): readonly Part[] {
  const overs = new Map(Object.entries(isFields(tiers) ? tiers : {}).map(([over, tier]) => [String(tier), Number(over)]))
  return fieldsOf(regions).flatMap(([region, { execution_modes: modes }]) =>
    fieldsOf(modes).flatMap(([mode, prices]) => {
      const condition = { ...placeOf(region), ...(mode === 'standard' ? {} : { mode }) }
      const whole = isFields(prices['pricing_config']) ? partsOf(prices['pricing_config']) : []
      const byLength = fieldsOf(prices['context_tiers']).flatMap(([tier, { pricing_config: config }]) => {
        const over = overs.get(tier) ?? 0
        return within(isFields(config) ? partsOf(config) : [], over === 0 ? {} : { over })
      })
      return within([...whole, ...byLength], condition)
    }),
  )
}

const fieldsOf = (value: unknown): readonly (readonly [string, Fields])[] =>
  Object.entries(isFields(value) ? value : {}).filter((entry): entry is [string, Fields] => isFields(entry[1]))

const within = (parts: readonly Part[], condition: Fields): readonly Part[] =>
  parts.map((part) => ({ condition: { ...part.condition, ...condition }, rates: part.rates }))

/** Regions of clouds have a number; all other places are geographies. */
const placeOf = (region: string): Fields => (region === 'default' ? {} : /\d/.test(region) ? { region: [region] } : { geo: [region] })
