import { ApiError } from '../../lib/errors.ts'
import { modelNames } from '../dialects/model-names.ts'
import { outputTokens } from '../dialects/neutral/disjoint.ts'
import { clientDialect } from '../operations/fronts.ts'
import { modelRequest, namesPlainly } from '../targets/model-access.ts'
import { refuseUnseenModels } from '../targets/unseen-models.ts'
import type { Call } from '../call.ts'
import type { Charge } from '../metering/charge.ts'
import type { Counters, Refusal, TakenAmount } from './counters.ts'
import type { Ledger, RequestProgress, Reservation } from './ledger.ts'
import type { BudgetSpend } from './spent.ts'
import { type Limit, type Needs, neededBy } from './limit.ts'
import { type LimitRequest, needsOf } from './needs.ts'
import { createUsualOutput, type UsualOutput } from './usual-output.ts'
import { endpointNames, policyLimits, type PolicyRequest, type PolicyView, readsModels } from './policy.ts'
import { refusalOf } from './refusal.ts'
import { createSettleWait, type SettleWait } from './settle-wait.ts'

export const reservationOutcomes = ['granted', 'rate_limited', 'budget_exhausted', 'unavailable'] as const
export type ReservationOutcome = (typeof reservationOutcomes)[number]

export interface LeaseLedgerOptions {
  readonly counters: Counters
  /** True while usage limits are on. */
  readonly countsUsage: () => boolean
  /** The fate of requests that cannot be counted now; null: usage limits deny them, rate limits let them pass. */
  readonly whenUnavailable: 'deny' | 'allow' | null
  /** So long a request waits for others to settle when only their reservations keep it out of a budget. */
  readonly settleWaitMs: number
  readonly observe: (outcome: ReservationOutcome) => void
}

const unlimited: Reservation = { maxOutput: null, standings: null, settle: () => null }
const none: readonly Limit[] = []
/** Others may take a slice between the answer of the store and the next try. */
const mostTries = 8

/** The Ledger door: the needs of a request are taken from slices of the counters of every limit that applies, from all of them or from none. */
export function createLeaseLedger(options: LeaseLedgerOptions): Ledger {
  const made = {
    ...options,
    overcounted: new Map<string, number>(),
    usual: createUsualOutput(Date.now),
    settling: createSettleWait(options.counters),
  }
  return {
    reserve(request) {
      const all = applying(options, request)
      if (all.length === 0) return unlimited
      if (request.call.isOwed === true) return owe(made, all, request)
      const asked = askedOf(made, all, request)
      const { needs } = asked
      const limits = needs.cost === 0 ? withoutMoney(all) : all
      if (limits.length === 0) return unlimited
      const taken = options.counters.tryTake(limits, needs)
      return taken === null ? wait(made, limits, { ...asked, call: request.call }) : granted(made, taken, asked)
    },
  }
}

function askedOf({ observe, usual }: State, limits: readonly Limit[], request: Parameters<Ledger['reserve']>[0]): LimitRequest {
  try {
    return needsOf(limits, request, usual)
  } catch (error) {
    observe('budget_exhausted')
    throw error
  }
}

/** A free request passes a budget in money that is exhausted. */
const withoutMoney = (limits: readonly Limit[]): readonly Limit[] =>
  limits.some(({ counts }) => counts === 'cost') ? limits.filter(({ counts }) => counts !== 'cost') : limits

interface State extends LeaseLedgerOptions {
  /** Pico-dollars by which a counter of whole nano-dollars stands too high, by counter, until a later request uses them up. */
  readonly overcounted: Map<string, number>
  readonly usual: UsualOutput
  readonly settling: SettleWait
}

function applying({ countsUsage }: LeaseLedgerOptions, asked: Parameters<Ledger['reserve']>[0]): readonly Limit[] {
  const { call, target, policies } = asked
  const ofProvider = target.view?.limits ?? none
  const own = isUnbilled(call) ? ofProvider : joined(call.caller.key.limits ?? none, ofProvider)
  const all =
    policies === null || isUnbilled(call)
      ? own
      : joined(own, policyLimits(policies, { call, target, endpoints: () => endpointNames(call), ...modelsOf(policies, asked) }))
  return all.length === 0 || countsUsage() ? all : all.filter(({ kind }) => kind === 'rate')
}

/** Throws `forbidden` or `invalid_request` for a request whose models cannot be read from it. */
function modelsOf(policies: readonly PolicyView[], { call, body }: Parameters<Ledger['reserve']>[0]): Pick<PolicyRequest, 'models'> {
  if (!readsModels(policies)) return {}
  const request = modelRequest(call, body)
  refuseUnseenModels({ because: 'A policy for models applies', body, namesOne: namesPlainly(request), takesJobs: true })
  const names = modelNames(request)
  return { models: () => names }
}

