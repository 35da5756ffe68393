import { RE2JS } from 're2js'

/** Asked now and then while a pattern is looked for; throws when it was long enough. */
let spend: (() => void) | null = null
let steps = 0

/** Looks for a pattern, and gives up when `limit` throws: also within one text, however long one step of it takes. */
export function within<T>(limit: () => void, look: () => T): T {
  const outer = spend
  spend = limit
  try {
    return look()
  } finally {
    spend = outer
  }
}

/** A search that goes through a text step by step. */
interface Stepper {
  step: (...given: readonly unknown[]) => unknown
}

/** One in so many steps asks for the time. */
const seldom = 16

/**
 * The engine has no clock of its own. Its two ways of making an unknown step are the only ones that take long: a check before them is free where
 * states are known.
 */
function watch(example: object | undefined): void {
  const prototype: Partial<Stepper> = Object.getPrototypeOf(example ?? {})
  const { step } = prototype
  if (step === undefined) throw new Error('the pattern engine has changed: its steps are not where they were')
  prototype.step = function stepInTime(this: unknown, ...given) {
    steps += 1
    if (spend !== null && steps % seldom === 0) spend()
    return Reflect.apply(step, this, given)
  }
}

/** The engine exports neither of their kinds, only their result for a pattern: so large a one is looked for in the slow ways. */
function watchEngine(): void {
  const example = RE2JS.compile('(?:a|ab){200}')
  example.matcher('a').find()
  watch(example.re2Input.dfa)
  watch(example.re2Input.machinePool[0])
}

watchEngine()
