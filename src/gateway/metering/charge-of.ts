import type { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { Attempt } from '../attempts/attempt.ts'
import { isRecalled } from './is-recalled.ts'
import { cutAnswer, noUnused } from '../answers/unused-answer.ts'
import type { AskedWork } from '../operations/asked-work.ts'
import { asksBackground } from '../operations/jobs.ts'
import { notCharged } from '../prices/price-usage.ts'
import { noUsage, sumFigures, type TokenUsage } from '../dialects/neutral/token-usage.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { isProvisioned, saysProvisioned } from '../prices/terms.ts'
import { servedModel } from '../targets/azure-deployment.ts'
import type { Target } from '../targets/target.ts'
import { drawnCharges } from './drawn-charges.ts'
import { type Charge, noCharge, sumCharges, untoldCharge } from './charge.ts'
import { mayGoOn } from './may-go-on.ts'
import { meter, meterUnused, type MeteredUsage, type MeteredRequest, tellsUse } from './meter.ts'
import {
  type ChargedAnswer,
  type ChargedExchange,
  type ExpectedReader,
  filled,
  type InputReader,
  isCharged,
  isEstimable,
  leftStatus,
  nothingSeen,
  unseen,
  withUnseen,
} from './fill-usage.ts'
import { priceMetered } from './price-metered.ts'

/**
 * Meters and prices one attempt, once. Requests that only read or change earlier results, and token counts, are free: their answers may repeat
 * earlier usage. A failure costs the usage in its answer, and is free without one. All other work may cost: it is unpriced where its answer has no
 * usage, and a job that costs when it has ended is unpriced until then. A request whose answer did not come in time is estimated. A cache hit states the saved cost.
 */
export function chargeOf(attempt: Attempt, result: ChargedAnswer | null, { error, ...pricing }: ChargeContext): Charge {
  const { target } = attempt
  const { work } = pricing.exchange
  if (target === null || !usesModel(work)) return noCharge
  const asked = { attempt, target, work }
  const unused = unusedCharge(asked, pricing)
  if (unused !== null) return unused
  return result === null ? unansweredCharge(asked, error, pricing) : answeredCharge(asked, result, pricing)
}

function answeredCharge({ attempt, target, work }: ChargeRequest, result: ChargedAnswer, pricing: PricingContext): Charge {
  const { exchange } = pricing
  if (isUnreached(attempt, result)) return noCharge
  const told = isWrittenHere(attempt, work) ? { ...result.told(), usage: null } : result.told()
  const answer = { ...result, told: () => told }
  const request = requestOf(attempt, { exchange, provider: target.providerId })
  const read = ofDeployment(meter(answer, request), target)
  if (beganJob(work, result) || runsOn(read, result, { attempt, target, work })) return { ...untoldCharge, metered: read }
  const metered = filled(read, result, { attempt, target, work, ...pricing, hasEnded: told.hasEnded })
  const parts = metered.estimated ? undefined : result.counted?.parts
  if (!isCharged(result) && !tellsUse(metered) && parts === undefined) return { ...noCharge, metered }
  if (parts === undefined) return asGuess(metered, priced(metered, { attempt, target }, pricing))
  const each = partsOf(parts, result).map((counted) => ofDeployment(meter({ ...answer, counted }, request), target))
  return sumCharges(
    metered,
    each.map((part) => priced(part, { attempt, target }, pricing)),
  )
}

/** Returns true if the bytes of an answer are a translation whose format demands figures: they may stand in place of those that the provider did not state. */
const isWrittenHere = ({ translated, recalled }: Attempt, work: AskedWork | null): boolean =>
  translated?.sameDialect === false && !isRecalled({ recalled }) && isEstimable(work)

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
 * Returns the charge of a request that was not answered, where the provider has it and may do its work: a caller chooses how long to wait. It is an estimate, or
 * unknown where none can be made, and for a job and a response in the background, which end later.
 */
function unansweredCharge(asked: ChargeRequest, error: ApiError | null, pricing: PricingContext): Charge {
  const { attempt, target, work } = asked
  const counted = attempt.translated?.usage() ?? null
  if (counted === null && !mayGoOn(attempt, error)) return noCharge
  if (work?.beginsJob === true || isInBackground(asked) || !isEstimable(work)) return untoldCharge
  const request = requestOf(attempt, { exchange: pricing.exchange, provider: target.providerId })
  const read = ofDeployment(meterUnused({ ...cutAnswer, usage: counted }, request), target)
  const metered = unseen(read, nothingSeen, { attempt, target, work, ...pricing })
  return asGuess(metered, priced(metered, { attempt, target }, pricing))
}

/** Returns the charge of the answers of an attempt that its caller did not get; null: there are none that cost. One that was cut has an unknown part. */
function unusedCharge({ attempt, target }: ChargeRequest, pricing: PricingContext): Charge | null {
  const answers = attempt.reachedAt === null ? noUnused : (attempt.translated?.unused() ?? noUnused)
  if (answers.length === 0) return null
  const request = requestOf(attempt, { exchange: pricing.exchange, provider: target.providerId })
  const each = answers.flatMap((answer) => {
    const read = ofDeployment(meterUnused(answer, request), target)
    if (answer.state === 'refused' && !tellsUse(read)) return []
    return [answer.state === 'cut' ? withUnseen(answer.usage === null ? { ...read, counts: {} } : read) : read]
  })
  const charges = each.map((metered) => priced(metered, { attempt, target }, pricing))
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

/** Returns true if the caller left before a connection took its request. */
const isUnreached = ({ reachedAt, recalled }: Attempt, { status }: ChargedAnswer): boolean =>
  reachedAt === null && recalled === null && status === leftStatus

const asGuess = ({ isGuess }: MeteredUsage, charge: Charge): Charge => (isGuess === true ? { ...charge, isGuess } : charge)

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
  readonly expected: ExpectedReader
  readonly hidesInput: InputReader
  /** The error in place of an answer; null: there is none. */
  readonly error: ApiError | null
}

const requestOf = (
  { body, prepared }: Attempt,
  { exchange, provider }: { exchange: ChargedExchange; provider: string },
): MeteredRequest => ({
  operation: exchange.work?.operation ?? exchange.operation.name,
  method: exchange.method,
  provider,
  json: body?.json,
  upload: body?.watched?.told() ?? null,
  headers: prepared?.request.headers,
})
