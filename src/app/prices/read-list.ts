import { type Fields, isFields } from '../../lib/json/fields.ts'
import { isPriceEntry } from '../../gateway/prices/entry.ts'
import { openPriceFile, type PriceFile } from './price-file.ts'
import { readCents } from './read-cents.ts'

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
  const models = list['schema'] === undefined ? readCents(list) : ofOurs(list)
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
