import { Router } from '@koa/router'
import type { RouterContext } from '@koa/router'
import { bearerToken } from '../../../gateway/ports/callers.ts'
import { ApiError } from '../../../lib/errors.ts'
import { mountFeatures, unavailableError, type Unavailable } from '../../level/mount.ts'
import type { ProtocolRequest, Protocol, ProtocolAnswer } from '../../protocol.ts'
import { changesThings, type Route } from '../../route.ts'
import type { Context, State } from '../context.ts'
import { toCallerError } from '../errors.ts'
import type { Frame } from '../frame.ts'
import type { OwnerOf } from '../ownership.ts'
import { demandRunning } from '../running.ts'
import { foreignShape, writeForeign } from '../shapes/foreign.ts'
import type { Shape } from '../shapes/shape.ts'
import { type CallerFinder, type HeardRequest, routesInFrame, type RoutesInFrame, run } from './adapter.ts'
import { countingFailures, demandPatience } from './count-failures.ts'

/** The bound of a body: a group of some thousand users is one. */
const maxBodyBytes = 8 * 1024 * 1024

/** A protocol with the parts of the frame that it needs. */
interface ProtocolInFrame {
  readonly protocol: Protocol
  readonly frame: Frame
  readonly inFrame: RoutesInFrame
  readonly callers: CallerFinder
  readonly shape: Shape
  /** Why the protocol is off; null: it is on. */
  readonly unavailable: Unavailable | null
}

export type ProtocolMiddleware = (ctx: RouterContext<State>, next: () => Promise<unknown>) => Promise<unknown>

/** Returns a handler for the paths of all protocols, which passes on all others. */
export function protocolsOf(frame: Frame, ownerOf: OwnerOf): ProtocolMiddleware {
  const inFrame = routesInFrame(frame, ownerOf, maxBodyBytes)
  const spoken = mountFeatures(frame.features, frame).flatMap(({ feature, unavailable }) =>
    (feature.protocols ?? []).map((protocol: Protocol) =>
      createSpeaker({ protocol, frame, inFrame, unavailable, shape: foreignShape(protocol), callers: callersByToken({ protocol, frame }) }),
    ),
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
      router.register(prefix + route.path, [route.method], (ctx: RouterContext<State>) => runSpoken(ctx, spoken, route))
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
    writeForeign(ctx, protocol.refuse(error, requestId))
  }
}

async function runSpoken(ctx: Context, spoken: ProtocolInFrame, route: Route): Promise<void> {
  const { protocol, frame, inFrame, callers, shape } = spoken
  ctx.state.access.route = ctx.path.slice(0, ctx.path.indexOf(route.path.split('/:', 1)[0] ?? '')) + route.path
  const heard: HeardRequest = { actor: null, body: undefined }
  const noted = noting(ctx, protocol, { route, heard })
  try {
    await run(ctx, { ...inFrame, callers, shape, route: noted }, heard)
  } catch (thrown) {
    await tell(ctx, { protocol, frame }, { route, heard, answer: protocol.refuse(toCallerError(thrown), ctx.state.requestId) })
    throw thrown
  }
}

/** A request of a protocol, as far as it is known. */
interface SpokenRequest {
  readonly route: Route
  readonly heard: HeardRequest
}

/** Returns the route, of whose writes the protocol takes note: with the write itself, or not at all. */
function noting(ctx: Context, protocol: Protocol, { route, heard }: SpokenRequest): Route {
  if (protocol.written === undefined || !changesThings(route)) return route
  return {
    ...route,
    async handle(call) {
      const answer: unknown = await route.handle(call)
      const request = { ...heardOf(ctx, { route, heard, answer: protocol.answer(answer) }), actor: call.actor }
      await protocol.written?.(request, call.em, call.deps)
      return answer
    },
  }
}

interface SpokenReply extends SpokenRequest {
  readonly answer: ProtocolAnswer
}

const heardOf = (ctx: Context, { route, heard, answer }: SpokenReply): Omit<ProtocolRequest, 'actor'> => {
  const params: Readonly<Record<string, string>> = ctx['params']
  return { body: heard.body, route, params, answer, requestId: ctx.state.requestId }
}

/** Reports the refusal of a known caller to the protocol; if the database could not serve the request, the protocol cannot note it. */
async function tell(ctx: Context, { protocol, frame }: Pick<ProtocolInFrame, 'protocol' | 'frame'>, told: SpokenReply): Promise<void> {
  const { actor } = told.heard
  if (protocol.refused === undefined || actor === null || told.answer.status === 503) return
  try {
    await protocol.refused({ ...heardOf(ctx, told), actor }, demandRunning(frame).deps)
  } catch (error) {
    frame.log.warn({ err: error, request_id: ctx.state.requestId }, 'a request of a protocol of others could not be noted')
  }
}

/** Finds callers by the bearer token of the protocol. A bad token counts against the address. */
function callersByToken({ protocol, frame }: Pick<ProtocolInFrame, 'protocol' | 'frame'>): CallerFinder {
  const again: CallerFinder['again'] = async (ctx, _, running) => {
    const address = frame.clientAddress(ctx.req)
    const token = bearerToken(ctx.get('authorization'))
    if (token === undefined) throw new ApiError('AB05', 'This needs a token: send it as Authorization: Bearer.', { param: 'authorization' })
    demandPatience(running, address, 'Too many tokens from this address were not good.')
    return countingFailures(running, { address, kind: 'unknown' }, () => protocol.identify(token, running.deps))
  }
  return { find: again, again }
}
