import test from 'ava'
import { openBuiltIn } from '../../../../src/app/prices/built-in.ts'
import { dimensions, type Dimension } from '../../../../src/gateway/dialects/neutral/counts.ts'
import type { PriceEntry } from '../../../../src/gateway/prices/entry.ts'
import { priceAmount, priceUsage } from '../../../../src/gateway/prices/price-usage.ts'

/** Counts that a request has; `ms` and pixels are counted in the small unit, as the product does. */
type Used = Partial<Record<Dimension, number>>

interface Request {
  readonly at: number
  readonly mode: string | null
  readonly prompt: number
  readonly geo: string | null
  readonly counts: Used
}

/** A fraction that is never rounded before the end. */
interface Exact {
  readonly top: bigint
  readonly bottom: bigint
}

const parents: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(dimensions).flatMap(([name, { parent }]) => (parent === null ? [] : [[name, parent]])),
)

const conditionsOf = (one: object) => Object.keys(one).length

/** The README of the catalogue once more, step by step, in fractions: null for a model without a price. Supports standard modes of the entry alone. */
function amountOf(entry: PriceEntry, name: Dimension, request: Request): bigint | null {
  const day = new Date(request.at).toISOString().slice(0, 10)
  const period = entry.prices.find(({ from, to }) => (from ?? '0') <= day && day < (to ?? '9'))
  if (period === undefined) return null
  const holding = (period.when ?? []).filter((one) => {
    const { rates: _, ...conditions } = one
    return Object.entries(conditions).every(([condition, value]) => {
      if (condition === 'mode') return value === request.mode
      if (condition === 'over') return request.prompt > Number(value)
      if (condition === 'geo') return (value as string[]).includes(request.geo ?? '')
      return false
    })
  })
  for (let wanted: string | undefined = name; wanted !== undefined; wanted = parents[wanted]) {
    const key = wanted as Dimension
    const best = holding
      .filter(({ rates }) => rates[key] !== undefined)
      .reduce<(typeof holding)[number] | null>(
        (found, one) => (found === null || conditionsOf(one) >= conditionsOf(found) ? one : found),
        null,
      )
    const rate = best?.rates[key] ?? period.rates[key]
    if (rate === undefined) continue
    const isToken = dimensions[name].unit === 'token'
    const uplift = best?.geo === undefined && best?.region === undefined && isToken ? (entry.uplift?.[request.geo ?? ''] ?? 1000) : 1000
    const perUnit = rounded({ top: BigInt(rate) * BigInt(uplift), bottom: 1000n })
    return rounded({ top: perUnit * BigInt(request.counts[name] ?? 0), bottom: dimensions[name].per })
  }
  return null
}

function rounded({ top, bottom }: Exact): bigint {
  const [whole, rest] = [top / bottom, (top % bottom) * 2n]
  if (rest < bottom) return whole
  if (rest > bottom) return whole + 1n
  return whole + (whole & 1n)
}

/** The same numbers in each run. */
function numbers(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % below
  }
}

test('a second implementation prices every model of the catalogue to the same pico-dollar, dimension by dimension', (t) => {
  const builtIn = openBuiltIn()
  const next = numbers(7)
  const seen = new Set<string>()
  let compared = 0
  for (const provider of Object.keys(builtIn.providers)) {
    const file = builtIn.file(provider)
    for (const model of file?.models() ?? []) {
      const entry = file?.find(model) ?? null
      if (entry === null || entry.free === true) continue
      const named = new Set<Dimension>(
        entry.prices.flatMap(({ rates, when = [] }) =>
          [rates, ...when.map((one) => one.rates)].flatMap((one) => Object.keys(one) as Dimension[]),
        ),
      )
      // Children of priced dimensions fall back to them.
      for (const [child, parent] of Object.entries(parents)) if (named.has(parent as Dimension)) named.add(child as Dimension)
      const modes = [null, ...new Set(entry.prices.flatMap(({ when = [] }) => when.flatMap(({ mode }) => mode ?? [])))]
      for (const name of named) {
        if (/_(?:second|minute|hour)$/.test(name)) continue
        const count = next(3_000_000) + 1
        const request: Request = {
          at: Date.UTC(2026, 10, 22 + next(60), next(24)),
          mode: modes[next(modes.length)] ?? null,
          prompt: next(4) * 100_001,
          geo: [null, 'us', 'eu', 'regional', 'in-region'][next(5)] ?? null,
          counts: { [name]: count },
        }
        const timed = entry.prices.some(({ when = [] }) =>
          when.some(({ utc, weekdays, usage, size, quality, region }) => utc ?? weekdays ?? usage ?? size ?? quality ?? region),
        )
        // Modes that the entry lacks in the period are derived by the provider's rule, which is tested apart.
        if (timed || (request.mode !== null && !entry.prices.every(({ when = [] }) => when.some(({ mode }) => mode === request.mode))))
          continue
        const { at, mode, prompt, geo, counts } = request
        const facts = { startedAt: at, mode, promptTokens: prompt, geo, region: null, size: null, quality: null, hasTokens: true }
        const prices = { entry, model, source: 'built_in', modeDefault: null, multipliers: null }
        const cost = priceUsage({ counts, facts, reported: null, estimated: false }, prices)
        t.is(priceAmount({ counts, facts }, prices), cost.amount, `${provider}/${model} without lines`)
        t.is(cost.amount, amountOf(entry, name, request), `${provider}/${model} ${name} ${JSON.stringify(request)}`)
        seen.add(name)
        compared += 1
      }
    }
  }
  t.true(compared > 20_000, `${compared} compared`)
  t.true(seen.size > 25, `${seen.size} dimensions`)
})

test('a cached token costs no more than one that is read anew; of Claude at most an eighth of it (#9833)', (t) => {
  const builtIn = openBuiltIn()
  /** As their own list has them. */
  const dearer = ['openrouter ~deepseek/deepseek-pro-latest']
  let looked = 0
  const found = Object.keys(builtIn.providers).flatMap((provider) => {
    const file = builtIn.file(provider)
    return [...(file?.models() ?? [])].flatMap((model) =>
      (file?.find(model)?.prices ?? []).flatMap(({ rates: { input, cache_read: read } }) => {
        if (input === undefined || read === undefined) return []
        looked += 1
        return read > input || (provider === 'anthropic' && read * 8 > input) ? [`${provider} ${model}`] : []
      }),
    )
  })
  t.deepEqual(found, dearer)
  t.true(looked > 1000, String(looked))
})

test('the models that most people call have a price (Helicone#2983, langfuse#4072)', (t) => {
  const builtIn = openBuiltIn()
  const main = {
    openai: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-5', 'o3', 'o4-mini', 'text-embedding-3-small', 'whisper-1'],
    anthropic: ['claude-sonnet-4-5', 'claude-opus-4-1', 'claude-haiku-4-5'],
    google: ['gemini-2.5-pro', 'gemini-2.5-flash'],
    bedrock: ['anthropic.claude-sonnet-4-5-20250929-v1:0'],
  }
  for (const [provider, models] of Object.entries(main))
    for (const model of models) t.not(builtIn.file(provider)?.find(model) ?? null, null, `${provider}/${model}`)
})
