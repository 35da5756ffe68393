import { withPatterns } from '../../../gateway/ports/patterns.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { Authenticator } from '../../authenticator.ts'
import { isKept } from '../../answer-shapes.ts'
import { isConditional, mostBytesOf, type Actor, type Route } from '../../route.ts'
import { admit, callerOf, unlessRefused, type Admission } from './authenticate.ts'
import { bodyReader } from './body.ts'
import { countFailure, countingFailures } from './count-failures.ts'
import type { Context, Middleware } from '../context.ts'
import { etagOf, parseIfMatch, representations, type Representations } from './etag.ts'
import type { Frame, FrameServices } from '../frame.ts'
import type { OwnerOf } from '../ownership.ts'
import { idempotencyKey } from './idempotency.ts'
import { parseInput, withoutRepeated } from './input.ts'
import { offeredBy } from './offered.ts'
import { elsewhereOf, perform, type IfMatch, type RouteResult, type Reach, type Request } from './perform.ts'
import type { Shape } from '../shapes/shape.ts'
import { shapeOf } from '../shapes/shape-of.ts'
import { demandRunning } from '../running.ts'
import { headerPrefixes, sortHeaders } from '../../../gateway/ports/headers.ts'
import { featuresOn } from '../../level/mount.ts'
import { networkOf } from '../listener/client-address.ts'
import { sender } from './send.ts'

/** The bound of a control-plane body. Resources are small, and checking a body costs far more than reading it. */
const maxBodyBytes = 2 * 1024 * 1024

/** The parts of the frame that all routes need. */
export interface RoutesInFrame {
  readonly frame: Frame
  readonly ownerOf: OwnerOf
  readonly readBody: ReturnType<typeof bodyReader>
  readonly prefixes: readonly string[]
  readonly paired: Representations
}

/** A route with the parts of the frame that it needs. */
interface RouteInFrame extends RoutesInFrame {
  readonly route: Route
  readonly shape: Shape
  readonly callers: CallerFinder
}

/** How the callers of routes are found by a credential. */
export interface CallerFinder {
  /** Returns the caller, before the body is read; null: the contents of the request tell. Throws if they may not call the route. */
  find(ctx: Context, route: Route, running: FrameServices): Promise<Actor | null>
  /** Finds the caller once more, as things stand by then. */
  again(ctx: Context, route: Route, running: FrameServices): Promise<Actor>
}

/** A request as far as it is known. */
export interface HeardRequest {
  actor: Actor | null
  /** As it was sent; undefined: none was read. */
  body: unknown
}

/**
 * How every control-plane route runs: authenticate -> demand the scope -> parse -> one tenant transaction around the handler, its
 * answer and its audit row. The answer goes through the route's schema, so that a field which is not declared cannot leak.
 */
export function routeAdapter(frame: Frame, ownerOf: OwnerOf): (route: Route) => Middleware {
  const inFrame = routesInFrame(frame, ownerOf, Math.min(frame.config.maxJsonBytes, maxBodyBytes))
  const callers = callersByCredential(inFrame)
  return (route) => {
    const adapted: RouteInFrame = { ...inFrame, callers, route, shape: shapeOf(route) }
    return (ctx) => {
      ctx.state.access.route = route.path
      return run(ctx, adapted)
    }
  }
}

/** Returns the parts of the frame that routes need, for bodies of at most so many bytes. */
export const routesInFrame = (frame: Frame, ownerOf: OwnerOf, maxBytes: number): RoutesInFrame => ({
  frame,
  ownerOf,
  readBody: bodyReader(maxBytes),
  prefixes: headerPrefixes(frame.config.headerAliases),
  paired: representations(frame.features),
})

interface PresentedRequest {
  readonly running: FrameServices
  readonly input: Request['input']
}

/** Runs one request to a route, and notes in `heard` what is known of it, for requests that are refused. */
export async function run(ctx: Context, adapted: RouteInFrame, heard: HeardRequest = { actor: null, body: undefined }): Promise<void> {
  const { route, frame, shape, callers } = adapted
  shape.begin?.(ctx)
  const running = demandRunning(frame)
  const { deps } = running
  const known = await callers.find(ctx, route, running)
  heard.actor = known
  const parsed = await parse(ctx, adapted, heard)
  const actor = known ?? (await identified(ctx, adapted, { running, input: parsed.input }))
  noteCaller(ctx, actor)
  const repeatable =
    parsed.key === null ? null : { actor, key: parsed.key, request: { path: ctx.path, query: parsed.query, body: parsed.body } }
  const about = aboutRequest(ctx, frame)
  const asked = await lookAhead(running, {
    route,
    actor,
    ...parsed,
    repeatable,
    reach: reachOf(ctx, adapted, { running, actor }),
    ...about,
  })
  await shape.write(ctx, withEtag(await perform(deps, asked), adapted))
}

/** A GET whose answer writes may depend on has the ETag of that answer. */
const withEtag = (result: RouteResult, { route, paired }: RouteInFrame): RouteResult =>
  route.method === 'GET' && paired.has(route) ? { ...result, etag: etagOf(result.answer) } : result

/** Returns the request with the results of the route's `before`, and of that of its ETag. */
async function lookAhead(running: FrameServices, request: Request): Promise<Request> {
  const { route, input, ifMatch, clientAddress } = request
  const elsewhere = elsewhereOf(running.deps, request)
  const ahead = { ...request, ...request.reach, ...input, clientNetwork: networkOf(clientAddress), elsewhere }
  const look = async () => route.before?.(ahead, running.deps)
  // A caller without a credential may show one here.
  const found = await (route.identify === undefined ? look() : countingFailures(running, { address: clientAddress, kind: 'invite' }, look))
  const representation = await ifMatch?.representation?.before?.({ ...ahead, body: undefined }, running.deps)
  return { ...request, found, ifMatch: ifMatch && { ...ifMatch, found: representation } }
}

