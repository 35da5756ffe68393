import { parseAnswer } from '../../lib/json/json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { isPriceEntry } from '../../gateway/ports/prices.ts'
import type { BuiltInPrices } from './built-in.ts'
import { openPriceFile, type PriceFile } from './price-file.ts'
import { readCents } from './read-cents.ts'
import { unitFault } from './unit-check.ts'

/** Longer lists are none: the longest of the catalogue has 300 KB. */
export const longestList = 16 * 1024 * 1024

/**
 * Reads a list of a provider in our format, or in that of the public price files in US cents a token, and opens it. Throws on other texts, and on a
 * list whose unit is wrong by the catalogue `known`: prices that are 100 times too low are worse than none.
 */
export function readPriceList(bytes: Buffer, provider: string, known: Pick<BuiltInPrices, 'file'>): PriceFile {
  const models = readModels(bytes)
  const fault = unitFault({ provider, models }, (model) => known.file(provider)?.find(model))
  if (fault !== null) throw new Error(fault)
  const lines = Object.entries(models).map(([name, model]) => `${JSON.stringify(name)}:${JSON.stringify(model)}`)
  return openPriceFile(Buffer.from(`{"models":{\n${lines.join(',\n')}\n}}\n`))
}

/** Reads the models of a list, as `readPriceList` does; their unit is not looked at. */
export function readModels(bytes: Buffer): Readonly<Record<string, Fields>> {
  const list = parseAnswer(bytes.toString('utf8'))
  if (!isFields(list)) throw new Error('the list is no JSON object')
  return list['schema'] === undefined ? readCents(list) : ofOurs(list)
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
