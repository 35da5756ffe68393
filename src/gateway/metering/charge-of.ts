import type { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { Attempt } from '../attempts/attempt.ts'
import { isRecalled } from './is-recalled.ts'
import type { RelayResult } from '../answers/relay.ts'
import { noUnused } from '../answers/unused-answer.ts'
import type { MatchedOperation } from '../operations/match.ts'
import type { AskedWork } from '../operations/asked-work.ts'
import { asksBackground } from '../operations/jobs.ts'
import { notCharged } from '../prices/price-usage.ts'
import type { Task } from '../operations/operations.ts'
import { fillCounts } from '../tokens/estimate-usage.ts'
import { outputTokens } from '../dialects/neutral/disjoint.ts'
import { noUsage, sumFigures, type TokenUsage } from '../dialects/neutral/token-usage.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { isProvisioned, saysProvisioned } from '../prices/terms.ts'
import { servedModel } from '../targets/azure-deployment.ts'
import type { Target } from '../targets/target.ts'
import { drawnCharges } from './drawn-charges.ts'
import { type Charge, noCharge, sumCharges, untoldCharge } from './charge.ts'
import { mayGoOn } from './may-go-on.ts'
import { meter, meterUnused, type MeteredUsage, type MeteredRequest, tellsUse, withCounts } from './meter.ts'
import { priceMetered } from './price-metered.ts'
import { hidesOutput } from './unseen.ts'

/** The facts of the exchange that an attempt belongs to. */
export interface ChargedExchange {
  readonly operation: MatchedOperation
  readonly method: string
  /** The work that its call asks for; null: none. */
  readonly work: AskedWork | null
  /** Epoch milliseconds. */
  readonly receivedAt: number
}

/**
 * Meters and prices one attempt, once. Requests that only read or change earlier results, and token counts, are free: their answers may repeat
 * earlier usage. A failure costs the usage in its answer, and is free without one. All other work may cost: it is unpriced where its answer has no
 * usage, and a job that costs when it has ended is unpriced until then. A request whose answer did not come in time is unpriced. A cache hit states the saved cost.
 */
export function chargeOf(attempt: Attempt, result: ChargedAnswer | null, { exchange, prices, error }: ChargeContext): Charge {
  const { target } = attempt
  const { work } = exchange
  if (target === null || !usesModel(work)) return noCharge
  const unused = unusedCharge({ attempt, target, work }, { exchange, prices })
  if (unused !== null) return unused
  return result === null
    ? unansweredCharge({ attempt, target, work }, error)
    : answeredCharge({ attempt, target, work }, result, { exchange, prices })
}

function answeredCharge({ attempt, target, work }: ChargeRequest, result: ChargedAnswer, { exchange, prices }: PricingContext): Charge {
  const told = result.told()
  const answer = { ...result, told: () => told }
  const request = requestOf(attempt, { exchange, provider: target.providerId })
  const read = ofDeployment(meter(answer, request), target)
  if (beganJob(work, result) || runsOn(read, result, { attempt, target, work })) return { ...untoldCharge, metered: read }
  const metered = filled(read, result, { attempt, target, work, prices, hasEnded: told.hasEnded })
  const parts = metered.estimated ? undefined : result.counted?.parts
  if (!isCharged(result) && !tellsUse(metered) && parts === undefined) return { ...noCharge, metered }
  if (parts === undefined) return priced(metered, { attempt, target }, { exchange, prices })
  const each = partsOf(parts, result).map((counted) => ofDeployment(meter({ ...answer, counted }, request), target))
  return sumCharges(
    metered,
    each.map((part) => priced(part, { attempt, target }, { exchange, prices })),
  )
}

const usesModel = (work: AskedWork | null): boolean => work !== null && work.task !== 'token-count'

/** Returns true if the answer began work that costs when it has ended. */
const beganJob = (work: AskedWork | null, result: ChargedAnswer): boolean => work?.beginsJob === true && isCharged(result)

interface ChargeRequest {
  readonly attempt: Attempt
  readonly target: Target
  readonly work: AskedWork | null
}

/** Returns true for a response in the background without usage: its cost is known when it has ended. One that is translated runs in none. */
const runsOn = ({ hasTokens }: MeteredUsage, result: ChargedAnswer, asked: ChargeRequest): boolean =>
  !hasTokens && isInBackground(asked) && isCharged(result)

const isInBackground = ({ attempt: { body, translated }, target, work }: ChargeRequest): boolean =>
  translated?.sameDialect !== false && asksBackground({ json: body?.json, operation: work?.operation ?? null, provider: target.providerId })

/**
 * Returns the charge of a request that was not answered: unknown where the provider has the request and may do its work, since a caller chooses how long
 * to wait. A broken connection ends the work, except a job and a response in the background.
 */
function unansweredCharge(asked: ChargeRequest, error: ApiError | null): Charge {
  if (!mayGoOn(asked.attempt, error)) return noCharge
  const isBroken = error?.code === 'upstream_bad_response'
  return !isBroken || asked.work?.beginsJob === true || isInBackground(asked) ? untoldCharge : noCharge
}

/** Returns the charge of the answers of an attempt that its caller did not get; null: there are none that cost. One that was cut has an unknown part. */
function unusedCharge({ attempt, target }: ChargeRequest, { exchange, prices }: PricingContext): Charge | null {
  const answers = attempt.translated?.unused() ?? noUnused
  if (answers.length === 0) return null
  const request = requestOf(attempt, { exchange, provider: target.providerId })
  const each = answers.flatMap((answer) => {
    const read = ofDeployment(meterUnused(answer, request), target)
    if (answer.state === 'refused' && !tellsUse(read)) return []
    return [answer.state === 'cut' ? withUnseen(answer.usage === null ? { ...read, counts: {} } : read) : read]
  })
  const charges = each.map((metered) => priced(metered, { attempt, target }, { exchange, prices }))
  const [first] = charges
  const [whole] = each
  if (first === undefined || whole === undefined) return null
  return charges.length === 1 ? first : sumCharges({ ...whole, usage: sumFigures(each.map(({ usage }) => usage)) }, charges)
}

const nothingTold: TokenUsage = { ...noUsage, own: {} }

/** Returns the usage of each of several joined answers. One without usage has no price, unless the whole failed: then it may not have been made. */
const partsOf = (parts: readonly (TokenUsage | null)[], { status, outcome }: ChargedAnswer): readonly TokenUsage[] =>
  parts.flatMap((part) =>
    part === null ? (status < 300 && outcome === 'complete' ? [nothingTold] : []) : part.own === null ? [{ ...part, own: {} }] : [part],
  )

/** Names the model of a deployment where the answer names none. */
function ofDeployment(told: MeteredUsage, target: Target): MeteredUsage {
  const model = told.model === null ? servedModel(target) : null
  return model === null ? told : { ...told, model }
}

/** The part of an answer that is charged. */
export type ChargedAnswer = Pick<RelayResult, 'status' | 'outcome' | 'stream' | 'capture' | 'encoding' | 'told' | 'counted'>

/** The tasks whose tokens can be estimated, and those of them that sell answers by the token. */
const estimatedTasks: Readonly<Partial<Record<Task, { readonly sellsOutput: boolean }>>> = {
  conversation: { sellsOutput: true },
  completion: { sellsOutput: true },
  embedding: { sellsOutput: false },
}

interface ChargeInput {
  readonly attempt: Attempt
  readonly target: Target
  readonly prices: PriceSource
  readonly work: AskedWork | null
  /** True if the stream came to its end. */
  readonly hasEnded: boolean
}

/**
 * Estimates the charged tokens that a provider did not state, or not to the end. A statement that none were used counts; the answer may contradict it. Hidden thinking and sound are in no estimate: the cost is a lower bound then, and budgets keep the reservation.
 */
function filled(told: MeteredUsage, result: ChargedAnswer, { attempt, target, work, prices, hasEnded }: ChargeInput): MeteredUsage {
  if (!isEstimable(work) || !isCharged(result) || isRecalled(attempt) || (told.hasTokens && isToldWhole(result, hasEnded))) return told
  const full = estimated(told, result, { attempt, work })
  if (told.toldNone && result.outcome === 'complete') return { ...told, inconsistent: outputTokens(full.counts) > 0 }
  const { dialect } = work
  const asked = { json: attempt.body?.json, dialect, provider: target.providerId, models: [told.model, target.model] }
  return sellsOutput(work) && hidesOutput(asked, prices) ? withUnseen(full) : full
}

/** Returns true if the usage in an answer is that of all of it, and not of the part of a stream that came. */
const isToldWhole = ({ outcome, stream }: ChargedAnswer, hasEnded: boolean): boolean => outcome === 'complete' || !stream || hasEnded

const withUnseen = (full: MeteredUsage): MeteredUsage => ({ ...full, counts: { ...full.counts, unseen_output: 1 } })

type Estimable = AskedWork & { readonly task: Task }
const isEstimable = (work: AskedWork | null): work is Estimable =>
  work !== null && work.task !== null && estimatedTasks[work.task] !== undefined

/** The status of an answer whose caller has left; no provider sends it. */
const leftStatus = 499

/** A caller who leaves before the answer begins is charged for the prompt: the provider has it. */
const isCharged = ({ status, outcome }: ChargedAnswer): boolean =>
  (status >= 200 && status < 300) || (status === leftStatus && outcome === 'client_closed')

const sellsOutput = ({ task }: Estimable): boolean => estimatedTasks[task]?.sellsOutput ?? false

interface EstimatedAttempt {
  readonly attempt: Attempt
  readonly work: Estimable
}

function estimated(told: MeteredUsage, result: ChargedAnswer, { attempt, work }: EstimatedAttempt): MeteredUsage {
  const counts = fillCounts(told.counts, {
    request: { json: attempt.body?.json, dialect: work.dialect, model: attempt.target?.model ?? null },
    answer: { head: result.capture.plain(result.encoding), size: result.capture.size, stream: result.stream },
    sellsOutput: sellsOutput(work),
  })
  return counts === told.counts ? told : withCounts(told, counts)
}

interface TargetedAttempt {
  readonly attempt: Attempt
  readonly target: Target
}

function priced(told: MeteredUsage, { attempt, target }: TargetedAttempt, { exchange, prices }: PricingContext): Charge {
  const terms = target.view?.prices ?? null
  const request = { target, terms, prices, json: attempt.body?.json, startedAt: exchange.receivedAt }
  const { metered, facts, found, cost } = priceMetered(told, request)
  const recalled = isRecalled(attempt)
  const own: Charge = {
    metered,
    pricedModel: found?.model ?? null,
    catalogue: found?.catalogue ?? null,
    facts,
    cost: recalled || isPaidAhead(target, metered.raw) ? notCharged : cost,
    saved: recalled ? cost.amount : null,
    parts: null,
  }
  return recalled ? own : withDrawn(own, { ...request, metered, facts })
}

type DrawnAnswer = Omit<Parameters<typeof drawnCharges>[0], 'drawn' | 'provider' | 'tools'> & {
  readonly target: Target
  readonly json: unknown
}

/** Adds the images that a tool drew, unless the cost that the provider names has them in it. */
function withDrawn(own: Charge, { target, json, ...of }: DrawnAnswer): Charge {
  const { drawn, reported } = of.metered
  if (drawn === null || reported !== null) return own
  const tools = isFields(json) ? json['tools'] : null
  return sumCharges(of.metered, [own, ...drawnCharges({ ...of, drawn, provider: target.providerId, tools })])
}

/** Returns true if the answer came from provisioned throughput, which the caller leaves out of the costs. */
const isPaidAhead = ({ skipsPtuCost, view }: Target, raw: MeteredUsage['raw']): boolean =>
  (skipsPtuCost && saysProvisioned(raw)) || isProvisioned(view?.prices ?? null, raw)

type PricingContext = Omit<ChargeContext, 'error'>

export interface ChargeContext {
  readonly exchange: ChargedExchange
  readonly prices: PriceSource
  /** The error in place of an answer; null: there is none. */
  readonly error: ApiError | null
}

const requestOf = ({ body }: Attempt, { exchange, provider }: { exchange: ChargedExchange; provider: string }): MeteredRequest => ({
  operation: exchange.work?.operation ?? exchange.operation.name,
  method: exchange.method,
  provider,
  json: body?.json,
  upload: body?.watched?.told() ?? null,
})
