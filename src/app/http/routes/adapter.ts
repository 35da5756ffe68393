import { withPatterns } from '../../../gateway/ports/patterns.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { Authenticator } from '../../authenticator.ts'
import { isConditional, LaterAnswer, type Actor, type Route } from '../../route.ts'
import { admit, callerOf, unlessRefused, type Admission } from './authenticate.ts'
import { bodyReader, isProtobuf, protobufType } from './body.ts'
import type { Context, Middleware } from '../context.ts'
import { etagOf, parseIfMatch, representations, type Representations } from './etag.ts'
import type { Frame, FrameServices } from '../frame.ts'
import type { OwnerOf } from '../ownership.ts'
import { idempotencyKey } from './idempotency.ts'
import { parseInput, withoutRepeated } from './input.ts'
import { offeredBy } from './offered.ts'
import { elsewhereOf, perform, type IfMatch, type RouteResult, type Reach, type Request } from './perform.ts'
import { answerLater } from './later.ts'
import { demandRunning } from '../running.ts'
import { headerPrefixes, sortHeaders } from '../../../gateway/ports/headers.ts'
import { featuresOn } from '../../level/mount.ts'
import { networkOf } from '../listener/client-address.ts'
import { sender } from './send.ts'

/** The bound of a control-plane body. Resources are small, and checking a body costs far more than reading it. */
const maxBodyBytes = 2 * 1024 * 1024

/** A route with the parts of the frame that it needs. */
interface RouteInFrame {
  readonly route: Route
  readonly frame: Frame
  readonly ownerOf: OwnerOf
  readonly readBody: ReturnType<typeof bodyReader>
  readonly prefixes: readonly string[]
  readonly paired: Representations
  /** The authenticators of the features that are on. */
  readonly authenticators: readonly Authenticator[]
}

/**
 * How every control-plane route runs: authenticate -> demand the scope -> parse -> one tenant transaction around the handler, its
 * answer and its audit row. The answer goes through the route's schema, so that a field which is not declared cannot leak.
 */
export function routeAdapter(frame: Frame, ownerOf: OwnerOf): (route: Route) => Middleware {
  const shared = {
    frame,
    ownerOf,
    readBody: bodyReader(Math.min(frame.config.maxJsonBytes, maxBodyBytes)),
    prefixes: headerPrefixes(frame.config.headerAliases),
    paired: representations(frame.features),
    authenticators: featuresOn(frame.features, frame).flatMap(({ authenticators }) => authenticators ?? []),
  }
  return (route) => {
    const adapted: RouteInFrame = { ...shared, route }
    return (ctx) => run(ctx, adapted)
  }
}

interface PresentedRequest {
  readonly running: FrameServices
  readonly input: Request['input']
}

async function run(ctx: Context, adapted: RouteInFrame): Promise<void> {
  const { route, frame } = adapted
  ctx.state.access.route = route.path
  if (route.browsers === true) ctx.state.sendsBrowsers = true
  const running = demandRunning(frame)
  const { deps } = running
  if (route.identify !== undefined) demandPatience(adapted, ctx, running)
  const known = route.identify === undefined ? await entitled(ctx, adapted, running) : null
  const parsed = await parse(ctx, adapted, known?.organisationId ?? '')
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
  const performed = await perform(deps, asked)
  if (performed.answer instanceof LaterAnswer) await answerLater(ctx, performed.answer)
  else answer(ctx, adapted, performed)
}

/** Returns the request with the results of the route's `before`, and of that of its ETag. */
async function lookAhead(running: FrameServices, request: Request): Promise<Request> {
  const { route, input, ifMatch, clientAddress } = request
  const elsewhere = elsewhereOf(running.deps, request)
  const ahead = { ...request, ...request.reach, ...input, clientNetwork: networkOf(clientAddress), elsewhere }
  const look = async () => route.before?.(ahead, running.deps)
  // A caller without a credential may show one here.
  const found = await (route.identify === undefined ? look() : countingFailures(running, clientAddress, look))
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
  again: () => stillEntitled(ctx, adapted, running),
})

/** Returns the caller as things stand now; null when the credential, or its right to this route, is gone. */
const stillEntitled = (ctx: Context, adapted: RouteInFrame, running: FrameServices): Promise<Actor | null> =>
  unlessRefused(async () => (await admit({ ...admissionOf(ctx, adapted), looksOnly: true }, running)).actor)

