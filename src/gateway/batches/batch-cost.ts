import { isFields, type Fields } from '../../lib/json/fields.ts'
import { promptTokens } from '../dialects/neutral/disjoint.ts'
import { readCounts } from '../dialects/read-counts.ts'
import { stateOf } from '../prices/state-of.ts'
import { matchOperation } from '../front/match.ts'
import { placeOf } from '../metering/region.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { type CostLine, type CostState, priceUsage } from '../prices/price-usage.ts'
import { findPrices } from '../prices/resolve.ts'
import { withSearchFee } from '../prices/search-fee.ts'
import type { IntegrationPrices } from '../prices/terms.ts'
import type { Target } from '../targets/target.ts'

/** The cost of a batch: the sum over its answers, each at the rates of its own model and length. */
export interface BatchCost {
  readonly state: CostState
  /** Pico-US-dollars. */
  readonly amount: bigint
  readonly lines: readonly CostLine[]
  readonly catalogue: string | null
  readonly answers: number
}

export interface BatchPricing {
  readonly target: Target
  readonly terms: IntegrationPrices | null
  readonly prices: PriceSource
  /** The path that the requests asked for. */
  readonly endpoint: string
  /** Epoch milliseconds: the prices of then count. */
  readonly begunAt: number
}

/** Sums answers up as they come, in lines that say what was counted at which rate. */
export function sumBatch(pricing: BatchPricing): { add(answer: Fields): void; cost(): BatchCost } {
  const operation = matchOperation('POST', pricing.endpoint.replace(/^\/v1(?=\/)/, '')).name
  const lines = new Map<string, CostLine>()
  const states = new Set<CostState>()
  let amount = 0n
  let answers = 0
  let catalogue: string | null = null
  return {
    add(answer) {
      const body = bodyOf(answer)
      const usage = isFields(body) ? body['usage'] : null
      if (!isFields(body) || !isFields(usage)) return
      const priced = priceAnswer({ usage, model: typeof body['model'] === 'string' ? body['model'] : null, operation }, pricing)
      answers += 1
      states.add(priced.state)
      amount += priced.amount ?? 0n
      catalogue ??= priced.catalogue
      for (const line of priced.lines) addLine(lines, line)
    },
    cost: () => ({ state: stateOf([...states]), amount, lines: [...lines.values()], catalogue, answers }),
  }
}

/** Returns the answer in a line of OpenAI's file or of Anthropic's results; null: the request failed. */
function bodyOf({ response, result }: Fields): unknown {
  if (isFields(response)) return response['body']
  return isFields(result) ? result['message'] : null
}

interface Answered {
  readonly usage: Fields
  readonly model: string | null
  readonly operation: string
}

function priceAnswer({ usage, model, operation }: Answered, { target, terms, prices, begunAt }: BatchPricing) {
  const found = findPrices({ provider: target.providerId, answered: model, sent: model, terms }, prices)
  const counts = withSearchFee(readCounts(usage, { provider: target.providerId, operation })?.counts ?? {}, found, null)
  const facts = {
    startedAt: begunAt,
    mode: 'batch',
    promptTokens: promptTokens(counts),
    ...placeOf(target, found),
    size: null,
    quality: null,
    hasTokens: true,
  }
  const cost = priceUsage({ counts, facts, reported: null, estimated: false }, found)
  return { ...cost, catalogue: found?.catalogue ?? null, lines: cost.lines.map((line) => noteModel(line, model)) }
}

/** Returns a line that names its model. */
export const noteModel = (line: CostLine, model: string | null): CostLine => ({
  ...line,
  note: [model, line.note].filter((part) => part !== null).join(', ') || null,
})

function addLine(lines: Map<string, CostLine>, line: CostLine): void {
  const key = JSON.stringify([line.dimension, line.unit, line.rate === null ? null : String(line.rate), line.source, line.note])
  const held = lines.get(key)
  lines.set(key, held === undefined ? line : { ...held, count: held.count + line.count, amount: held.amount + line.amount })
}
