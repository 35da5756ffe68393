import { Router } from '@koa/router'
import type { RouterContext } from '@koa/router'
import { bearerToken } from '../../../gateway/ports/callers.ts'
import { headerPrefixes } from '../../../gateway/ports/headers.ts'
import { ApiError } from '../../../lib/errors.ts'
import { mountFeatures, unavailableError, type Unavailable } from '../../level/mount.ts'
import type { ProtocolRequest, Protocol, ProtocolAnswer } from '../../protocol.ts'
import { changesThings, type Actor, type Route } from '../../route.ts'
import type { Context, State } from '../context.ts'
import { toCallerError } from '../errors.ts'
import type { Frame, FrameServices } from '../frame.ts'
import type { OwnerOf } from '../ownership.ts'
import { demandRunning } from '../running.ts'
import { callerOf, unlessRefused } from './authenticate.ts'
import { bodyReader } from './body.ts'
import { parseInput } from './input.ts'
import { offeredBy } from './offered.ts'
import { perform } from './perform.ts'
import { sender } from './send.ts'

/** The bound of a body: a group of some thousand users is one. */
const maxBodyBytes = 8 * 1024 * 1024

/** A protocol with the parts of the frame that it needs. */
interface ProtocolInFrame {
  readonly protocol: Protocol
  readonly frame: Frame
  readonly ownerOf: OwnerOf
  readonly readBody: ReturnType<typeof bodyReader>
  /** Why the protocol is off; null: it is on. */
  readonly unavailable: Unavailable | null
}

export type ProtocolMiddleware = (ctx: RouterContext<State>, next: () => Promise<unknown>) => Promise<unknown>

/** Returns a handler for the paths of all protocols, which passes on all others. */
export function protocolsOf(frame: Frame, ownerOf: OwnerOf): ProtocolMiddleware {
  const readBody = bodyReader(maxBodyBytes)
  const spoken = mountFeatures(frame.features, frame).flatMap(({ feature, unavailable }) =>
    (feature.protocols ?? []).map((protocol: Protocol) => createSpeaker({ protocol, frame, ownerOf, readBody, unavailable })),
  )
  return (ctx, next) => (spoken.find((speaker) => speaker.isOwn(ctx.path)) ?? passing).answer(ctx, next)
}

const passing: Pick<Speaker, 'answer'> = { answer: (_, next) => next() }

interface Speaker {
  isOwn(path: string): boolean
  readonly answer: ProtocolMiddleware
}

function createSpeaker(spoken: ProtocolInFrame): Speaker {
  const { protocol } = spoken
  const router = new Router<State>({ sensitive: true })
  for (const prefix of protocol.prefixes)
    for (const route of protocol.routes)
      router.register(prefix + route.path, [route.method], (ctx: RouterContext<State>) => run(ctx, spoken, route))
  const routes = router.routes()
  const isWhole = (path: string) => protocol.whole.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  const fall = (ctx: Context) => {
    const allowed = [...new Set(router.match(ctx.path, ctx.method).path.flatMap(({ methods }) => methods))].join(', ')
    if (allowed === '') throw new ApiError('not_found', `There is nothing at ${ctx.path.slice(0, 200)}.`)
    ctx.set('allow', allowed)
    throw new ApiError('method_not_allowed', `${ctx.path} does not take ${ctx.method}. It takes: ${allowed}.`)
  }
  return {
    isOwn: (path) => isWhole(path) || router.match(path, 'GET').path.length > 0,
    answer: (ctx) => speaking(ctx, spoken, async () => void (await routes(ctx, async () => fall(ctx)))),
  }
}

/** Runs the work; answers an error in the way of the protocol, and logs it as everywhere. */
async function speaking(ctx: Context, { protocol, frame, unavailable }: ProtocolInFrame, work: () => Promise<void>): Promise<void> {
  try {
    if (unavailable !== null) throw unavailableError(unavailable)
    if (!frame.config.roles.has('control'))
      throw new ApiError('feature_unavailable', 'The control plane is not served by this process: ROLES has no control.')
    await work()
  } catch (thrown) {
    const error = toCallerError(thrown)
    const { requestId, access } = ctx.state
    if (error.status >= 500) frame.log[error.status === 500 ? 'error' : 'warn']({ err: error, request_id: requestId }, 'request failed')
    access.errorCode = error.code
    if (error.retryAfter !== null) ctx.set('retry-after', String(Math.ceil(error.retryAfter)))
    if (error.status === 401) ctx.set('www-authenticate', 'Bearer realm="gatehouse"')
    if (!ctx.req.complete) ctx.set('connection', 'close')
    write(ctx, protocol.refuse(error, requestId))
  }
}

function write(ctx: Context, { status, headers, type, body }: ProtocolAnswer): void {
  ctx.set(headers)
  ctx.status = status
  if (body === null) {
    ctx.body = null
    ctx.status = status
    return
  }
  ctx.body = JSON.stringify(body)
  ctx.type = type
}

