import { ApiError } from '../lib/errors.ts'
import { createShares, type Shares } from '../lib/shares/shares.ts'

/** Trials of guardrails on logs, and those that ask others, as tests of providers do, take time, and each holds a connection of the database meanwhile. */
const bound = { most: 4, mostOfOne: 2 }

/** The trials that run now; by process, of which the egress is one. */
const running = new WeakMap<object, Shares>()

/** Does the work of a trial, unless too many run already. Throws `overloaded`. */
export async function inTrial<Result>(process: object, organisationId: string, work: () => Promise<Result>): Promise<Result> {
  const trials = running.get(process) ?? createShares(bound)
  running.set(process, trials)
  if (!trials.take(organisationId))
    throw new ApiError('overloaded', 'Too many trials run at the moment. Try again shortly.', { retryAfter: 1 })
  try {
    return await work()
  } finally {
    trials.giveBack(organisationId)
  }
}