const reachOf = (
  ctx: Context,
  adapted: RouteInFrame,
  { running, actor }: { readonly running: FrameServices; readonly actor: Actor },
): Reach => ({
  ...sender(ctx, { ...adapted, running }),
  offered: offeredBy(actor, running),
  callerOf: callerOf(running),
  again: () => unlessRefused(() => adapted.callers.again(ctx, adapted.route, running)),
})

/** Finds callers by the credentials that routes of our own API take. */
function callersByCredential({ frame, prefixes }: RoutesInFrame): CallerFinder {
  const authenticators: readonly Authenticator[] = featuresOn(frame.features, frame).flatMap((one) => one.authenticators ?? [])
  const admissionOf = ({ req, method }: Context, route: Route): Admission => ({
    route,
    method,
    headers: req.headers,
    clientAddress: frame.clientAddress(req),
    sorted: sortHeaders(req.rawHeaders, prefixes),
    authenticators,
  })
  return {
    async find(ctx, route, running) {
      if (route.identify !== undefined) {
        demandPatience(frame, ctx, running)
        return null
      }
      return entitled(ctx, admissionOf(ctx, route), { frame, running })
    },
    again: async (ctx, route, running) => (await admit({ ...admissionOf(ctx, route), looksOnly: true }, running)).actor,
  }
}

/** Returns the facts about a request that the trail keeps, for refused requests too. */
const aboutRequest = ({ req, path, state }: Context, frame: Frame) => ({
  requestId: state.requestId,
  path,
  clientAddress: frame.clientAddress(req),
  country: frame.clientCountry(req),
  headers: req.headers,
})

/** Returns the caller. Throws if they lack the scope, before the body is read. */
async function entitled(
  ctx: Context,
  admission: Admission,
  { frame, running }: { readonly frame: Frame; readonly running: FrameServices },
): Promise<Actor> {
  try {
    const { actor, cookie } = await admit(admission, running)
    if (cookie !== undefined) ctx.append('set-cookie', cookie)
    return actor
  } catch (error) {
    running.recordRefusal(error, { method: ctx.method, ...aboutRequest(ctx, frame) })
    throw error
  }
}

/** Returns the actor that a secret in the request identifies. */
async function identified(ctx: Context, { route, frame }: RouteInFrame, { running, input }: PresentedRequest): Promise<Actor> {
  const { headers } = ctx.req
  const clientAddress = frame.clientAddress(ctx.req)
  const asked = { ...input, headers, clientAddress, clientNetwork: networkOf(clientAddress) }
  const actor = await countingFailures(running, { address: clientAddress, kind: 'invite' }, async () =>
    route.identify?.(asked, running.deps),
  )
  if (actor === undefined) throw new Error(`nobody says who calls ${route.path}`)
  return actor
}

/** Before anything of the request is read. */
function demandPatience(frame: Frame, ctx: Context, running: FrameServices): void {
  const address = frame.clientAddress(ctx.req)
  if (running.failures.spent(address)) throw countFailure(running, { address, kind: 'invite' }, null)
  const tooMany = running.openCalls.failed(address)
  if (tooMany === null) return
  running.deps.metrics.authFailure('limited')
  throw tooMany
}

function noteCaller({ state }: Context, actor: Actor): void {
  state.access.organisationId = actor.organisationId
  state.access.workspaceId = actor.workspaceId
  if (actor.session === undefined) state.access.apiKeyId = actor.id
  else state.access.userId = actor.id
}

/** Parses the request and its conditions. */
async function parse(ctx: Context, { route, shape, readBody, paired, frame }: RouteInFrame, heard: HeardRequest) {
  const { level } = frame
  const owner = heard.actor?.organisationId ?? ''
  const query = singleValues(ctx.query, route.aliases ?? {})
  const params = parseInput(route.params, ctx['params'], { place: 'path', level })
  const asked = parseInput(route.query, query, { place: 'query', level })
  const key = shape.ours && route.method === 'POST' ? idempotencyKey(ctx.get('idempotency-key')) : null
  if (key !== null && !isKept(route.answers))
    throw new ApiError('AB01', 'The answer of this route is not kept, so that it cannot be given again: leave Idempotency-Key out.', {
      param: 'idempotency-key',
    })
  const ifMatch = shape.ours ? toIfMatch(ctx, route, paired) : null
  const body = route.body === undefined ? undefined : await readBody(ctx, owner, { ...shape.formats, mostBytes: mostBytesOf(route) })
  heard.body = body
  const sent = shape.ours ? withoutRepeated(body, ctx['params']) : body
  const { result: parsed } = await withPatterns({ owner }, () => parseInput(route.body, sent, { place: 'body', level }))
  return {
    input: { params, query: asked, body: parsed },
    query,
    body,
    key,
    ifMatch,
  }
}

/** The last value of a repeated query parameter counts; other names of a parameter count as that one. */
const singleValues = (query: Context['query'], aliases: NonNullable<Route['aliases']>) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [aliases[name] ?? name, Array.isArray(value) ? value.at(-1) : value]))

function toIfMatch(ctx: Context, route: Route, paired: Representations): IfMatch | null {
  const tags = isConditional(route) ? parseIfMatch(ctx.get('if-match')) : null
  return tags === null ? null : { tags, representation: paired.of(route) }
}
