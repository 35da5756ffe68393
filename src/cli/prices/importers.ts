import { isPriceEntry } from '../../gateway/prices/entry.ts'
import { divideEven } from '../../gateway/prices/whole.ts'
import { readModels } from '../../app/prices/read-list.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { parsePico } from '../../lib/pico.ts'
import type { ListedProvider } from './catalogue-files.ts'

/** Reads a file of one public format. `provider` is needed where the file is of one provider alone. */
export type Importer = (text: string, provider: string | null) => readonly ListedProvider[]

/** The public formats, by the names that the command takes. */
export const importers: Readonly<Record<string, Importer>> = {
  ours: ofOneProvider,
  cents: ofOneProvider,
  litellm: ofLitellm,
  'models-dev': ofModelsDev,
  'genai-prices': ofGenaiPrices,
}

/** Lists of one provider: in our format, and in US cents for one token. */
function ofOneProvider(text: string, provider: string | null): readonly ListedProvider[] {
  if (provider === null) throw new Error('the file is of one provider: say which with --provider')
  return [{ provider, models: readModels(Buffer.from(text)) }]
}

/** US dollars for one token. */
const perToken = (price: unknown): number | null => rateOf(price, 1n)
/** US dollars for a million tokens. */
const perMillion = (price: unknown): number | null => rateOf(price, 1_000_000n)

/** Returns whole pico-US-dollars for one unit; null for what is no price, and for zero, which stands for "not known" in these files. */
function rateOf(price: unknown, units: bigint): number | null {
  if (typeof price !== 'number' || price <= 0) return null
  return Number(divideEven(parsePico(String(price)), units))
}

type Read = (price: unknown) => number | null

/** Returns the rates of fields that have one. */
function ratesOf(fields: Fields, names: Readonly<Record<string, string>>, read: Read): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [field, dimension] of Object.entries(names)) {
    const rate = read(fields[field])
    if (rate !== null) found[dimension] = rate
  }
  return found
}

/** Collects models by provider, and leaves out those without a price. */
function collector() {
  const providers = new Map<string, Record<string, Fields>>()
  return {
    add(provider: string, model: string, fields: Fields): void {
      if (!isPriceEntry(fields) || fields.prices.every(({ rates }) => Object.keys(rates).length === 0)) return
      const models = providers.get(provider) ?? {}
      models[model.toLowerCase()] = { ...fields }
      providers.set(provider, models)
    },
    lists: (): readonly ListedProvider[] => [...providers].map(([provider, models]) => ({ provider, models })),
  }
}

const litellmProviders: Readonly<Record<string, string>> = {
  gemini: 'google',
  'vertex_ai-language-models': 'vertex-ai',
  'vertex_ai-anthropic_models': 'vertex-ai',
  vertex_ai: 'vertex-ai',
  bedrock_converse: 'bedrock',
  azure: 'azure-openai',
  azure_ai: 'azure-ai',
  fireworks_ai: 'fireworks-ai',
  together_ai: 'together-ai',
  mistral: 'mistral-ai',
  cohere_chat: 'cohere',
  xai: 'x-ai',
  perplexity: 'perplexity-ai',
}

const litellmRates: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_audio_token: 'output_audio',
  input_cost_per_character: 'input_character',
  input_cost_per_second: 'input_audio_second',
  output_cost_per_image: 'image',
  input_cost_per_query: 'search_unit',
  ocr_cost_per_page: 'page',
}

const suffixed = (end: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(litellmRates).map(([field, dimension]) => [field + end, dimension]))

const litellmConditions: readonly (readonly [condition: Fields, names: Readonly<Record<string, string>>])[] = [
  [{ mode: 'batch' }, suffixed('_batches')],
  [{ mode: 'flex' }, suffixed('_flex')],
  [{ mode: 'priority' }, suffixed('_priority')],
  ...[128, 200, 256, 272].map((thousand) => [{ over: thousand * 1000 }, suffixed(`_above_${thousand}k_tokens`)] as const),
]

/** `model_prices_and_context_window.json`: US dollars for one unit, all providers in one object. */
function ofLitellm(text: string): readonly ListedProvider[] {
  const found = collector()
  for (const [name, model] of Object.entries(objectOf(text))) {
    if (!isFields(model) || typeof model['litellm_provider'] !== 'string' || name === 'sample_spec') continue
    const named = model['litellm_provider']
    const rates = ratesOf(model, litellmRates, perToken)
    const when = litellmConditions
      .map(([condition, names]): Fields => Object.assign({ rates: ratesOf(model, names, perToken) }, condition))
      .filter(({ rates: own }) => isFields(own) && Object.keys(own).length > 0)
    const bare = name.startsWith(`${named}/`) ? name.slice(named.length + 1) : name
    found.add(litellmProviders[named] ?? named, bare, {
      kind: model['mode'],
      prices: [{ rates, ...(when.length === 0 ? {} : { when }) }],
      limits: numbersOf({ input: model['max_input_tokens'], output: model['max_output_tokens'] }),
    })
  }
  return found.lists()
}

