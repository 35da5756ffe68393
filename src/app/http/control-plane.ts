import type { IncomingMessage } from 'node:http'
import { Router } from '@koa/router'
import { ApiError } from '../../lib/errors.ts'
import type { Feature } from '../feature.ts'
import { mountFeatures, type Mounted } from '../mount.ts'
import { routeAdapter } from './adapter.ts'
import type { Middleware, State } from './context.ts'
import type { Frame } from './frame.ts'

type ControlRouter = Router<State>

export interface ControlPlane {
  readonly routes: ReturnType<ControlRouter['routes']>
  /** After `routes`: a known path with another method. */
  readonly otherMethods: Middleware
  /** Whether a request below `/v1` is for the control plane; cheap for those that are not. */
  owns(req: IncomingMessage): boolean
}

/** Mounts every feature's routes below `/v1`; those of features that are off answer `feature_unavailable`. */
export function controlPlane(frame: Frame): ControlPlane {
  const router = new Router<State>({ prefix: '/v1' })
  const adapt = routeAdapter(frame)
  const mounted = frame.config.roles.has('control') ? mountFeatures(frame.features, frame.config) : frame.features.map(notHere)
  for (const { feature, unavailable } of mounted) {
    for (const route of feature.routes) {
      router.register(route.path, [route.method], unavailable === null ? adapt(route) : refuseFeature(unavailable))
    }
  }
  return {
    owns: ownership(router, mounted, frame.config.headerAliases),
    routes: router.routes(),
    otherMethods: (ctx, next) => refuseMethod(router, ctx, next),
  }
}

const notHere = (feature: Feature): Mounted => ({
  feature,
  unavailable: `The feature ${feature.id} is not served by this process: ROLES has no control.`,
})

const refuseFeature =
  (reason: string): Middleware =>
  () =>
    Promise.reject(new ApiError('feature_unavailable', reason))

/**
 * Exact routes are ours. Below their first segments the rest is ours too, so that a mistyped path is a 404 and not sent to a
 * provider with our key, unless the request says which provider it means: any provider endpoint can be reached.
 */
function ownership(router: ControlRouter, mounted: readonly Mounted[], aliases: readonly string[]): ControlPlane['owns'] {
  const segments = new Set(['health', ...mounted.flatMap(({ feature }) => feature.routes.map(({ path }) => firstSegment(path)))])
  const targetHeaders = ['service', ...aliases].flatMap((prefix) => targets.map((name) => `x-${prefix}-${name}`))
  return ({ url = '/', method = 'GET', headers }) => {
    if (!segments.has(firstSegment(url, '/v1/'.length))) return false
    if (!targetHeaders.some((name) => headers[name] !== undefined)) return true
    const path = url.split('?', 1)[0] ?? url
    return path === '/v1/health' || router.match(path, method).route
  }
}

const targets = ['provider', 'virtual-key', 'custom-host', 'config']

/** `api-keys` of `/api-keys/:id?x=1`. */
function firstSegment(path: string, from = 1): string {
  const slash = path.indexOf('/', from)
  const query = path.indexOf('?', from)
  const end = Math.min(slash === -1 ? path.length : slash, query === -1 ? path.length : query)
  return path.slice(from, end)
}

function refuseMethod(router: ControlRouter, ctx: Parameters<Middleware>[0], next: () => Promise<unknown>): Promise<unknown> {
  const layers = router.match(ctx.path, ctx.method).path
  if (layers.length === 0) return next()
  const allowed = [...new Set(layers.flatMap(({ methods }) => methods))].join(', ')
  ctx.set('allow', allowed)
  return Promise.reject(new ApiError('method_not_allowed', `${ctx.path} does not take ${ctx.method}. It takes: ${allowed}.`))
}
