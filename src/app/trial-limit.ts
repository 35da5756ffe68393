import { ApiError } from '../lib/errors.ts'

/** Trials of guardrails on logs, and those that ask others, as tests of providers do, take time, and each holds a connection of the database meanwhile. */
const mostOfProcess = 4
const mostOfOrganisation = 2

/** How many trials of each organisation run now; by process, of which the egress is one. */
const running = new WeakMap<object, Map<string, number>>()

/** Does the work of a trial, unless too many run already. Throws `overloaded`. */
export async function inTrial<Result>(process: object, organisationId: string, work: () => Promise<Result>): Promise<Result> {
  const counts = running.get(process) ?? new Map<string, number>()
  running.set(process, counts)
  const own = counts.get(organisationId) ?? 0
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (own >= mostOfOrganisation || all >= mostOfProcess)
    throw new ApiError('overloaded', 'Too many trials run at the moment. Try again shortly.', {
      retryAfter: 1,
    })
  counts.set(organisationId, own + 1)
  try {
    return await work()
  } finally {
    const left = (counts.get(organisationId) ?? 1) - 1
    if (left === 0) counts.delete(organisationId)
    else counts.set(organisationId, left)
  }
}
