import { Router } from '@koa/router'
import { fronts, operations } from '../../gateway/ports/operations.ts'
import { ApiError } from '../../lib/errors.ts'
import type { ReleaseTable } from '../../release/table.ts'
import { mountFeatures, unavailableError, type Unavailable } from '../level/mount.ts'
import { pendingOperations } from '../level/announced-operations.ts'
import { routeAdapter } from './routes/adapter.ts'
import { fileAdapter } from './routes/files.ts'
import { mountedApps } from './routes/mounted.ts'
import { protocolsOf, type ProtocolMiddleware } from './routes/protocols.ts'
import type { Context, Middleware, State } from './context.ts'
import type { Frame } from './frame.ts'
import { reservedPaths, sharedSegments } from '../level/reserved.ts'
import { firstSegment } from '../../lib/text/first-segment.ts'
import { isClaimed, ownership, type OwnerOf } from './ownership.ts'
import { wholePath } from '../route.ts'

type ControlRouter = Router<State>

/** The control plane at one level. */
export interface ControlPlane {
  readonly routes: ReturnType<ControlRouter['routes']>
  /** Runs before `routes`: the answers of protocols of others. */
  readonly protocols: ProtocolMiddleware
  /** Runs before `routes`: the applications of libraries. */
  readonly apps: Middleware
  /** After `routes`: a path that is ours, with another method or another end. */
  readonly otherwise: Middleware
  /** Returns the plane that serves a request below `/v1`. */
  readonly ownerOf: OwnerOf
  /**
   * Returns true for an address below `/v1` that a proxy in front sends to the control plane, because it tells the planes apart by the first segment.
   * The data plane has paths there too: `/prompts/{promptId}/completions`.
   */
  readonly claims: (url: string) => boolean
}

/** Gives the control plane as it is now: made anew when the level has risen, or the release records were read. */
export function controlPlane(frame: Frame): () => ControlPlane {
  let made: { readonly plane: ControlPlane; readonly level: string; readonly records: ReleaseTable | null } | null = null
  return () => {
    const level = frame.level.release
    const records = frame.records.loaded()
    if (made?.level !== level || made.records !== records) made = { plane: create(frame), level, records }
    return made.plane
  }
}

/** An operation, with its handler, or the reason why it has none. */
interface Row {
  readonly methods: readonly string[]
  /** Below `/v1`, or below the root. */
  readonly path: string
  readonly below?: '/' | undefined
  readonly answer: Middleware | Unavailable
}

/** Registers every feature's routes; those that are off, and those that are only announced, answer `feature_unavailable`. */
function create(frame: Frame): ControlPlane {
  const rows = rowsOf(frame, (req) => ownerOf(req))
  const router = new Router<State>()
  const served = new Router<State>()
  for (const { methods, answer, ...row } of rows) {
    const path = wholePath(row)
    if (isOn(answer)) served.register(path, [...methods], answer)
    router.register(path, [...methods], isOn(answer) ? answer : () => Promise.reject(unavailableError(answer)))
  }
  const versioned = rows.filter(({ below }) => below === undefined)
  const off = wholeSegmentsOff(versioned)
  const segments = new Set(['health', ...versioned.map(({ path }) => firstSegment(path))])
  const claims = { segments, shared: sharedSegments, foreign: foreignSegments.difference(segments) }
  const ownerOf = ownership(claims)
  const unshared = { ...claims, segments: segments.difference(new Set(sharedSegments.keys())) }
  return {
    ownerOf,
    // Providers have paths of their own below shared segments.
    claims: (url) => isClaimed(unshared, url),
    routes: router.routes(),
    protocols: protocolsOf(frame, (req) => ownerOf(req)),
    apps: mountedApps(frame),
    otherwise: (ctx, next) => refuse(ctx, { served, off }, next),
  }
}

function rowsOf(frame: Frame, ownerOf: OwnerOf): readonly Row[] {
  const { config, level, features } = frame
  const adapt = config.roles.has('control') ? routeAdapter(frame, ownerOf) : () => refuseRole
  const records = frame.records.loaded()
  const mounted = mountFeatures(features, { config, level })
  const giving = config.roles.has('control') ? fileAdapter(frame) : () => refuseRole
  const pending = records === null ? [] : pendingOperations(records, features, { config, level })
  const reserved = reservedPaths(features, { config, level }).map(({ path, unavailable }) => ({
    methods: allMethods,
    path,
    answer: unavailable,
  }))
  return [
    // Whole names before paths below a module: `/logs/exports` is no log.
    ...reserved.filter(({ path }) => !path.includes(':') && path.includes('/', 1)),
    ...mounted
      .flatMap(({ feature, unavailable }) =>
        feature.routes.map((route) => ({
          methods: [route.method],
          path: route.path,
          below: route.below,
          answer: unavailable ?? adapt(route),
        })),
      )
      .toSorted((one, other) => Number(one.path.includes(':')) - Number(other.path.includes(':'))),
    ...mounted.flatMap(({ feature, unavailable }) =>
      (feature.files ?? []).map((file) => ({ methods: ['GET'], path: file.path, answer: unavailable ?? giving(file) })),
    ),
    ...pending.map(({ method, path, unavailable }) => ({ methods: [method], path, answer: unavailable })),
    ...reserved.filter(({ path }) => path.includes(':') || !path.includes('/', 1)),
  ]
}

const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const foreignSegments: ReadonlySet<string> = new Set(Object.values(operations).map(({ path }) => firstSegment(path)))

/** First segments below which no route is on, with the reason of the shortest path there. */
function wholeSegmentsOff(rows: readonly Row[]): ReadonlyMap<string, Unavailable> {
  const on = new Set(rows.flatMap(({ path, answer }) => (isOn(answer) ? [firstSegment(path)] : [])))
  const off = rows
    .toSorted((one, other) => depth(one) - depth(other))
    .flatMap(({ path, answer }) => (isOn(answer) || on.has(firstSegment(path)) ? [] : [[firstSegment(path), answer] as const]))
  return new Map(off.toReversed())
}

const depth = ({ path }: Row): number => path.split('/').length

const isOn = (answer: Row['answer']): answer is Middleware => typeof answer === 'function'

const refuseRole: Middleware = () =>
  Promise.reject(new ApiError('feature_unavailable', 'The control plane is not served by this process: ROLES has no control.'))

interface KnownRoutes {
  readonly served: ControlRouter
  readonly off: ReadonlyMap<string, Unavailable>
}

function refuse(ctx: Context, { served, off }: KnownRoutes, next: () => Promise<unknown>): Promise<unknown> {
  const unavailable = ctx.path.startsWith(fronts[0].prefix) ? off.get(firstSegment(ctx.path, fronts[0].prefix.length)) : undefined
  if (unavailable !== undefined) return Promise.reject(unavailableError(unavailable))
  const layers = served.match(ctx.path, ctx.method).path
  if (layers.length === 0) return next()
  const allowed = [...new Set(layers.flatMap(({ methods }) => methods))].join(', ')
  ctx.set('allow', allowed)
  return Promise.reject(new ApiError('method_not_allowed', `${ctx.path} does not take ${ctx.method}. It takes: ${allowed}.`))
}
