import { ApiError } from '../../lib/errors.ts'
import type { AllowedHosts } from './allowed-hosts.ts'
import { BlockedAddressError, findRefusal } from './connect.ts'
import type { FindProxy } from './proxies.ts'
import type { Resolver } from './resolver.ts'
import type { BlockReason, Target } from './rules.ts'
import { checkUrl, inTheClear } from './rules.ts'
import type { Trust } from './trust.ts'

/** A refusal, for the security log and its metric: which field named which host, and why it was refused. */
export interface BlockedEvent {
  readonly param: string
  readonly host: string
  readonly reason: BlockReason
}

export interface GuardOptions {
  readonly trust: Trust
  /** Null: every host. */
  readonly allowed: AllowedHosts | null
  readonly resolver: Resolver
  readonly findProxy: FindProxy
  readonly onBlocked: (event: BlockedEvent) => void
}

/** A host that the catalogue names needs no leave of ALLOWED_CUSTOM_HOSTS. */
export type HostSource = 'by data' | 'by catalogue'

/** The rules with their consequences: refusals are reported to `onBlocked` and become ApiError `blocked_host` naming the field. */
export interface Guard {
  /** Throws when the URL itself is refused. */
  inspect(url: string, param: string, named: HostSource): Target
  /** Throws when the URL of an origin has a query: it would be lost. */
  inspectBase(url: string, param: string, named: HostSource): Target
  /** Rejects when the name resolves to an address that is refused. A name that cannot be resolved now may be known later. */
  checkNames(target: Target, param: string): Promise<void>
  /** A refusal at connect time as the caller's error; other errors as they are. */
  explain(error: Error, target: Target, param: string): Error
}

/** Builds the guard of one policy. */
export function createGuard({ trust, allowed, resolver, findProxy, onBlocked }: GuardOptions): Guard {
  function blocked(param: string, refusal: { reason: BlockReason; host: string; message: string }): ApiError {
    onBlocked({ param, host: refusal.host, reason: refusal.reason })
    return new ApiError('blocked_host', `${param} ${refusal.message}`, { param })
  }

  /** Only the proxy can resolve the name to addresses. */
  const isUnchecked = (target: Target) => target.address === null && findProxy(target)?.names === 'unchecked'

  function explain(error: Error, target: Target, param: string): Error {
    if (!(error instanceof BlockedAddressError)) return error
    if (error.reason === 'cleartext')
      return blocked(param, { reason: error.reason, host: target.hostname, message: inTheClear(target.hostname) })
    const hint =
      error.reason === 'resolved_metadata_address' ? 'never allowed' : 'not allowed; an operator can allow it in TRUSTED_CUSTOM_HOSTS'
    const message = `names ${target.hostname}, which resolves to an address that is ${hint}`
    return blocked(param, { reason: error.reason, host: target.hostname, message })
  }

  function inspect(url: string, param: string, named: HostSource): Target {
    const target = checkUrl(url, trust)
    if ('reason' in target) throw blocked(param, target)
    if (!target.secure && !target.trustedName && isUnchecked(target))
      throw blocked(param, { reason: 'cleartext', host: target.hostname, message: inTheClear(target.hostname) })
    if (named === 'by data' && allowed?.allows(url, 'stored') === false)
      throw blocked(param, {
        reason: 'not_listed',
        host: target.hostname,
        message: `names ${target.hostname}, which ALLOWED_CUSTOM_HOSTS does not allow`,
      })
    return target
  }

  return {
    inspect,
    explain,
    inspectBase(url, param, named) {
      const target = inspect(url, param, named)
      if (target.url.search === '') return target
      throw blocked(param, { reason: 'query', host: target.hostname, message: 'must not have a query (?...)' })
    },
    async checkNames(target, param) {
      if (isUnchecked(target)) return
      const addresses = await resolver.resolve(target.hostname).catch(() => [])
      const refusal = findRefusal(addresses, target, trust)
      if (refusal !== null) throw explain(refusal, target, param)
    },
  }
}
