import { randomUUIDv7 } from 'node:crypto'
import type { Exchange } from '../../gateway/exchange/exchange.ts'
import { googlePrefix } from '../../gateway/front/match.ts'
import { ownHeaders, refuse } from '../../gateway/answers/respond.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Middleware } from './context.ts'
import { createCors } from './cors.ts'
import type { ControlPlane } from './control-plane.ts'
import type { Frame } from './frame.ts'
import { demandRunning } from './running.ts'

/**
 * Hands everything below `/v1` that is not the control plane's, and Google's `/v1beta`, to the gateway, as raw request and raw answer. First in the list,
 * since it is the hot path: what it asks of a request is one look at its path.
 */
export function dataPlane(frame: Frame, control: () => Pick<ControlPlane, 'ownerOf'>): Middleware {
  const cors = createCors(frame.config.corsOrigins)
  return (ctx, next) => {
    const { req, res } = ctx
    const url = req.url ?? '/'
    if (!url.startsWith('/v1/') ? !url.startsWith(googlePrefix) : control().ownerOf(req) === 'control') return next()
    ctx.respond = false
    if (cors !== null && cors(req, res) === 'answers') return Promise.resolve()
    if (frame.draining() || frame.overload.sheds()) res.shouldKeepAlive = false
    const [startedAt, clientAddress, edgeHeaders] = [performance.now(), frame.clientAddress(req), frame.edgeHeaders(req)]
    handOver(frame, { req, res, requestId: randomUUIDv7(), startedAt, clientAddress, edgeHeaders })
    return Promise.resolve()
  }
}

/** The control plane is served all the same: whoever wants to end an overload needs it. */
function demandRoom({ overload, metrics }: Frame): void {
  const pressure = overload.refuses()
  if (pressure === null) return
  metrics.shed(pressure)
  throw new ApiError('overloaded', 'The gateway is overloaded and refuses new requests for a moment.', { retryAfter: 1 })
}

function handOver(frame: Frame, exchange: Exchange): void {
  try {
    const { gateway } = demandRunning(frame)
    if (gateway === null) throw new ApiError('not_found', 'This process does not serve the data plane: ROLES has no gateway.')
    demandRoom(frame)
    gateway.handle(exchange)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { requestId, edgeHeaders } = exchange
    refuse(
      exchange,
      error,
      ownHeaders('x-service-', {
        requestId,
        traceId: requestId,
        provider: null,
        lastUsedOption: null,
        retries: 0,
        cacheStatus: 'DISABLED',
        cacheKey: null,
        edgeHeaders,
      }),
    )
  }
}