const modelsDevProviders: Readonly<Record<string, string>> = {
  'google-vertex': 'vertex-ai',
  'amazon-bedrock': 'bedrock',
  azure: 'azure-openai',
  xai: 'x-ai',
  mistral: 'mistral-ai',
  togetherai: 'together-ai',
  perplexity: 'perplexity-ai',
}

const modelsDevRates: Readonly<Record<string, string>> = {
  input: 'input',
  output: 'output',
  cache_read: 'cache_read',
  cache_write: 'cache_write',
  reasoning: 'reasoning',
  input_audio: 'input_audio',
  output_audio: 'output_audio',
}

/** `api.json`: US dollars for a million tokens. */
function ofModelsDev(text: string): readonly ListedProvider[] {
  const found = collector()
  for (const [id, provider] of Object.entries(objectOf(text))) {
    const models = isFields(provider) ? provider['models'] : null
    if (!isFields(models)) continue
    for (const [name, model] of Object.entries(models)) {
      if (!isFields(model) || !isFields(model['cost'])) continue
      const { limit, modalities } = model
      found.add(modelsDevProviders[id] ?? id, name, {
        prices: [{ rates: ratesOf(model['cost'], modelsDevRates, perMillion) }],
        limits: isFields(limit) ? numbersOf(limit) : {},
        ...(isFields(modalities) ? { in: modalities['input'], out: modalities['output'] } : {}),
      })
    }
  }
  return found.lists()
}

const genaiProviders: Readonly<Record<string, string>> = {
  aws: 'bedrock',
  azure: 'azure-openai',
  mistral: 'mistral-ai',
  fireworks: 'fireworks-ai',
  together: 'together-ai',
  perplexity: 'perplexity-ai',
}

const genaiRates: Readonly<Record<string, string>> = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cache_read',
  cache_write_mtok: 'cache_write',
  input_audio_mtok: 'input_audio',
  output_audio_mtok: 'output_audio',
  cache_audio_read_mtok: 'cache_read_audio',
}

/** `data.json`: US dollars for a million tokens; a rate can have tiers, and prices can have days on which they begin. */
function ofGenaiPrices(text: string): readonly ListedProvider[] {
  const providers: unknown = JSON.parse(text)
  if (!Array.isArray(providers)) throw new Error('the file is no list of providers')
  const found = collector()
  for (const provider of providers) {
    if (!isFields(provider) || typeof provider['id'] !== 'string' || !Array.isArray(provider['models'])) continue
    for (const model of provider['models']) {
      const prices = isFields(model) ? genaiPeriods(model['prices']) : []
      if (!isFields(model) || typeof model['id'] !== 'string' || prices.length === 0) continue
      found.add(genaiProviders[provider['id']] ?? provider['id'], model['id'], {
        prices,
        limits: numbersOf({ context: model['context_window'] }),
      })
    }
  }
  return found.lists()
}

interface Dated {
  readonly from: string | null
  readonly prices: Fields
}

/** Returns the periods of prices, the oldest first. Of prices for hours of the day the ones without a condition count, or else the last. */
function genaiPeriods(given: unknown): readonly Fields[] {
  if (isFields(given)) return [toPeriod(given)]
  const entries = (Array.isArray(given) ? given.filter(isFields) : []).flatMap((entry): Dated[] =>
    isFields(entry['prices']) ? [{ from: startOf(entry['constraint']), prices: entry['prices'] }] : [],
  )
  const always = entries.findLast(({ from }) => from === null)
  const dated = entries.filter((entry) => entry.from !== null).toSorted((one, other) => (String(one.from) < String(other.from) ? -1 : 1))
  const all = [...(always === undefined ? [] : [always]), ...dated]
  if (all.length < 2) return all.map(({ prices }) => toPeriod(prices))
  return all.map(({ from, prices }, at) => Object.assign({ from: at === 0 ? null : from, to: all[at + 1]?.from ?? null }, toPeriod(prices)))
}

const startOf = (constraint: unknown): string | null =>
  isFields(constraint) && typeof constraint['start_date'] === 'string' ? constraint['start_date'].slice(0, 10) : null

const toPeriod = (prices: Fields): Fields => ({ rates: ratesOf(prices, genaiRates, baseOf), ...tiersOf(prices) })

const baseOf = (price: unknown): number | null =>
  perMillion(isFields(price) ? price['base'] : typeof price === 'string' ? Number(price) : price)

function tiersOf(prices: Fields): { readonly when?: readonly Fields[] } {
  const tiers = new Map<number, Record<string, number>>()
  for (const [field, dimension] of Object.entries(genaiRates)) {
    const price = prices[field]
    for (const tier of isFields(price) && Array.isArray(price['tiers']) ? price['tiers'].filter(isFields) : []) {
      const rate = perMillion(tier['price'])
      if (typeof tier['start'] === 'number' && rate !== null) tiers.set(tier['start'], { ...tiers.get(tier['start']), [dimension]: rate })
    }
  }
  const when = [...tiers].toSorted(([one], [other]) => one - other).map(([over, rates]) => ({ over, rates }))
  return when.length === 0 ? {} : { when }
}

const numbersOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0))

function objectOf(text: string): Fields {
  const value: unknown = JSON.parse(text)
  if (!isFields(value)) throw new Error('the file is no JSON object')
  return value
}
