import { ApiError } from '../../../lib/errors.ts'
import type { AuthDeps } from '../auth-request.ts'
import type { Workload } from './workload.ts'

/**
 * Returns the workload whose own identity signs in. Throws `forbidden` for credentials that callers bring themselves, and for organisations to which
 * the operator offers no workload.
 */
export function demandWorkload({ workload, storedBy = null }: AuthDeps, param: string): Workload {
  if (workload !== undefined && storedBy !== null && isOffered(workload, storedBy)) return workload
  const why =
    storedBy === null
      ? 'The identity of the workload is only used by credentials that are stored with an integration or a virtual key.'
      : 'The operator does not offer the identity of the workload to this organisation (CLOUD_IDENTITIES, CLOUD_IDENTITY_ORGANISATIONS).'
  throw new ApiError('forbidden', why, { param })
}

const isOffered = ({ offeredTo }: Workload, organisationId: string): boolean => offeredTo === 'all' || offeredTo.has(organisationId)

interface ProofHost {
  /** The field that names the host. */
  readonly param: string
  /** Fits the names of the services that the proof is meant for, and none that a customer of the cloud can answer at. */
  readonly services: RegExp
}

/**
 * Throws `forbidden` unless a proof of the workload's own identity may be sent to the host of a URL: one of the services that it is meant for, or one
 * that the operator named. So an author of a stored provider can neither have it sent to a host of theirs, nor use it for other purposes than models
 * and secrets.
 */
export function demandTrusted(url: string, { param, services }: ProofHost, { trustedHosts }: Workload): void {
  const { hostname: host, protocol } = URL.parse(url) ?? { hostname: '', protocol: '' }
  if (protocol === 'https:' && services.test(host)) return
  if (trustedHosts.allows(url, 'request')) return
  throw new ApiError(
    'forbidden',
    `${param} leads to ${host}, to which the identity of the workload may not be shown. An operator can allow it in CLOUD_IDENTITY_HOSTS.`,
    { param },
  )
}

/** Fits no host: each has to be named. */
export const noServices = /^(?!)/
