import type { IncomingHttpHeaders } from 'node:http'
import type { EntityManager } from '@mikro-orm/postgresql'
import { isOn } from '../../../config/effect.ts'
import { ApiError } from '../../../lib/errors.ts'
import { atLevel } from '../../../release/at-level.ts'
import { changesOf } from '../../audit/changes.ts'
import { writeAudit, type AuditEntry } from '../../audit/write.ts'
import { inDatabaseTurn } from '../../database/database-turns.ts'
import { retryLocked } from '../../database/lock-trouble.ts'
import { inTenant } from '../../database/orm.ts'
import type { Deps } from '../../deps.ts'
import { tellEvent, type ChangeNotice } from '../../events/notice.ts'
import {
  changesThings,
  LaterAnswer,
  type Actor,
  type AuditedResource,
  type Call,
  type Reply,
  type Route,
  type WriteElsewhere,
} from '../../route.ts'
import { etagOf, outdated } from './etag.ts'
import { recall, remember, type Repeatable } from './idempotency.ts'
import { parseInput } from './input.ts'

/** The reach of a handler beyond its transaction. */
export type Reach = Pick<Call<unknown, unknown, unknown>, 'callerOf' | 'send' | 'forward' | 'offered' | 'again'>

/** One parsed request to a route. */
export interface Request {
  readonly route: Route
  readonly actor: Actor
  readonly input: Pick<Call<unknown, unknown, unknown>, 'params' | 'query' | 'body'>
  /** The result of `before`; undefined where the route has none. */
  readonly found?: unknown
  /** As it stood in the URL. */
  readonly query: Readonly<Record<string, string | undefined>>
  readonly requestId: string
  readonly path: string
  readonly reach: Reach
  readonly clientAddress: string
  readonly country?: string | null
  readonly headers: IncomingHttpHeaders
  /** Null: no Idempotency-Key, or no POST. */
  readonly repeatable: Repeatable | null
  /** Null: no If-Match, or neither a PUT nor a DELETE. */
  readonly ifMatch: IfMatch | null
}

/** The ETags that a caller has seen, and the GET that answers with them. */
export interface IfMatch {
  readonly tags: ReadonlySet<string>
  readonly representation: Route | null
  /** The result of `before` of the representation. */
  readonly found?: unknown
}

/** The answer to the caller. */
export interface RouteResult {
  readonly answer: unknown
  /** The answer is that of an earlier request. */
  readonly replayed: boolean
  /** The ETag of the changed resource, when the caller keeps track of it. */
  readonly etag: string | null
  /** Each a `Set-Cookie`. */
  readonly cookies: readonly string[]
  /** The URL that the browser is sent on to; null: none. */
  readonly redirect: string | null
}

/** Runs a route in one transaction of its tenant: handler, answer, row of the trail, and the conventions of all routes. */
export async function perform(deps: Deps, request: Request): Promise<RouteResult> {
  const { performed, after } = await inCostlyTurn(deps, request, () => retryLocked(() => inTransaction(deps, request)))
  for (const work of after)
    work().catch((error: unknown) => deps.log.error({ err: error, request_id: request.requestId }, 'work after a write failed'))
  return performed
}

function inCostlyTurn<T>({ orm }: Deps, { route, actor, input }: Request, work: () => Promise<T>): Promise<T> {
  const { organisationId } = actor
  return route.costly?.(input) === true ? inDatabaseTurn(orm, { organisationId, kind: 'costly' }, work) : work()
}

/** Returns how a request writes in other organisations than that of its caller. */
export const elsewhereOf =
  (deps: Deps, request: Request): WriteElsewhere =>
  (actor, write) =>
    retryLocked(() =>
      inTenant(deps.orm, actor.organisationId, async (em) => {
        await holdWrites(em, { actor, ifMatch: null })
        const resource = await write(em)
        await em.flush()
        if (resource !== null) await tellWrite(em, deps, { request: { ...request, actor }, resource })
      }),
    )

async function inTransaction(deps: Deps, request: Request): Promise<Pick<HandlerRun, 'after'> & { readonly performed: RouteResult }> {
  const { route, actor, repeatable, ifMatch } = request
  const after: (() => Promise<void>)[] = []
  const beside: ReplyHeaders = { cookies: [], redirect: null }
  const performed = await inTenant(deps.orm, actor.organisationId, async (em) => {
    if (changesThings(route)) await holdWrites(em, request)
    const earlier = repeatable === null ? null : await recall(em, repeatable, deps)
    if (earlier !== null) return { answer: earlier, replayed: true, etag: null, ...beside }
    if (ifMatch !== null) await demandMatch(em, deps, { request, ifMatch })
    const answer = await handle(em, deps, { request, after, beside })
    const isChange = changesThings(route)
    if (repeatable !== null && beside.cookies.length === 0) await remember(em, repeatable, { ...deps, answer, isChange })
    return {
      answer,
      replayed: false,
      etag: ifMatch === null || route.method === 'DELETE' ? null : await currentEtag(em, deps, { request, ifMatch }),
      ...beside,
    }
  })
  return { performed, after }
}

/**
 * A write with If-Match waits for the writes of its organisation that run, and then has it for itself, so that the resource cannot change between its
 * look at the ETag and its own change. All writes take this lock before any other, so that they cannot wait for each other.
 */
async function holdWrites(em: EntityManager, { actor, ifMatch }: Pick<Request, 'actor' | 'ifMatch'>): Promise<void> {
  const lock = ifMatch === null ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock'
  await em.execute(`SELECT ${lock}(hashtextextended(?, 0))`, [`gatehouse:writes:${actor.organisationId}`])
}

