import type { RequestListener } from 'node:http'
import type { RouterContext } from '@koa/router'
import Koa from 'koa'
import { ApiError } from '../../lib/errors.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { consoleRoutes } from './console.ts'
import type { Middleware, State } from './context.ts'
import { controlPlane } from './control-plane.ts'
import { dataPlane } from './data-plane.ts'
import { errorEdge } from './errors.ts'
import { nearestPath } from '../../lib/text/nearest.ts'
import { knownPaths } from '../level/known-paths.ts'
import type { Frame } from './frame.ts'
import { managementRoutes, processRoutes } from './process-routes.ts'
import { eachHeader } from '../../gateway/ports/headers.ts'

/** Everything that happens to a request, in order. */
export function createHandler(frame: Frame): RequestListener {
  const koa = new Koa<State>({ env: 'production' })
  koa.silent = true
  const control = controlPlane(frame)
  koa
    .use(begin(frame))
    .use(accessLine(frame))
    .use(errorEdge(frame))
    .use(processRoutes(frame))
    .use(consoleRoutes(frame))
    .use<State, RouterContext<State>>((ctx, next) => control().protocols(ctx, next))
    .use((ctx, next) => control().apps(ctx, next))
    .use<State, RouterContext<State>>((ctx, next) => control().routes(ctx, next))
    .use((ctx, next) => control().otherwise(ctx, next))
    .use(nothingHere(knownPaths(frame.features, frame)))
  const [takeOver, others] = [dataPlane(frame, control), koa.callback()]
  return (req, res) => {
    if (!takeOver(req, res)) void others(req, res)
  }
}

/** Returns the handler of the port for probes and metrics. */
export function createManagementHandler(frame: Frame): RequestListener {
  const koa = new Koa<State>({ env: 'production' })
  koa.silent = true
  koa
    .use(begin(frame))
    .use(accessLine(frame))
    .use(errorEdge(frame))
    .use(managementRoutes(frame))
    .use(nothingHere(() => []))
  return koa.callback()
}

const begin =
  ({ draining, edgeHeaders }: Pick<Frame, 'draining' | 'edgeHeaders'>): Middleware =>
  (ctx, next) => {
    const requestId = uuidv7()
    ctx.state.requestId = requestId
    ctx.state.startedAt = performance.now()
    ctx.state.access = {}
    // Answers of the control plane belong to their callers alone; documents set their own headers.
    ctx.set({ 'x-request-id': requestId, 'request-id': requestId, 'cache-control': 'no-store' })
    eachHeader(edgeHeaders(ctx.req), (name, value) => ctx.set(name, value))
    if (draining()) ctx.res.shouldKeepAlive = false
    return next()
  }

/** One line a request, at its end, of named fields only: no query, no header, no body. */
const accessLine =
  ({ access, clientAddress }: Pick<Frame, 'access' | 'clientAddress'>): Middleware =>
  async (ctx, next) => {
    await next()
    const { requestId, startedAt, access: facts } = ctx.state
    const fields = {
      request_id: requestId,
      route: facts.route ?? ctx.path,
      method: ctx.method,
      status: ctx.status,
      duration_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
      client_ip: clientAddress(ctx.req),
      org: facts.organisationId,
      workspace: facts.workspaceId,
      api_key_id: facts.apiKeyId,
      user_id: facts.userId,
      error_code: facts.errorCode,
    }
    if (quiet.has(ctx.path)) access.debug(fields, 'request')
    else access.info(fields, 'request')
  }

/** The paths that probes ask for every few seconds. */
const quiet: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

const nothingHere =
  (known: () => readonly string[]): Middleware =>
  (ctx) => {
    const meant = ctx.path.length > 200 ? null : nearestPath(ctx.path, known())
    const advice = meant === null ? 'The API is below /v1, its description at /docs.' : `Did you mean ${meant}?`
    return Promise.reject(new ApiError('not_found', `There is nothing at ${ctx.path.slice(0, 200)}. ${advice}`))
  }
