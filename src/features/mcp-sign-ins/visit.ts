import { AsyncLocalStorage } from 'node:async_hooks'
import type { MountedRequest } from '../../app/mounted-app.ts'

/** The organisation and the person of a request to the authorization server. The library passes its storage names and values alone. */
export interface Visit extends Pick<MountedRequest, 'deps' | 'clientAddress' | 'page'> {
  readonly organisationId: string
  /** The person in the browser; null: a program asks, for a sign-in that it shows a secret of. */
  readonly userId: string | null
}

const visits = new AsyncLocalStorage<Visit>()

/** Runs the library for a visit. */
export const during = <Result>(visit: Visit, work: () => Promise<Result>): Promise<Result> => visits.run(visit, work)

/** Returns the visit of the request that is being worked on. */
export function currentVisit(): Visit {
  const visit = visits.getStore()
  if (visit === undefined) throw new Error('the authorization server was asked outside of a request')
  return visit
}
