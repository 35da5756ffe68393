import { isFields, type Fields } from '../../lib/json/fields.ts'
import { type MatchedOperation, matchOperation } from '../operations/match.ts'
import { meterJson, tellsUse } from '../metering/meter.ts'
import { drawnCharges } from '../metering/drawn-charges.ts'
import { priceMetered } from '../metering/price-metered.ts'
import type { PriceSource } from '../prices/price-source.ts'
import type { CostLine, CostState } from '../prices/price-usage.ts'
import { stateOf } from '../prices/state-of.ts'
import { sumCosts } from '../prices/sum-costs.ts'
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
  /** True while a model of an answer with usage has no price. */
  readonly lacksPrices: boolean
}

export interface BatchPricing {
  readonly target: Target
  readonly terms: IntegrationPrices | null
  readonly prices: PriceSource
  /** The path that the requests asked for. */
  readonly endpoint: string
  /** Epoch milliseconds: the prices of then count. */
  readonly begunAt: number
  /** Null: the mode in which the answer states that it was served. */
  readonly mode: 'batch' | null
}

/** A sum of answers. */
export interface BatchSum {
  add(answer: Fields): void
  cost(): BatchCost
  /** Returns how many of the answers are those of requests that succeeded. */
  succeeded(): number
}

/** Sums answers up as they come, in lines of counts and their rates. */
export function sumBatch(pricing: BatchPricing): BatchSum {
  const operation = matchOperation('POST', pricing.endpoint.replace(/^\/v1(?=\/)/, ''))
  const lines = new Map<string, CostLine>()
  const states = new Set<CostState>()
  let amount = 0n
  let answers = 0
  let succeeded = 0
  let lacksPrices = false
  let catalogue: string | null = null
  return {
    add(answer) {
      const { status, body } = answerOf(answer)
      if (!isFields(body)) return
      if (isSuccess(status)) succeeded += 1
      const priced = priceAnswer({ status, body }, operation, pricing)
      if (priced === null) return
      const { cost, model, found } = priced
      answers += 1
      states.add(cost.state)
      lacksPrices ||= cost.state === 'unpriced' && cost.unpriced.length > 0
      amount += cost.amount ?? 0n
      catalogue ??= found?.catalogue ?? null
      for (const line of cost.lines) addLine(lines, noteModel(line, model))
    },
    cost: () => ({ state: stateOf([...states]), amount, lines: [...lines.values()], catalogue, answers, lacksPrices }),
    succeeded: () => succeeded,
  }
}

interface Answer {
  readonly status: number
  readonly body: Fields
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Prices an answer as one that came at once, at the rates of batches; null: the request failed, or is free at the provider. */
function priceAnswer({ status, body }: Answer, operation: MatchedOperation, { target, terms, prices, begunAt, mode }: BatchPricing) {
  const bytes = Buffer.from(JSON.stringify(body))
  const asked = { operation: operation.name, method: 'POST', provider: target.providerId, json: asAsked(body), upload: null }
  const metered = meterJson(bytes, operation.spec?.dialect ?? null, asked)
  const told = mode === null ? metered : { ...metered, mode }
  if (!isSuccess(status) && !tellsUse(told)) return null
  const model = typeof body['model'] === 'string' ? body['model'] : told.model
  // The model that was asked stands in a file that is not read: the one that answered has its price.
  const request = { target: { ...target, model }, terms, prices, json: null, startedAt: begunAt }
  const priced = priceMetered({ ...told, model }, request)
  const { drawn } = priced.metered
  if (drawn === null || priced.metered.reported !== null) return { model, ...priced }
  const { facts, metered: own } = priced
  const drawing = { drawn, metered: own, facts, provider: target.providerId, terms, prices, tools: body['tools'] }
  return { model, ...priced, cost: sumCosts([priced.cost, ...drawnCharges(drawing).map(({ cost }) => cost)]) }
}

/** The request stands in a file that is not read: a response repeats its tools. */
const asAsked = ({ tools = null }: Fields): Fields | null => (tools === null ? null : { tools })

/** Returns the answer in a line of OpenAI's file or of Anthropic's results; a body that is none: the request failed. */
function answerOf({ response, result }: Fields): { readonly status: number; readonly body: unknown } {
  if (isFields(response))
    return { status: response['status_code'] === undefined ? 200 : Number(response['status_code']), body: response['body'] }
  return { status: 200, body: isFields(result) ? result['message'] : null }
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