interface HandlerRun {
  readonly request: Request
  /** Collects the handler's work for the time after the commit. */
  readonly after: (() => Promise<void>)[]
  readonly beside: ReplyHeaders
}

/** The headers that a handler adds to its answer. */
interface ReplyHeaders {
  readonly cookies: string[]
  redirect: string | null
}

/** Collects the headers that a handler adds to its answer. */
const replying = (beside: ReplyHeaders): Reply => ({
  cookie: (setCookie) => void beside.cookies.push(setCookie),
  redirect: (url) => void (beside.redirect = url),
})

async function handle(em: EntityManager, deps: Deps, { request, after, beside }: HandlerRun): Promise<unknown> {
  const { route, actor, input } = request
  const touched: AuditedResource[] = []
  const result = await route.handle({
    ...input,
    actor,
    found: request.found,
    em,
    deps,
    audit: (resource) => void touched.push(resource),
    afterCommit: (work) => void after.push(work),
    elsewhere: elsewhereOf(deps, request),
    reply: replying(beside),
    ...request.reach,
    clientAddress: request.clientAddress,
    headers: request.headers,
  })
  await em.flush()
  const answer = result instanceof LaterAnswer ? result : answerOf(route, result, deps)
  if (changesThings(route)) await tellWrite(em, deps, { request, resource: touched.at(-1) })
  return answer
}

/** Records a write: in the trail, and for event streams. */
async function tellWrite(
  em: EntityManager,
  { config, level, vault, clock }: Deps,
  { request, resource }: { readonly request: Request; readonly resource: AuditedResource | undefined },
): Promise<void> {
  const notice = changeOf(request, resource)
  if (!isOn('AUDIT_LOGS_ENABLED', config, level)) await tellEvent(em, notice)
  else await writeAudit(em, vault, { ...toEntry(request, { resource, changes: changesOf(em), at: clock.now() }), notice })
}

/** Returns the event of a write for event streams. */
const changeOf = ({ route, actor }: Request, resource: AuditedResource | undefined): ChangeNotice => ({
  topic: 'changes',
  organisationId: actor.organisationId,
  workspaceId: resource?.workspaceId ?? actor.workspaceId,
  resource: route.resource ?? 'unknown',
  id: resource?.id ?? null,
  action: actionOf(route),
  families: [...new Set([route.permission].flat().map((scope) => scope.split('.')[0] ?? scope))],
})

/** Returns the part of a result that the route's schema has at this level. */
const answerOf = ({ response }: Route, result: unknown, { level }: Deps): unknown => atLevel(response, level, 'answer').parse(result ?? {})

interface Precondition {
  readonly request: Request
  readonly ifMatch: IfMatch
}

async function demandMatch(em: EntityManager, deps: Deps, matching: Precondition): Promise<void> {
  const etag = await currentEtag(em, deps, matching)
  if (etag === null) throw new ApiError('AB01', 'This resource has no ETag: send the request without if-match.', { param: 'if-match' })
  if (!matching.ifMatch.tags.has(etag)) throw outdated()
  em.clear()
}

/** The ETag of the resource as this transaction sees it now. */
async function currentEtag(
  em: EntityManager,
  deps: Deps,
  { request, ifMatch: { representation, found } }: Precondition,
): Promise<string | null> {
  if (representation === null) return null
  const query = parseInput(representation.query, request.query, { place: 'query', level: deps.level })
  const result = await representation.handle({
    params: request.input.params,
    query,
    body: undefined,
    actor: request.actor,
    found,
    em,
    deps,
    audit: () => {},
    afterCommit: () => {},
    elsewhere: async () => {},
    reply: { cookie: () => {}, redirect: () => {} },
    ...request.reach,
    clientAddress: request.clientAddress,
    headers: request.headers,
  })
  return etagOf(answerOf(representation, result, deps))
}

interface AuditNotes extends Pick<AuditEntry, 'changes' | 'at'> {
  readonly resource: AuditedResource | undefined
}

/** The noun and the verb of a row. */
const namesOf = (route: Route, resource: AuditedResource | undefined) => ({
  action: resource?.action ?? actionOf(route),
  resourceType: resource?.type ?? route.resource ?? 'unknown',
})

/** The row of one write. The body is the parsed one: fields unknown to the schema were never used. */
const toEntry = ({ route, actor, input, ...request }: Request, { resource, changes, at }: AuditNotes): AuditEntry => ({
  actor,
  workspaceId: resource?.workspaceId ?? actor.workspaceId,
  ...namesOf(route, resource),
  resourceId: resource?.id ?? null,
  method: route.method,
  uri: request.path,
  query: Object.keys(request.query).length === 0 ? null : request.query,
  requestId: request.requestId,
  clientAddress: request.clientAddress,
  country: request.country ?? null,
  headers: request.headers,
  status: 200,
  body: input.body,
  schemas: { query: route.query, body: route.body },
  changes: [...(resource?.changes ?? []), ...changes],
  at,
})

const verbs = { POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete', GET: 'read' } as const

/** `rotate` of `workspace_service_api_keys.rotate`; by the method when the accepted scopes differ in it. */
export function actionOf({ action, permission, method }: Pick<Route, 'action' | 'permission' | 'method'>): string {
  if (action !== undefined) return action
  const [verb, ...others] = new Set([permission].flat().map((scope) => scope.split('.').at(-1)))
  return verb === undefined || others.length > 0 ? verbs[method] : verb
}
