import type { ConditionalPart } from '../../app/prices/joint-rates.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ListedProvider } from './catalogue-files.ts'
import { numbersOf, perHour, perMillion, perThousand, type ReadPrice } from './list-rates.ts'
import { createCollector, type ListedPeriod } from './model-collector.ts'

const providers: Readonly<Record<string, string>> = {
  aws: 'bedrock',
  azure: 'azure-openai',
  cloudflare: 'workers-ai',
  fireworks: 'fireworks-ai',
  mistral: 'mistral-ai',
  moonshotai: 'moonshot',
  novita: 'novita-ai',
  perplexity: 'perplexity-ai',
  together: 'together-ai',
  voyageai: 'voyage',
  zai: 'z-ai',
  zhipuai: 'zhipu',
}

const rates: Readonly<Record<string, readonly [dimension: string, read: ReadPrice]>> = {
  input_mtok: ['input', perMillion],
  output_mtok: ['output', perMillion],
  cache_read_mtok: ['cache_read', perMillion],
  cache_write_mtok: ['cache_write', perMillion],
  cache_write_1h_mtok: ['cache_write_1h', perMillion],
  input_audio_mtok: ['input_audio', perMillion],
  output_audio_mtok: ['output_audio', perMillion],
  cache_audio_read_mtok: ['cache_read_audio', perMillion],
  input_image_mtok: ['input_image', perMillion],
  output_image_mtok: ['output_image', perMillion],
  cache_image_read_mtok: ['cache_read_image', perMillion],
  input_video_mtok: ['input_video', perMillion],
  output_video_mtok: ['output_video', perMillion],
  output_reasoning_mtok: ['reasoning', perMillion],
  output_citation_mtok: ['citation', perMillion],
  input_mchars: ['input_character', perMillion],
  web_searches_kcount: ['web_search', perThousand],
  storage_searches_kcount: ['file_search', perThousand],
  requests_kcount: ['request', perThousand],
  input_document_kpages: ['page', perThousand],
  input_annotated_document_kpages: ['annotated_page', perThousand],
  input_text_messages_kcount: ['text_message', perThousand],
  input_audio_hours: ['input_audio_second', perHour],
  output_audio_hours: ['output_audio_second', perHour],
  audio_hours: ['audio_second', perHour],
}

/** `data.json`: US dollars for a million tokens. A rate can have tiers, a price a day on which it begins, and a mode rates of its own. */
export function ofGenaiPrices(text: string): readonly ListedProvider[] {
  const given: unknown = JSON.parse(text)
  if (!Array.isArray(given)) throw new Error('the file is no list of providers')
  const found = createCollector()
  for (const { id, models } of given.filter(isFields)) {
    if (typeof id !== 'string' || !Array.isArray(models)) continue
    for (const model of models.filter(isFields)) {
      const periods = withModes(periodsOf(model['prices']), model['price_variants'])
      const facts = { limits: numbersOf({ context: model['context_window'] }) }
      for (const name of namesOf(model)) found.add({ provider: providers[id] ?? id, name, periods, facts })
    }
  }
  return found.lists()
}

/** The id of a model, and the names that stand for it word by word. `regional.` is no name of a model: it stands for all regions. */
const namesOf = ({ id, match }: Fields): readonly string[] =>
  typeof id === 'string' ? [...new Set([id, ...equalTo(match)])].filter((name) => !name.startsWith('regional.')) : []

function equalTo(clause: unknown): readonly string[] {
  if (!isFields(clause)) return []
  if (typeof clause['equals'] === 'string') return [clause['equals']]
  return Array.isArray(clause['or']) ? clause['or'].flatMap(equalTo) : []
}

/** Returns the periods of prices, the oldest first. Prices for hours of the day are conditions of the one without any. */
function periodsOf(given: unknown): readonly ListedPeriod[] {
  if (isFields(given)) return [{ from: null, parts: partsOf(given, {}) }]
  const entries = (Array.isArray(given) ? given.filter(isFields) : []).flatMap(({ constraint, prices }) =>
    isFields(prices) ? [{ from: startOf(constraint), utc: hoursOf(constraint), prices }] : [],
  )
  const clock = entries.flatMap(({ utc, prices }) => (utc === null ? [] : partsOf(prices, { utc: [utc] })))
  const plain = entries.filter(({ utc }) => utc === null)
  const always = plain.findLast(({ from }) => from === null)
  const dated = plain.filter(({ from }) => from !== null).toSorted((one, other) => (String(one.from) < String(other.from) ? -1 : 1))
  return [...(always === undefined ? [] : [always]), ...dated].map(({ from, prices }) => ({
    from,
    parts: [...partsOf(prices, {}), ...clock],
  }))
}

const startOf = (constraint: unknown): string | null =>
  isFields(constraint) && typeof constraint['start_date'] === 'string' ? constraint['start_date'].slice(0, 10) : null

/** A window of the day is written with seconds and the zone: `16:30:00Z`. */
function hoursOf(constraint: unknown): string | null {
  const [start, end] = isFields(constraint) ? [constraint['start_time'], constraint['end_time']] : []
  return typeof start === 'string' && typeof end === 'string' ? `${start.slice(0, 5)}-${end.slice(0, 5)}` : null
}

/** Adds the rates of modes to the periods in which they hold. */
function withModes(periods: readonly ListedPeriod[], variants: unknown): readonly ListedPeriod[] {
  const known = (Array.isArray(variants) ? variants.filter(isFields) : []).flatMap(({ when, prices, constraint }) => {
    const mode = modeOf(when)
    return mode === null || !isFields(prices) ? [] : [{ from: startOf(constraint), parts: partsOf(prices, { mode }) }]
  })
  if (known.length === 0) return periods
  return periods.map(({ from, parts }, at) => {
    const next = periods[at + 1]?.from ?? null
    return {
      from,
      parts: [...parts, ...known.filter((one) => next === null || one.from === null || one.from < next).flatMap((one) => one.parts)],
    }
  })
}

function modeOf(when: unknown): string | null {
  if (!isFields(when) || Object.keys(when).length !== 1) return null
  const { processing, speed, service_tier: tier } = when
  if (processing === 'batch') return 'batch'
  if (speed === 'fast') return 'fast'
  if (typeof tier !== 'string' || tier === 'default') return null
  return tier === 'fast' ? 'priority' : tier
}

/** A rate that depends on the length of the prompt has a base and tiers. */
function partsOf(prices: Fields, condition: Fields): readonly ConditionalPart[] {
  return Object.entries(rates).flatMap(([field, [dimension, read]]) => {
    const price = prices[field]
    const tiers = isFields(price) && Array.isArray(price['tiers']) ? price['tiers'].filter(isFields) : []
    const all: readonly (readonly [Fields, unknown])[] = [
      [condition, isFields(price) ? price['base'] : price],
      ...tiers.map(({ start, price: own }) => [{ ...condition, over: start }, own] as const),
    ]
    return all.flatMap(([when, value]) => {
      const rate = read(typeof value === 'string' ? Number(value) : value)
      return rate === null ? [] : [{ condition: when, rates: { [dimension]: rate } }]
    })
  })
}