/** A copy for a mirror may be left out of the budgets of its caller, and never out of those of the provider that answers it. */
const isUnbilled = ({ mirror }: Pick<Call, 'mirror'>): boolean => mirror?.billed === false

const joined = (some: readonly Limit[], more: readonly Limit[]): readonly Limit[] =>
  more.length === 0 ? some : some.length === 0 ? more : [...some, ...more]

/** A request that waits. */
interface WaitingRequest extends LimitRequest {
  readonly call: Parameters<Ledger['reserve']>[0]['call']
}

/** Waits for the slices that are missing. */
async function wait(options: State, limits: readonly Limit[], asked: WaitingRequest): Promise<Reservation> {
  const { needs } = asked
  const { counters, observe, settling, settleWaitMs } = options
  const until = performance.now() + settleWaitMs
  let rest = limits
  let refusals: readonly Refusal[] = []
  for (let tries = 0; tries < mostTries || performance.now() < until; tries += 1) {
    const answers = await Promise.all(rest.map(async (limit) => ({ limit, end: await fill(options, limit, needs) })))
    refusals = answers.flatMap(({ end }) => (typeof end === 'object' && end !== null ? [end] : []))
    if (refusals.length > 0) {
      if (await settling.for(refusals, until)) continue
      throw refused(options, { refusals, limits: rest }, asked)
    }
    // Limits that cannot be counted now and let requests pass are left out.
    rest = answers.flatMap(({ limit, end }) => (end === 'away' ? [] : [limit]))
    const taken = counters.tryTake(rest, needs, true)
    if (taken !== null) return granted(options, taken, asked)
  }
  // The time to wait for reservations of others is up.
  if (refusals.length > 0) throw refused(options, { refusals, limits: rest }, asked)
  observe('unavailable')
  throw new ApiError('busy', 'The limits of this request are asked for by too many at once.', { retryAfter: 1 })
}

/**
 * Takes as little as may be from limits for work that is done already, also where they are used up: it is settled with all that was used, also
 * beyond them.
 */
async function owe(state: State, limits: readonly Limit[], { call, target }: Parameters<Ledger['reserve']>[0]): Promise<Reservation> {
  const { id: keyId, organisationId } = call.caller.key
  const taken = await Promise.all(limits.map((limit) => takeOwed(state, limit)))
  const by = { organisationId, keyId, model: target.model }
  return granted(
    state,
    taken.filter((one) => one !== null),
    { by, needs: leastNeeds, maxOutput: null },
  )
}

const leastNeeds: Needs = { requests: 1, tokens: 1, cost: 1 }

/** Null: the limit cannot be counted now. */
async function takeOwed(state: State, limit: Limit): Promise<TakenAmount | null> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const end = await fill({ ...state, whenUnavailable: 'allow' }, limit, leastNeeds)
    if (end === 'away') return null
    if (end !== null) return { limit, slot: end.slot, amount: 0, left: 0 }
    const [taken = null] = state.counters.tryTake([limit], leastNeeds, true) ?? []
    if (taken !== null) return taken
  }
  return null
}

async function fill(
  { counters, observe, whenUnavailable }: LeaseLedgerOptions,
  limit: Limit,
  needs: Needs,
): Promise<Refusal | null | 'away'> {
  try {
    return await counters.fill(limit, neededBy(limit, needs))
  } catch (error) {
    observe('unavailable')
    if ((whenUnavailable ?? (limit.kind === 'rate' ? 'allow' : 'deny')) === 'allow') return 'away'
    throw new ApiError('dependency_unavailable', `The database is away, so it is unknown whether this request fits into ${limit.name}.`, {
      cause: error,
    })
  }
}

function granted(state: State, taken: readonly TakenAmount[], asked: LimitRequest): Reservation {
  state.observe('granted')
  return new LeaseReservation(state, taken, asked)
}

/** A reservation from slices of counters. A class, because it is one object per request on the hot path. */
class LeaseReservation implements Reservation {
  readonly maxOutput: number | null
  readonly standings: readonly TakenAmount[]
  readonly #state: State
  readonly #by: LimitRequest['by']
  #settled = false

  constructor(state: State, taken: readonly TakenAmount[], { by, maxOutput }: LimitRequest) {
    this.maxOutput = maxOutput
    this.standings = taken
    this.#state = state
    this.#by = by
  }

  usualOutput(): number | null {
    return this.#by === null ? null : this.#state.usual.of(this.#by)
  }

