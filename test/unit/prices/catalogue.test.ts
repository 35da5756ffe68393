import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { familyName } from '../../../src/cli/prices/votes.ts'
import type { Dimension } from '../../../src/gateway/dialects/neutral/counts.ts'
import type { PriceEntry } from '../../../src/gateway/prices/entry.ts'
import { priceUsage } from '../../../src/gateway/prices/price-usage.ts'
import { namesOf } from '../../../src/gateway/prices/names.ts'

const builtIn = openBuiltIn()
const notes = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../../scripts/prices/outliers.json'), 'utf8')) as Record<
  string,
  string
>

interface Listed {
  readonly name: string
  readonly family: string
  readonly kind: string
  readonly dimension: string
  readonly rate: number
}

const all: readonly Listed[] = Object.keys(builtIn.providers).flatMap((provider) => {
  const file = builtIn.file(provider)
  return [...(file?.models() ?? [])].flatMap((model) => {
    const entry = file?.find(model)
    return (entry?.prices ?? []).flatMap(({ rates }) =>
      Object.entries(rates).flatMap(([dimension, rate]) =>
        rate === 0 ? [] : [{ name: `${provider}/${model}`, family: familyName(model), kind: entry?.kind ?? '', dimension, rate }],
      ),
    )
  })
})

const share = (rates: readonly number[], part: number): number =>
  rates.toSorted((one, other) => one - other)[Math.floor(rates.length * part)] ?? 0

const most = 20
const noted = new Map(Object.keys(notes).map((name) => [name.toLowerCase(), name]))
const found = new Set<string>()

const tell = ({ name, dimension, rate }: Listed, than: number): readonly string[] => {
  const note = noted.get(name)
  if (note !== undefined) found.add(note)
  return note === undefined ? [`${name} ${dimension}: ${rate}, and others ${than}`] : []
}

test('no rate is more than 20 times the median of its model at all providers, or less than a twentieth, without a note', (t) => {
  const families = [...Map.groupBy(all, ({ family, dimension }) => `${family} ${dimension}`).values()]
  const large = families.filter((family) => new Set(family.map(({ name }) => name)).size >= 3)
  t.true(large.length > 400, String(large.length))
  const odd = large.flatMap((family) => {
    const median = share(
      family.map(({ rate }) => rate),
      0.5,
    )
    return family.flatMap((one) => (one.rate > median * most || one.rate * most < median ? tell(one, median) : []))
  })
  t.deepEqual(odd, [])
})

test('no rate of any model is more than 20 times that of nine in ten of its kind, without a note', (t) => {
  const odd = [...Map.groupBy(all, ({ kind, dimension }) => `${kind} ${dimension}`).values()].flatMap((kind) => {
    const high = share(
      kind.map(({ rate }) => rate),
      0.9,
    )
    return kind.flatMap((one) => (one.rate > high * most ? tell(one, high) : []))
  })
  t.deepEqual(odd, [])
})

test('every note has a rate that it is for, and says why', (t) => {
  t.deepEqual([...noted.values()].filter((name) => !found.has(name)).toSorted(), [])
  for (const [name, why] of Object.entries(notes)) t.true(why.length > 20, name)
})

interface Asked {
  readonly mode?: string
  readonly prompt?: number
  readonly geo?: string
  readonly day?: string
}

/** Micro-dollars for a million units, as the product prices them. */
function priced(named: string, dimension: Dimension, asked: Asked = {}): number | string {
  const [provider = '', ...rest] = named.split(' ')
  const [name] = namesOf(provider, rest.join(' '))
  const entry: PriceEntry | null = name === undefined ? null : (builtIn.file(provider)?.find(name.model) ?? null)
  const { mode = null, prompt = 1000, geo = name?.geo ?? null, day = '2026-12-02' } = asked
  const facts = {
    startedAt: Date.parse(`${day}T11:00:00Z`),
    mode,
    promptTokens: prompt,
    geo,
    region: null,
    size: null,
    quality: null,
    hasTokens: true,
  }
  const prices = entry === null ? null : { entry, model: '', source: '', modeDefault: null, multipliers: null }
  const cost = priceUsage({ counts: { [dimension]: 1_000_000 }, facts, reported: null, estimated: false }, prices)
  return cost.amount === null ? cost.state : Number(cost.amount / 1000n) / 1e9
}

