import { isFields } from '../../lib/json/fields.ts'
import type { OperationSpec, Task } from '../front/operations.ts'
import { boundOf, estimateTokens, leastOutput } from './estimate.ts'
import type { Ledger } from './ledger.ts'
import type { Limit, MoneyTerms, Needs } from './limit.ts'
import { jobRefusal, unpricedRefusal } from './refusal.ts'
import type { Speaker, UsualOutput } from './usual-output.ts'
import { worstCost } from './worst-cost.ts'
import type { RequestBody } from '../wire/body.ts'

/** A request, as far as limits go. */
export interface Asked {
  /** The model that answers; null: no limit asks how long its answer is. */
  readonly by: Speaker | null
  readonly needs: Needs
  /** The bound of its output that it is to be sent with; null: it stays as it is. */
  readonly maxOutput: number | null
}

/** Returns what a request may use. Throws `budget_exhausted` when a limit in money applies and nobody knows what it costs. */
export function needsOf(limits: readonly Limit[], request: Parameters<Ledger['reserve']>[0], usual: UsualOutput): Asked {
  const { call, target, body } = request
  const ofMoney = limits.some(countsCost) ? limits.filter(countsCost) : none
  const counting = limits.some(countsTokens)
  if (ofMoney.length === 0 && !counting) return freely
  const by = { keyId: call.caller.key.id, model: target.model }
  // Nobody need know what is usual for a request that names a bound.
  const most = isFields(body.json) && boundOf(body.json) !== null ? leastOutput : usual.of(by)
  const { spec } = call.operation
  const tokens = counting ? tokensOf(spec, body, most) : 0
  if (ofMoney.length === 0) return { by, needs: { requests: 1, tokens, cost: 0 }, maxOutput: null }
  if (spec?.beginsJob === true) return { by, needs: { requests: 1, tokens, cost: leastCost(ofMoney) }, maxOutput: null }
  const { cost, maxOutput } = moneyOf(ofMoney, request, most)
  return { by, needs: { requests: 1, tokens, cost }, maxOutput }
}

/** Returns the tokens that a request may take; 0 for an operation whose words nobody reads. */
const tokensOf = (spec: OperationSpec | null, body: RequestBody, most: number): number =>
  spec === null || spec.dialect === null ? 0 : estimateTokens(body, most)

const none: readonly Limit[] = []
const countsCost = ({ counts }: Limit): boolean => counts === 'cost'
const countsTokens = ({ counts }: Limit): boolean => counts === 'tokens'

/** A job passes where budgets let requests without a known price through, until they are exhausted. Throws `budget_exhausted` otherwise. */
function leastCost(ofMoney: readonly Limit[]): number {
  const refusing = ofMoney.find(({ money }) => money?.onUnpriced !== 'allow')
  if (refusing !== undefined) throw jobRefusal(refusing)
  return 1
}

/** The needs of a request where only requests are counted. */
const freely: Asked = { by: null, needs: { requests: 1, tokens: 0, cost: 0 }, maxOutput: null }

function moneyOf(limits: readonly Limit[], { body, call, target, prices }: Parameters<Ledger['reserve']>[0], usual: number) {
  const task = call.operation.spec?.task ?? null
  const output = hasPolicy(limits, 'strict') ? 'strict' : 'typical'
  const injects = output === 'typical' && hasPolicy(limits, 'inject') && speaks(task)
  const maxOutput = injects && isFields(body.json) && boundOf(body.json) === null ? usual : null
  const cost = worstCost({ target, body, task, receivedAt: Date.now(), usual }, prices, output)
  const refusing = cost === null ? limits.find(({ money }) => money?.onUnpriced !== 'allow') : undefined
  if (refusing !== undefined) throw unpricedRefusal(refusing)
  return { cost: cost ?? 0, maxOutput }
}

const hasPolicy = (limits: readonly Limit[], policy: MoneyTerms['output']): boolean => limits.some(({ money }) => money?.output === policy)
const speaks = (task: Task | null): boolean => task === 'conversation' || task === 'completion'
