import { describeError } from '../../app/logging/describe-error.ts'
import { fail, skipped, type Check, type Status, type Verdict } from './check.ts'
import { NotPossible } from './not-possible.ts'
import type { Stage } from './stage.ts'

/** A verdict with the check that it came from. */
export interface Result extends Verdict {
  readonly id: string
}

/** A check asks a few questions, each of them bounded; it ends in any case. */
const questions = 3
const slow = 'Find out why the database or this machine is that slow; "gatehouse preflight --timeout" gives it longer.'

/** Runs the checks one after the other, so that they do not disturb one another; reports each result at once. */
export async function runChecks(
  checks: readonly Check[],
  stage: Stage,
  onResult: (result: Result) => void = () => {},
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const check of checks) {
    const result = { id: check.id, ...(await verdictOf(check, stage)) }
    results.push(result)
    onResult(result)
  }
  return results
}

/** A check never throws: a failure in it is its verdict. */
async function verdictOf(check: Check, stage: Stage): Promise<Verdict> {
  const limitMs = stage.circumstances.timeoutMs * questions
  const { promise: late, resolve } = Promise.withResolvers<Verdict>()
  const timer = setTimeout(() => resolve(fail(`no result within ${limitMs / 1000} s`, slow)), limitMs)
  try {
    return await Promise.race([Promise.resolve().then(() => check.run(stage)), late])
  } catch (error) {
    if (error instanceof NotPossible) return skipped(error.message)
    return fail(`the check broke off: ${describeError(error).message}`, check.remedy)
  } finally {
    clearTimeout(timer)
  }
}

/** How many came out how. */
export function tally(results: readonly Result[]): Readonly<Record<Status, number>> {
  const counts: Record<Status, number> = { ok: 0, warn: 0, fail: 0, skipped: 0 }
  for (const { status } of results) counts[status] += 1
  return counts
}