  settle(charge: Charge | null, reached: RequestProgress): readonly BudgetSpend[] | null {
    if (this.#settled) return null
    this.#settled = true
    const { counters, overcounted, usual } = this.#state
    const said = charge?.metered?.usage?.outputTokens ?? 0
    if (this.#by !== null && said > 0 && charge?.isGuess !== true) usual.note(this.#by, said)
    return settleAll(counters, this.standings, { charge, reached, overcounted })
  }
}

function settleAll(counters: Counters, taken: readonly TakenAmount[], settled: SettlementInput): readonly BudgetSpend[] | null {
  let spent: BudgetSpend[] | null = null
  for (const one of taken) {
    const used = settled.reached === 'unsent' ? 0 : Math.min(usedOf(one, settled), mostOfAnswer)
    const mark = counters.settle(one, used)
    if (one.limit.budget === undefined || settled.reached === 'unsent') continue
    const told = spentOf(one, { used, mark }, settled.charge)
    // Most requests have one budget: a list that grows from empty takes room for seventeen.
    if (spent === null) spent = [told]
    else spent.push(told)
  }
  return spent
}

/** Amounts of money are exact here, which the counter only is in the sum. */
const spentOf = ({ limit, slot }: TakenAmount, { used, mark }: { used: number; mark: string }, charge: Charge | null): BudgetSpend => ({
  counter: limit.id,
  slot,
  amount: limit.counts === 'cost' ? String(amountOf(used, charge)) : used,
  mark,
})

function amountOf(used: number, charge: Charge | null): bigint {
  const counted = BigInt(used) * picoPerNano
  const amount = charge?.cost.amount ?? null
  return amount === null || (isLeast(charge) && counted > amount) ? counted : amount
}

/** Returns true for a cost that is a lower bound, or that of an answer which nobody saw. */
const isLeast = (charge: Charge | null): boolean => charge?.cost.state === 'partly_priced' || charge?.isGuess === true

/** A million US dollars or 10^15 tokens: providers may answer any figure, and numbers are exact so far. */
const mostOfAnswer = 1e15

interface SettlementInput extends Pick<State, 'overcounted'> {
  readonly charge: Charge | null
  readonly reached: RequestProgress
}

/** An answer of unknown usage keeps its reservation, and one whose cost is a lower bound keeps at least that. */
function usedOf({ limit, amount }: TakenAmount, { charge, reached, overcounted }: SettlementInput): number {
  if (limit.counts === 'requests') return amount
  const unknown = reached === 'failed' ? 0 : amount
  if (limit.counts === 'tokens') return Math.max(tokensOf(charge) ?? unknown, hidesTokens(charge) ? unknown : 0)
  const cost = charge?.cost.amount ?? null
  if (cost === null || (isLeast(charge) && BigInt(unknown) * picoPerNano > cost)) return unknown
  return nanoOf(limit.id, cost, overcounted)
}

function hidesTokens(charge: Charge | null): boolean {
  const { unseen_output: output = 0, unseen_input: input = 0 } = charge?.metered?.counts ?? {}
  return charge?.isGuess === true || output + input > 0
}

/** Returns all tokens of an answer. Some providers leave cache reads and writes out of their total: the counts have them. */
function tokensOf(charge: Charge | null): number | null {
  const metered = charge?.metered ?? null
  if (metered === null || metered.usage === null) return null
  const { totalTokens, inputTokens, outputTokens: answered } = metered.usage
  const told = totalTokens ?? (inputTokens ?? 0) + (answered ?? 0)
  return Math.max(told, metered.promptTokens + outputTokens(metered.counts))
}

const picoPerNano = 1000n
const mostRemembered = 10_000

/** Returns an amount in whole nano-dollars, rounded up; the difference is taken off the next one, so that sums stay exact. */
function nanoOf(id: string, pico: bigint, overcounted: State['overcounted']): number {
  const over = overcounted.get(id) ?? 0
  if (overcounted.size > mostRemembered) overcounted.clear()
  if (pico > mostInNumbers) {
    const nano = (pico - BigInt(over) + picoPerNano - 1n) / picoPerNano
    overcounted.set(id, Number(nano * picoPerNano - pico) + over)
    return Number(nano)
  }
  const owed = Number(pico) - over
  const rest = owed % nanoInPico
  const nano = (owed - rest) / nanoInPico + (rest > 0 ? 1 : 0)
  overcounted.set(id, nano * nanoInPico - owed)
  return nano
}

/** Up to here whole numbers of JavaScript are exact, with room for the rounding. */
const mostInNumbers = 9_000_000_000_000_000n
const nanoInPico = Number(picoPerNano)

interface RefusedNeeds {
  readonly refusals: readonly Refusal[]
  /** All that were asked. */
  readonly limits: readonly Limit[]
}

function refused({ observe, counters }: LeaseLedgerOptions, { refusals, limits }: RefusedNeeds, { call }: WaitingRequest): ApiError {
  const passing = limits.flatMap((limit) => {
    const left = limit.kind === 'usage' || refusals.some((refusal) => refusal.limit.id === limit.id) ? null : counters.left(limit)
    return left === null ? [] : [{ limit, left }]
  })
  const error = refusalOf({ refusals, passing }, { dialect: clientDialect(call.exchange), prefix: call.headers.prefix })
  observe(error.code === 'rate_limited' ? 'rate_limited' : 'budget_exhausted')
  return error
}