/** US dollars for a million tokens, read off the lists by hand. */
const known: readonly (readonly [model: string, dimension: Dimension, dollars: number, asked?: Asked])[] = [
  ['azure-ai jais-30b-chat', 'input', 3.2],
  ['azure-ai jais-30b-chat', 'output', 9.71],
  ['google gemini-2.5-pro', 'input', 1.25, { mode: 'flex', prompt: 300_000 }],
  ['google gemini-2.5-pro', 'output', 7.5, { mode: 'flex', prompt: 300_000 }],
  ['google gemini-2.5-pro', 'cache_read', 0.25, { mode: 'flex', prompt: 300_000 }],
  ['google gemini-3.1-pro-preview', 'output', 9, { mode: 'flex', prompt: 300_000 }],
  ['bedrock global.openai.gpt-5.4', 'input', 2.5],
  ['bedrock us.openai.gpt-5.4', 'input', 2.75],
  ['bedrock openai.gpt-5.4', 'input', 2.75],
  ['bedrock global.openai.gpt-5.4', 'output', 22.5, { prompt: 300_000 }],
  ['bedrock us.openai.gpt-5.5', 'input', 11, { prompt: 300_000 }],
  ['together-ai Qwen/Qwen3.7-Max', 'input', 2.5],
  ['together-ai Qwen/Qwen3.7-Max', 'output', 7.5],
  ['together-ai Qwen/Qwen3.7-Max', 'cache_read', 0.5],
  ['bedrock us.anthropic.claude-mythos-5', 'cache_read', 1.1],
  ['fireworks-ai glm-5p2', 'cache_read', 0.14],
  ['deepseek deepseek-v3.2', 'cache_read', 0.028],
  ['mistral-ai mistral-medium', 'input', 1.5],
  ['mistral-ai mistral-medium', 'input', 0.4, { day: '2026-06-15' }],
  ['mistral-ai magistral-medium-latest', 'output', 7.5],
  ['mistral-ai magistral-small-latest', 'input', 0.15],
  ['mistral-ai magistral-small-latest', 'input', 0.5, { day: '2026-11-28' }],
  ['bedrock us-gov.xai.grok-4.7', 'output', 7.92],
  ['azure-openai gpt-6-astra', 'input', 5, { mode: 'flex' }],
  ['azure-openai gpt-6-luna', 'output', 0.25, { mode: 'flex' }],
  ['azure-openai gpt-6-sol', 'output', 8.25, { mode: 'flex', geo: 'us', prompt: 300_000 }],
  ['x-ai grok-code-fast-1', 'input', 1],
  ['x-ai grok-code-fast-1', 'output', 1.5, { day: '2026-05-14' }],
  ['google gemini-4-hydrogen', 'reasoning', 3.75, { mode: 'batch' }],
  ['google gemini-omni-1.2-flash', 'output_video', 12],
  ['openai gpt-image-2.6-sunburst', 'output_image', 30],
  ['openai gpt-image-2.6-flare', 'output_image', 30],
  ['bedrock global.moonshotai.kimi-k3.1', 'input', 4],
  ['bedrock us.moonshotai.kimi-k3.1', 'output', 11, { mode: 'flex' }],
  ['fireworks-ai kimi-k3p1-pro', 'output', 10],
  ['anthropic claude-mythos-5-1', 'cache_read', 0.25],
  ['azure-ai claude-mythos-5-1', 'input', 10],
  ['azure-ai cohere-rerank-v5-pro', 'input', 0.05],
  ['azure-ai cohere-rerank-v5-fast', 'input', 0.02],
  ['azure-ai FLUX.2-flex', 'megapixel', 0.05],
  ['jina jina-reranker-v3.5', 'input', 0.05],
  ['jina jina-reranker-m0', 'input', 0.05],
  ['databricks databricks-claude-sonnet-5-5', 'output', 9.99999],
  ['watsonx ibm/granite-3-8b-instruct', 'input', 0.2],
  ['z-ai glm-4.7-flash', 'input', 0],
  ['z-ai glm-4.5-flash', 'output', 0],
  ['zhipu glm-4.5-flash', 'cache_read', 0],
  ['google gemma-3-27b-it', 'output', 0],
  ['google models/gemma-4-31b-it', 'input', 0],
]

test('prices that were wrong or missing are those of the lists of today, and requests of before keep theirs', (t) => {
  const wrong = known.flatMap(([model, dimension, dollars, asked]) => {
    const is = priced(model, dimension, asked)
    return is === dollars ? [] : [`${model} ${dimension} ${JSON.stringify(asked ?? {})}: ${is} and not ${dollars}`]
  })
  t.deepEqual(wrong, [])
})

test('a free model is priced in every dimension; one that no list has is not', (t) => {
  for (const dimension of ['input', 'output', 'cache_read', 'input_image'] as const) t.is(priced('z-ai glm-4.7-flash', dimension), 0)
  t.is(priced('z-ai glm-of-tomorrow', 'input'), 'unpriced')
  t.is(priced('dashscope qwen-image-3.0-pro', 'image'), 'unpriced')
})
