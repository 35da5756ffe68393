import { inTenant } from '../database/orm.ts'
import type { Actor, Call, Route } from '../route.ts'
import { authenticate, demandPermission, toActor } from './authenticate.ts'
import { type AuditEntry, writeAudit } from './audit.ts'
import { bodyReader } from './body.ts'
import type { Context, Middleware } from './context.ts'
import type { Frame, Running } from './frame.ts'
import { parseInput } from './input.ts'
import { demandRunning } from './running.ts'

type Input = Pick<Call<unknown, unknown, unknown>, 'params' | 'query' | 'body'>
type Touched = Parameters<Call<unknown, unknown, unknown>['audit']>[0]

/** What is managed is small; checking a body costs many times its reading. */
const maxBodyBytes = 2 * 1024 * 1024

/**
 * How every control-plane route runs: authenticate -> demand the scope -> parse -> one tenant transaction around the handler, its
 * answer and its audit row. The answer goes through the route's schema, so that a field which is not declared cannot leak.
 */
export function routeAdapter(frame: Frame): (route: Route) => Middleware {
  const readBody = bodyReader(Math.min(frame.config.maxJsonBytes, maxBodyBytes))
  const prefixes = ['x-service-', ...frame.config.headerAliases.map((alias) => `x-${alias}-`)]
  return (route) => async (ctx) => {
    ctx.state.access.route = route.path
    const running = demandRunning(frame)
    const key = await authenticate(ctx.req.rawHeaders, prefixes, { snapshot: running.snapshot, metrics: running.deps.metrics })
    const actor = toActor(key)
    noteCaller(ctx, actor)
    demandPermission(actor, route)
    const input = {
      params: parseInput(route.params, ctx['params'], 'path'),
      query: parseInput(route.query, singleValues(ctx.query), 'query'),
      body: route.body === undefined ? undefined : parseInput(route.body, await readBody(ctx), 'body'),
    }
    ctx.body = await perform(running, route, { actor, input, clientAddress: frame.clientAddress(ctx.req), ctx })
    ctx.status = 200
  }
}

function noteCaller({ state }: Context, actor: Actor): void {
  state.access.organisationId = actor.organisationId
  state.access.workspaceId = actor.workspaceId
  state.access.apiKeyId = actor.id
}

/** Of a query parameter that comes twice the last counts. */
const singleValues = (query: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value]))

interface Request {
  readonly actor: Actor
  readonly input: Input
  readonly clientAddress: string
  readonly ctx: Context
}

function perform({ deps }: Running, route: Route, request: Request): Promise<unknown> {
  const { actor, input } = request
  return inTenant(deps.orm, actor.organisationId, async (em) => {
    const touched: Touched[] = []
    const result = await route.handle({ ...input, actor, em, deps, audit: (resource) => void touched.push(resource) })
    await em.flush()
    const answer = route.response.parse(result ?? {})
    if (route.method !== 'GET' && deps.config.flags.AUDIT_LOGS_ENABLED)
      await writeAudit(em, deps.vault, toEntry(route, request, touched.at(-1)))
    return answer
  })
}

const verbs = { POST: 'create', PUT: 'update', DELETE: 'delete', GET: 'read' } as const

/** The row of one write. The body is the parsed one: what the schema does not know was never used. */
const toEntry = (route: Route, { actor, input, clientAddress, ctx }: Request, resource: Touched | undefined): AuditEntry => ({
  actor,
  workspaceId: resource?.workspaceId ?? actor.workspaceId,
  action: actionOf(route),
  resourceType: route.resource ?? 'unknown',
  resourceId: resource?.id ?? null,
  method: route.method,
  uri: ctx.path,
  requestId: ctx.state.requestId,
  clientAddress,
  status: 200,
  body: input.body,
})

/** `rotate` of `workspace_service_api_keys.rotate`; by the method when the accepted scopes differ in it. */
function actionOf({ permission, method }: Route): string {
  const [verb, ...others] = new Set([permission].flat().map((scope) => scope.split('.').at(-1)))
  return verb === undefined || others.length > 0 ? verbs[method] : verb
}
