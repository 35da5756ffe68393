import { divideEven } from '../../gateway/prices/whole.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { centNames, centUnits } from '../../lib/cent-names.ts'
import { parsePico } from '../../lib/pico.ts'
import { isPriceEntry } from '../../gateway/prices/entry.ts'
import { openPriceFile, type PriceFile } from './price-file.ts'

/** Longer lists are none: the longest of the catalogue has 300 KB. */
export const longestList = 16 * 1024 * 1024

/**
 * Reads a list of a provider in our format, or in that of the public price files in US cents a token, and opens it. Throws on what is no
 * list, and on one whose unit is wrong: prices that are 100 times too low are worse than none.
 */
export function readPriceList(bytes: Buffer, provider: string): PriceFile {
  const lines = Object.entries(readModels(bytes, provider)).map(([name, model]) => `${JSON.stringify(name)}:${JSON.stringify(model)}`)
  return openPriceFile(Buffer.from(`{"models":{\n${lines.join(',\n')}\n}}\n`))
}

/** Reads the models of a list, as `readPriceList` does. */
export function readModels(bytes: Buffer, provider: string): Readonly<Record<string, Fields>> {
  const list: unknown = JSON.parse(bytes.toString('utf8'))
  if (!isFields(list)) throw new Error('the list is no JSON object')
  const models = list['schema'] === undefined ? ofCents(list) : ofOurs(list)
  demandUnit(models, provider)
  return models
}

type Models = Readonly<Record<string, Fields>>

function ofOurs(list: Fields): Models {
  if (list['schema'] !== 1 || list['unit'] !== 'pUSD' || !isFields(list['models']))
    throw new Error('the list is not in pico-US-dollars (schema 1, unit pUSD)')
  const models: Record<string, Fields> = {}
  for (const [name, model] of Object.entries(list['models'])) {
    if (!isFields(model) || !isPriceEntry(model)) throw new Error(`the price of ${name} is none`)
    models[name] = model
  }
  return models
}

function ofCents(list: Fields): Models {
  const models: Record<string, Fields> = {}
  for (const [name, model] of Object.entries(list)) {
    const config = isFields(model) ? model['pricing_config'] : null
    const prices = isFields(config) ? config['pay_as_you_go'] : null
    if (name === 'default' || !isFields(prices)) continue
    const rates = {
      ...ratesOf(prices, centNames),
      ...(isFields(prices['additional_units']) && ratesOf(prices['additional_units'], centUnits)),
    }
    const batch = isFields(config) && isFields(config['batch_config']) ? ratesOf(config['batch_config'], centNames) : {}
    const when = Object.keys(batch).length === 0 ? {} : { when: [{ mode: 'batch', rates: batch }] }
    if (Object.keys(rates).length > 0) models[name] = { prices: [{ rates, ...when }] }
  }
  if (Object.keys(models).length === 0) throw new Error('the list has no price')
  return models
}

/** Zero stands for "not known" in these files. */
function ratesOf(prices: Fields, names: Readonly<Record<string, string>>): Fields {
  const rates: Record<string, number> = {}
  for (const [from, to] of Object.entries(names)) {
    const price = prices[from]
    const cents = isFields(price) ? price['price'] : null
    if (typeof cents === 'number' && cents > 0) rates[to] = Number(divideEven(parsePico(String(cents)), 100n))
  }
  return rates
}

/** Models whose price is known well enough to tell a wrong unit: the least and the most that a token of their prompt may cost. */
const canaries: Readonly<Record<string, readonly [model: string, least: number, most: number]>> = {
  openai: ['gpt-4o', 250_000, 25_000_000],
  anthropic: ['claude-sonnet-4-5', 300_000, 30_000_000],
  google: ['gemini-2.5-pro', 125_000, 12_500_000],
}

function demandUnit(models: Models, provider: string): void {
  const [model, least, most] = canaries[provider] ?? []
  const entry = model === undefined ? undefined : models[model]
  const rate = entry !== undefined && isPriceEntry(entry) ? entry.prices.at(-1)?.rates.input : undefined
  if (rate === undefined || least === undefined || most === undefined || (rate >= least && rate <= most)) return
  throw new Error(`a token of ${model} would cost ${rate} pico-US-dollars: the unit of the list is another`)
}
