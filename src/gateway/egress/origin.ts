import { isIP } from 'node:net'
import { createConnect } from './connect.ts'
import { ApiError } from '../../lib/errors.ts'
import { askForSocket } from './ask-for-socket.ts'
import type { EgressCall, EgressOrigin } from './egress.ts'
import { Exchange, type Route } from './exchange.ts'
import { toFailure } from './failures.ts'
import type { Guard } from './guard.ts'
import type { Pools } from './pools.ts'
import type { FindProxy } from './proxies.ts'
import { createProxyConnect, tunnels } from './proxy-connect.ts'
import type { Resolver } from './resolver.ts'
import type { Target } from './rules.ts'
import type { Trust } from './trust.ts'
import { withoutEnd } from '../../lib/text/without-end.ts'

/** The parts of an egress that its origins share. */
export interface OriginParts {
  readonly trust: Trust
  readonly resolver: Resolver
  readonly guard: Guard
  readonly pools: Pools
  readonly findProxy: FindProxy
  /** The organisation for which requests go; null: Gatehouse itself. */
  readonly owner: string | null
  /** For a new connection. */
  readonly timeoutMs: number
  /** The only authorities that are believed, PEM; undefined: the usual ones. */
  readonly ca?: string | undefined
}

/** Builds the origin of a URL that was checked; `param` is the field that named it. */
export function createOrigin(
  target: Target,
  param: string,
  { trust, resolver, guard, pools, findProxy, owner, timeoutMs, ca }: OriginParts,
): EgressOrigin {
  const proxy = findProxy(target)
  const options = { trust, resolver, timeoutMs, ca }
  const connect = proxy === null ? createConnect(target, options) : createProxyConnect(target, proxy, options)
  const authority = authorityOf(target)
  const origin = `${target.url.protocol}//${authority}`
  const forward = proxy === null || tunnels(target, proxy) ? null : { proxy, prefix: origin }
  const told = toldHost(target)
  const route: Route = { authority, told, owner, forward, explain: (error) => guard.explain(error, target, param) }
  return {
    origin,
    basePath: withoutEnd(target.url.pathname, '/'),
    send(request, handler) {
      const exchange = new Exchange(route, request, handler)
      exchange.begin(pools.of({ origin, ca, owner }, connect))
      return exchange
    },
    upgrade(request, handler, opened) {
      const fail = (error: Error) => handler.onError(toFailure(route.explain(error), { host: told, answered: false }))
      if (forward !== null) return refuseUpgrade(fail)
      return askForSocket({ url: origin + request.path, connect, fail }, request, { handler, opened })
    },
    async resolve() {
      if (isIP(target.hostname) !== 0 || proxy?.names === 'unchecked') return
      await resolver.resolve(target.hostname).catch((error: Error) => Promise.reject(toFailure(error, { host: told, answered: false })))
      await guard.checkNames(target, param)
    },
    reach: () =>
      new Promise((resolve, reject) => {
        connect((error, socket) => {
          socket?.destroy()
          if (error === null) resolve()
          else reject(toFailure(route.explain(error), { host: told, answered: false }))
        })
      }),
  }
}

/** A proxy that gets whole URLs passes no upgrade on. */
function refuseUpgrade(fail: (error: Error) => void): EgressCall {
  queueMicrotask(() =>
    fail(new ApiError('upstream_unreachable', 'The forward proxy for this host carries no WebSockets: it needs a tunnel.')),
  )
  return { abort() {}, pause() {}, resume() {} }
}

/** The host in messages: its name, and never an address or a port, which would reveal the network to callers. */
const toldHost = ({ hostname }: Target): string => (isIP(hostname) === 0 ? hostname : 'The provider')

function authorityOf({ url, hostname }: Target): string {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  return url.port === '' ? host : `${host}:${url.port}`
}
