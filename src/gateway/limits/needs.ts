import { isFields } from '../../lib/json/fields.ts'
import { fieldsOf } from '../outgoing/prepare.ts'
import type { Task } from '../operations/operations.ts'
import type { AskedWork } from '../operations/asked-work.ts'
import { estimateTokens, isBounded, leastOutput } from './estimate.ts'
import type { Ledger } from './ledger.ts'
import { isOfMoney, type Limit, type MoneyTerms, type Needs } from './limit.ts'
import { type OutputReader, outputReader } from './output-bound.ts'
import { jobRefusal, unboundedRefusal, unknownRefusal, unpricedRefusal } from './refusal.ts'
import type { Speaker, UsualOutput } from './usual-output.ts'
import { worstCost } from './worst-cost.ts'

/** A request, as far as limits go. */
export interface LimitRequest {
  /** The model that answers; null: no limit asks how long its answer is. */
  readonly by: Speaker | null
  readonly needs: Needs
  /** The bound of its output that it is to be sent with; null: it stays as it is. */
  readonly maxOutput: number | null
}

/** Returns the possible usage of a request. Throws `budget_exhausted` when a limit in money applies and its cost is unknown. */
export function needsOf(limits: readonly Limit[], request: Parameters<Ledger['reserve']>[0], usual: UsualOutput): LimitRequest {
  const { call, target, body } = request
  const ofMoney = limits.some(isOfMoney)
  const counting = limits.some(countsTokens)
  if (!ofMoney && !counting) return freely
  const { id: keyId, organisationId } = call.caller.key
  const by = { organisationId, keyId, model: target.model }
  // A request that names a bound needs no usual amount.
  const { work } = call
  const reader = readerOf(request)
  const most = isBounded(body.json, reader) ? leastOutput : usual.of(by)
  const tokens = counting ? tokensOf(work, { request, reader }, most) : 0
  const { cost, maxOutput } = !ofMoney ? costless : work === null ? feeOf(request) : costOf(limits, { request, work, reader }, most)
  return { by, needs: { requests: 1, tokens, cost }, maxOutput }
}

function readerOf({ call: { work, operation }, target }: Parameters<Ledger['reserve']>[0]): OutputReader {
  const { provider, providerId } = target
  const isOwnPath = operation.name === 'proxy'
  return outputReader({ dialect: work?.dialect ?? null, provider, providerId, fields: fieldsOf(target), isOwnPath })
}

interface CostEstimate {
  readonly cost: number
  readonly maxOutput: number | null
}

const costless: CostEstimate = { cost: 0, maxOutput: null }

/** Counters hold whole nano-dollars: a part of one is taken whole, and given back when the request is settled. */
const feeOf = ({ fee = 0n }: Parameters<Ledger['reserve']>[0]): CostEstimate =>
  fee === 0n ? costless : { cost: Number((fee + picoPerNano - 1n) / picoPerNano), maxOutput: null }

const picoPerNano = 1000n

interface EstimateContext {
  readonly request: Parameters<Ledger['reserve']>[0]
  readonly reader: OutputReader
}

interface WorkContext extends EstimateContext {
  readonly work: AskedWork
}

function costOf(limits: readonly Limit[], { request, work, reader }: WorkContext, usual: number): CostEstimate {
  if (work.beginsJob) return { cost: costOfJob(limits), maxOutput: null }
  if (isNameless(work, request)) return { cost: costOfUnknown(limits), maxOutput: null }
  return moneyOf(limits, { request, reader, task: work.task ?? 'unknown' }, usual)
}

/** Returns true for work of which neither the kind nor the model is known. */
const isNameless = ({ task, beginsJob }: AskedWork, { target }: WorkContext['request']): boolean =>
  task === null && !beginsJob && target.model === null

/** The least amount that is taken, for work of unknown cost: it passes no budget that is used up, and is in it when it is priced later. */
const least = 1

/** Returns the tokens that a request may take; 0 for one that runs no model. */
function tokensOf(work: AskedWork | null, { request, reader }: EstimateContext, most: number): number {
  if (work === null || work.task === 'token-count') return 0
  const before = request.call.before?.tokens ?? 0
  return isNameless(work, request) ? least : Math.max(least, before + estimateTokens({ body: request.body, task: work.task, reader }, most))
}

const refusesUnpriced = ({ counts, money }: Limit): boolean => counts === 'cost' && money?.onUnpriced !== 'allow'
const countsTokens = ({ counts }: Limit): boolean => counts === 'tokens'

/** A job passes where budgets let requests without a known price through, until they are exhausted. Throws `budget_exhausted` otherwise. */
function costOfJob(limits: readonly Limit[]): number {
  const refusing = limits.find(refusesUnpriced)
  if (refusing !== undefined) throw jobRefusal(refusing)
  return least
}

/** The same for work of unknown kind and model. */
function costOfUnknown(limits: readonly Limit[]): number {
  const refusing = limits.find(refusesUnpriced)
  if (refusing !== undefined) throw unknownRefusal(refusing)
  return least
}

/** The needs of a request where only requests are counted. */
const freely: LimitRequest = { by: null, needs: { requests: 1, tokens: 0, cost: 0 }, maxOutput: null }

interface PriceContext extends EstimateContext {
  readonly task: Task | 'unknown'
}

function moneyOf(
  limits: readonly Limit[],
  { request: { call, body, target, prices }, reader, task }: PriceContext,
  usual: number,
): CostEstimate {
  const output = hasPolicy(limits, 'strict') ? 'strict' : 'typical'
  const injects = output === 'typical' && hasPolicy(limits, 'inject') && speaks(task)
  const maxOutput = injects && isFields(body.json) && !isBounded(body.json, reader) ? usual : null
  const { contentType, forward: headers } = call.headers
  const priced = { target, body, contentType, headers, task, reader, receivedAt: Date.now(), usual, before: call.before }
  const cost = worstCost(priced, prices, output)
  const refusing = cost === null ? limits.find(refusesUnpriced) : undefined
  if (refusing !== undefined) throw worstCost(priced, prices, 'typical') === null ? unpricedRefusal(refusing) : unboundedRefusal(refusing)
  return { cost: cost ?? least, maxOutput }
}

const hasPolicy = (limits: readonly Limit[], policy: MoneyTerms['output']): boolean => limits.some(({ money }) => money?.output === policy)
const speaks = (task: Task | 'unknown'): boolean => task === 'conversation' || task === 'completion'
