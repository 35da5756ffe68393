import type { RelayEnd } from '../answers/relay.ts'
import type { Call } from '../call.ts'
import { type Attempt, beginAttempt } from './attempt.ts'
import { type CourseDeps, followCourse } from './follow-course.ts'
import { type Try, tryTarget } from './try-target.ts'

/** The attempts of one exchange. */
export interface Attempts extends Pick<Try, 'ownHeaders'> {
  /** Takes each attempt as it begins. */
  readonly attempts: Attempt[]
  /** Takes the conditions that could not be judged, by their place in the config; null without a course. */
  readonly faults: string[] | null
}

/** Tries the targets of a call until one attempt stands. Rejects when none can be made. */
export function runAttempts(call: Call, made: Attempts, deps: CourseDeps): Promise<RelayEnd> {
  const { course } = call
  if (course !== null) return followCourse({ ...made, call, course }, deps)
  const attempt = beginAttempt(call.config?.option ?? 'config', call.body)
  made.attempts.push(attempt)
  return tryTarget({ call, attempt, ownHeaders: made.ownHeaders, judge: null }, deps)
}