const admissionOf = ({ req, method }: Context, { route, prefixes, frame, authenticators }: RouteInFrame): Admission => ({
  route,
  method,
  headers: req.headers,
  clientAddress: frame.clientAddress(req),
  sorted: sortHeaders(req.rawHeaders, prefixes),
  authenticators,
})

/** Returns the facts about a request that the trail keeps, for refused requests too. */
const aboutRequest = ({ req, path, state }: Context, frame: Frame) => ({
  requestId: state.requestId,
  path,
  clientAddress: frame.clientAddress(req),
  country: frame.clientCountry(req),
  headers: req.headers,
})

/** Returns the caller. Throws if they lack the scope, before the body is read. */
async function entitled(ctx: Context, adapted: RouteInFrame, running: FrameServices): Promise<Actor> {
  try {
    const { actor, cookie } = await admit(admissionOf(ctx, adapted), running)
    if (cookie !== undefined) ctx.append('set-cookie', cookie)
    return actor
  } catch (error) {
    running.recordRefusal(error, { method: ctx.method, ...aboutRequest(ctx, adapted.frame) })
    throw error
  }
}

/** Returns the actor that a secret in the request identifies. */
async function identified(ctx: Context, { route, frame }: RouteInFrame, { running, input }: PresentedRequest): Promise<Actor> {
  const { headers } = ctx.req
  const clientAddress = frame.clientAddress(ctx.req)
  const asked = { ...input, headers, clientAddress, clientNetwork: networkOf(clientAddress) }
  const actor = await countingFailures(running, clientAddress, async () => route.identify?.(asked, running.deps))
  if (actor === undefined) throw new Error(`nobody says who calls ${route.path}`)
  return actor
}

/** Runs a check of a caller's identity. A bad credential counts against the address. */
async function countingFailures<Found>(running: FrameServices, address: string, work: () => Promise<Found>): Promise<Found> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ApiError && error.status === 401 ? failed(running, address, error) : error
  }
}

/** Before anything of the request is read. */
function demandPatience({ frame }: RouteInFrame, ctx: Context, running: FrameServices): void {
  const address = frame.clientAddress(ctx.req)
  if (running.failures.spent(address)) throw failed(running, address, null)
  const tooMany = running.openCalls.failed(address)
  if (tooMany === null) return
  running.deps.metrics.authFailure('limited')
  throw tooMany
}

/** Counts a secret that was not good. */
function failed({ failures, deps }: FrameServices, address: string, error: ApiError | null): unknown {
  const limited = failures.failed(address)
  deps.metrics.authFailure(limited === null ? 'invite' : 'limited')
  return limited ?? error
}

function noteCaller({ state }: Context, actor: Actor): void {
  state.access.organisationId = actor.organisationId
  state.access.workspaceId = actor.workspaceId
  if (actor.session === undefined) state.access.apiKeyId = actor.id
  else state.access.userId = actor.id
}

/** Parses the request and its conditions. */
async function parse(ctx: Context, { route, readBody, paired, frame }: RouteInFrame, owner: string) {
  const { level } = frame
  const query = singleValues(ctx.query, route.aliases ?? {})
  const params = parseInput(route.params, ctx['params'], { place: 'path', level })
  const asked = parseInput(route.query, query, { place: 'query', level })
  const key = route.method === 'POST' ? idempotencyKey(ctx.get('idempotency-key')) : null
  if (key !== null && route.raw !== undefined)
    throw new ApiError('AB01', 'The answer of this route is not kept, so that it cannot be given again: leave Idempotency-Key out.', {
      param: 'idempotency-key',
    })
  const ifMatch = toIfMatch(ctx, route, paired)
  const body = route.body === undefined ? undefined : await readBody(ctx, owner, route)
  const sent = withoutRepeated(body, ctx['params'])
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

function answer(ctx: Context, { route, paired }: RouteInFrame, { answer: body, replayed, etag, cookies, redirect }: RouteResult): void {
  for (const cookie of cookies) ctx.append('set-cookie', cookie)
  if (redirect !== null) {
    ctx.set('location', redirect)
    ctx.body = ''
    ctx.status = 303
    return
  }
  const tag = route.method === 'GET' && paired.has(route) ? etagOf(body) : etag
  if (tag !== null) ctx.set('etag', tag)
  if (replayed) ctx.set('idempotency-replayed', 'true')
  if (route.protobuf !== undefined && isProtobuf(ctx)) {
    ctx.body = Buffer.from(route.protobuf.write(body))
    ctx.type = protobufType
  } else ctx.body = body
  ctx.status = 200
}
