import { createLru } from '../../lib/collections/lru.ts'
import { eighthOf } from '../../lib/shares/shares.ts'
import type { AllowedHosts } from './allowed-hosts.ts'
import type { Egress, EgressOrigin } from './egress.ts'
import type { BlockedEvent } from './guard.ts'
import { createGuard } from './guard.ts'
import type { ResolveName } from './names.ts'
import { systemNames } from './names.ts'
import { createOrigin, type OriginParts } from './origin.ts'
import { createPools } from './pools.ts'
import { createFindProxy, type ProxySettings } from './proxies.ts'
import { createResolver } from './resolver.ts'
import type { Target } from './rules.ts'
import { sendSmall } from './small-exchange.ts'
import { parseTrustedHosts } from './trust.ts'

export type { BlockedEvent } from './guard.ts'

/**
 * One policy. A surface with other trusted hosts (webhooks, for example) is another egress, with connections of its own, so that a socket opened
 * under a lax policy never serves a strict one.
 */
export interface EgressOptions {
  /** Hosts, `*.suffix`es, addresses and CIDR blocks that are let through although they are private; each with or without `:port`. */
  readonly trustedHosts: readonly string[]
  /** The hosts that data may name; absent: every host that the guard lets through. */
  readonly allowedHosts?: AllowedHosts | null
  /** The forward proxies; absent or null: every host is connected to directly. */
  readonly proxies?: ProxySettings | null
  /** For a new connection: resolving, TCP and TLS together. */
  readonly connectTimeoutMs: number
  /** Called at each refusal. */
  readonly onBlocked?: (event: BlockedEvent) => void
  /** Stands in for the hosts file and the DNS in tests. */
  readonly resolve?: ResolveName
  /** Longest that a DNS answer is believed. */
  readonly dnsCacheMs?: number
  readonly maxConnectionsPerOrigin?: number
  /** Requests that may wait for a connection of one origin, an eighth of them for one organisation. */
  readonly maxQueuedPerOrigin?: number
  /** Origins with open connections; an idle one makes room for a new one, and when none is idle the request fails. */
  readonly maxOrigins?: number
  /** Origins with open connections of one organisation; absent: an eighth of all. */
  readonly maxOriginsOfOne?: number
}

const defaults = {
  onBlocked: (): void => {},
  dnsCacheMs: 30_000,
  maxConnectionsPerOrigin: 16_384,
  maxQueuedPerOrigin: 8192,
  maxOrigins: 4096,
}
const maxCheckedOrigins = 1000
/** The organisations whose egress is kept; one that is made again has the same connections. */
const maxOwners = 10_000

/** Builds the egress guard and its connections. Throws an Error naming the entry when `trustedHosts` holds one that is no host. */
export function createEgress(options: EgressOptions): Egress {
  const { connectTimeoutMs: timeoutMs, resolve = systemNames(), ...settings } = { ...defaults, ...options }
  const trust = parseTrustedHosts(options.trustedHosts)
  const resolver = createResolver({ resolve, maxAgeMs: settings.dnsCacheMs, timeoutMs })
  const findProxy = createFindProxy(options.proxies ?? null)
  const guard = createGuard({ trust, allowed: options.allowedHosts ?? null, resolver, findProxy, onBlocked: settings.onBlocked })
  const pools = createPools({ maxOriginsOfOne: eighthOf(settings.maxOrigins), ...settings })
  const owners = createLru<Egress>(maxOwners)
  const parts = { trust, resolver, guard, pools, findProxy, timeoutMs, owner: null }
  const ownedBy = (organisationId: string): Egress => {
    const known = owners.get(organisationId)
    if (known !== undefined) return known
    const made = egressWith({ ...parts, owner: organisationId }, ownedBy)
    owners.set(organisationId, made)
    return made
  }
  return egressWith(parts, ownedBy)
}

/** The egress of one owner: its checks are its own, and its connections are shared. */
function egressWith(parts: OriginParts, ownedBy: Egress['ownedBy']): Egress {
  const { guard, resolver, pools, findProxy } = parts
  const checked = createLru<EgressOrigin>(maxCheckedOrigins)
  const originOf = (target: Target, param: string, ca?: string): EgressOrigin => createOrigin(target, param, { ...parts, ca })

  return {
    ownedBy,
    origin(url, param, named = 'by data') {
      const key = `${named} ${param} ${url}`
      const known = checked.get(key)
      if (known !== undefined) return known
      const target = guard.inspectBase(url, param, named)
      const origin = originOf(target, param)
      const keep = () => {
        checked.set(key, origin)
        return origin
      }
      return target.address === null ? guard.checkNames(target, param).then(keep) : keep()
    },
    async exchange(request) {
      const target = guard.inspect(request.url, 'url', request.named ?? 'by data')
      return sendSmall(originOf(target, 'url', request.ca), target.url.pathname + target.url.search, request)
    },
    async resolves(url) {
      try {
        const target = guard.inspect(url, 'url', 'by data')
        if (target.address !== null || findProxy(target)?.names === 'unchecked') return true
        await guard.checkNames(target, 'url')
        return (await resolver.resolve(target.hostname)).length > 0
      } catch {
        return false
      }
    },
    async close() {
      pools.close()
    },
  }
}