async function run(ctx: Context, spoken: ProtocolInFrame, route: Route): Promise<void> {
  const { protocol, frame } = spoken
  ctx.state.access.route = ctx.path.slice(0, ctx.path.indexOf(route.path.split('/:', 1)[0] ?? '')) + route.path
  const running = demandRunning(frame)
  const actor = await callerBy(ctx, protocol, { frame, running })
  ctx.state.access.organisationId = actor.organisationId
  ctx.state.access.apiKeyId = actor.id
  const heard: AuthenticatedBody = { actor, body: undefined }
  const answer = await answered(ctx, spoken, { route, running, heard }).catch(async (thrown: unknown) => {
    await tell(ctx, spoken, { route, running, heard, answer: protocol.refuse(toCallerError(thrown), ctx.state.requestId) })
    throw thrown
  })
  write(ctx, answer)
}

/** The caller, and the body as far as it has been read. */
interface AuthenticatedBody {
  readonly actor: Actor
  body: unknown
}

interface ProtocolCall {
  readonly route: Route
  readonly running: FrameServices
  readonly heard: AuthenticatedBody
}

async function answered(ctx: Context, spoken: ProtocolInFrame, { route, running, heard }: ProtocolCall): Promise<ProtocolAnswer> {
  const { protocol, frame, ownerOf, readBody } = spoken
  const { actor } = heard
  const query = Object.fromEntries(Object.entries(ctx.query).map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value]))
  const { level } = frame
  if (route.body !== undefined) heard.body = await readBody(ctx, actor.organisationId, { named: protocol.takes })
  const input = {
    params: parseInput(route.params, ctx['params'], { place: 'path', level }),
    query: parseInput(route.query, query, { place: 'query', level }),
    body: route.body === undefined ? undefined : parseInput(route.body, heard.body, { place: 'body', level }),
  }
  const performed = await perform(running.deps, {
    route: noting(ctx, protocol, { route, heard }),
    actor,
    input,
    query,
    requestId: ctx.state.requestId,
    path: ctx.path,
    clientAddress: frame.clientAddress(ctx.req),
    country: frame.clientCountry(ctx.req),
    headers: ctx.req.headers,
    repeatable: null,
    ifMatch: null,
    reach: {
      ...sender(ctx, { frame, ownerOf, running, prefixes: headerPrefixes(frame.config.headerAliases) }),
      offered: offeredBy(actor, running),
      callerOf: callerOf(running),
      again: () => unlessRefused(() => callerBy(ctx, protocol, { frame, running })),
    },
  })
  return protocol.answer(performed.answer)
}

/** Returns the route, of whose writes the protocol takes note: with the write itself, or not at all. */
function noting(ctx: Context, protocol: Protocol, { route, heard }: Pick<ProtocolCall, 'route' | 'heard'>): Route {
  if (protocol.written === undefined || !changesThings(route)) return route
  return {
    ...route,
    async handle(call) {
      const answer: unknown = await route.handle(call)
      await protocol.written?.(heardOf(ctx, { route, heard, answer: protocol.answer(answer) }), call.em, call.deps)
      return answer
    },
  }
}

interface ProtocolReply extends ProtocolCall {
  readonly answer: ProtocolAnswer
}

const heardOf = (ctx: Context, { route, heard, answer }: Omit<ProtocolReply, 'running'>): ProtocolRequest => {
  const params: Readonly<Record<string, string>> = ctx['params']
  return { ...heard, route, params, answer, requestId: ctx.state.requestId }
}

/** Reports a refusal to the protocol; if the database could not serve the request, the protocol cannot note it. */
async function tell(ctx: Context, { protocol, frame }: ProtocolInFrame, told: ProtocolReply): Promise<void> {
  if (protocol.refused === undefined || told.answer.status === 503) return
  try {
    await protocol.refused(heardOf(ctx, told), told.running.deps)
  } catch (error) {
    frame.log.warn({ err: error, request_id: ctx.state.requestId }, 'a request of a protocol of others could not be noted')
  }
}

interface CallContext {
  readonly frame: Frame
  readonly running: FrameServices
}

/** Returns the owner of the bearer token. A bad token counts against the address. */
async function callerBy(ctx: Context, protocol: Protocol, { frame, running }: CallContext): Promise<Actor> {
  const { failures, deps } = running
  const address = frame.clientAddress(ctx.req)
  const token = bearerToken(ctx.get('authorization'))
  if (token === undefined) throw new ApiError('AB05', 'This needs a token: send it as Authorization: Bearer.', { param: 'authorization' })
  if (failures.spent(address)) throw failures.failed(address) ?? new ApiError('AB06', 'Too many tokens from this address were not good.')
  try {
    return await protocol.identify(token, deps)
  } catch (error) {
    const limited = error instanceof ApiError && error.status === 401 ? failures.failed(address) : null
    if (error instanceof ApiError && error.status === 401) deps.metrics.authFailure(limited === null ? 'unknown' : 'limited')
    throw limited ?? error
  }
}
