import { type Choice, type Leaf, leavesOf, type Plan } from '../targets/plan.ts'
import { admitted, type ChooseDeps, chooseTarget } from '../routing/choose-target.ts'

/** A target that a request would be sent to, and why then. */
export interface Step<Target> {
  readonly leaf: Leaf<Target>
  readonly reason: string
}

/** The result of one condition. */
export interface JudgedCondition {
  /** Place in the config. */
  readonly option: string
  /** Null: it could not be judged, and so it counts as false. */
  readonly result: boolean | null
  /** Place of the target that it leads to. */
  readonly target: string
}

export interface Order<Target> {
  readonly steps: readonly Step<Target>[]
  readonly conditions: readonly JudgedCondition[]
}

/** Returns the targets of a plan in the order in which a request would be sent to them, if each of them failed. Changes no state. */
export function orderOf<Target>(plan: Plan<Target>, deps: ChooseDeps<Target>): Order<Target> {
  const conditions: JudgedCondition[] = []
  const quiet = { ...deps, note: () => {}, measures: { ...deps.measures, noteChosen: () => {} } }
  return { steps: walk(plan, { deps: quiet, conditions, reason: 'It is the only target.' }), conditions }
}

interface Walk<Target> {
  readonly deps: ChooseDeps<Target>
  readonly conditions: JudgedCondition[]
  readonly reason: string
}

function walk<Target>(plan: Plan<Target>, walked: Walk<Target>): readonly Step<Target>[] {
  if (plan.kind === 'leaf') return [{ leaf: plan, reason: walked.reason }]
  const { strategy, targets } = plan
  if (strategy.mode === 'fallback') {
    const open = targets.filter((target) => admitted(target, walked.deps))
    const tried = open.length === 0 ? [chooseTarget(plan, walked.deps)] : open
    return tried.flatMap((target, at) => walk(target, { ...walked, reason: fallbackReason(plan, at, open.length) }))
  }
  if (strategy.mode === 'conditional') walked.conditions.push(...judge(plan, walked.deps))
  return walk(chooseTarget(plan, walked.deps), { ...walked, reason: choiceReason(plan, walked) })
}

function fallbackReason({ option, strategy }: Choice, at: number, open: number): string {
  if (open === 0) return `All targets of ${option} are left out by their circuit breakers: the one that was first to open is asked.`
  if (at === 0) return `It is the first target of ${option} that is not left out.`
  if (strategy.mode !== 'fallback') return ''
  const { statuses, kinds } = strategy.after
  const named = [...(statuses ?? []), ...kinds].join(', ')
  return `It follows when the target before it fails${named === '' ? '' : ` with ${named}`}.`
}

function choiceReason<Target>(choice: Choice<Target>, { deps, conditions }: Walk<Target>): string {
  const { option, strategy } = choice
  if (strategy.mode === 'loadbalance')
    return strategy.sticky === null
      ? `${option} chooses by weight (${strategy.weights.join(', ')}); another request may get another target.`
      : `${option} chooses by weight (${strategy.weights.join(', ')}), and the same target for the same ${strategy.sticky.fields.join(', ') || 'key'}.`
  if (strategy.mode === 'conditional') {
    const held = conditions.find((one) => one.option.startsWith(`${option}.strategy.`) && one.result === true)
    return held === undefined ? `No condition of ${option} is true: it is the default.` : `${held.option} is the first that is true.`
  }
  const ranked = strategy.mode === 'least-cost' && leavesOf(choice).every((leaf) => deps.cost(leaf) !== null)
  if (ranked) return `${option} chooses the cheapest.`
  const known = choice.targets.some((target) => target.kind === 'leaf' && deps.measures.latency(target.id, deps.now()) !== null)
  const fastest = known ? 'chooses the fastest' : 'knows no times yet: it takes the first'
  return strategy.mode === 'least-cost' ? `${option} does not know all prices, and ${fastest}.` : `${option} ${fastest}.`
}

function judge({ option, strategy, targets }: Choice, { facts }: ChooseDeps): readonly JudgedCondition[] {
  if (strategy.mode !== 'conditional') return []
  return strategy.conditions.map(({ when, target }, at) => ({
    option: `${option}.strategy.conditions[${at}]`,
    result: resultOf(() => when(facts)),
    target: targets[target]?.option ?? option,
  }))
}

function resultOf(when: () => boolean): boolean | null {
  try {
    return when()
  } catch {
    return null
  }
}
