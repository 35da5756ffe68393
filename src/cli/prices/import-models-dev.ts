import type { ConditionalPart } from '../../app/prices/joint-rates.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ListedProvider } from './catalogue-files.ts'
import { numbersOf, perMillion, ratesOf } from './list-rates.ts'
import { createCollector } from './model-collector.ts'

const providers: Readonly<Record<string, string>> = {
  'google-vertex': 'vertex-ai',
  'amazon-bedrock': 'bedrock',
  azure: 'azure-openai',
  xai: 'x-ai',
  mistral: 'mistral-ai',
  togetherai: 'together-ai',
  perplexity: 'perplexity-ai',
  moonshotai: 'moonshot',
  alibaba: 'dashscope',
  zai: 'z-ai',
  zhipuai: 'zhipu',
}

const names: Readonly<Record<string, string>> = {
  input: 'input',
  output: 'output',
  cache_read: 'cache_read',
  cache_write: 'cache_write',
  reasoning: 'reasoning',
  input_audio: 'input_audio',
  output_audio: 'output_audio',
}

/** `api.json`: US dollars for a million tokens. */
export function ofModelsDev(text: string): readonly ListedProvider[] {
  const given: unknown = JSON.parse(text)
  if (!isFields(given)) throw new Error('the file is no JSON object')
  const found = createCollector()
  for (const [id, provider] of Object.entries(given)) {
    const models = isFields(provider) ? provider['models'] : null
    if (!isFields(models)) continue
    for (const [name, model] of Object.entries(models)) {
      if (!isFields(model) || !isFields(model['cost'])) continue
      found.add({ provider: providers[id] ?? id, name, periods: [{ from: null, parts: partsOf(model['cost']) }], facts: factsOf(model) })
    }
  }
  return found.lists()
}

function partsOf(cost: Fields): readonly ConditionalPart[] {
  const tiers = Array.isArray(cost['tiers']) ? cost['tiers'].filter(isFields) : []
  const long = tiers.flatMap((tier) => {
    const over = isFields(tier['tier']) ? tier['tier']['size'] : tier['above']
    return typeof over === 'number' ? [{ condition: { over }, rates: ratesOf(tier, names, perMillion) }] : []
  })
  return [{ condition: {}, rates: ratesOf(cost, names, perMillion) }, ...long]
}

const factsOf = ({ limit, modalities }: Fields): Fields => ({
  limits: isFields(limit) ? numbersOf(limit) : {},
  ...(isFields(modalities) ? { in: modalities['input'], out: modalities['output'] } : {}),
})
