import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange } from '../../gateway/exchange/exchange.ts'
import { NodeExchange } from '../../gateway/exchange/node-exchange.ts'
import { frontOf, mcpPathOf } from '../../gateway/ports/operations.ts'
import { refuseUnread } from '../../gateway/pipeline.ts'
import { ApiError, toApiError } from '../../lib/errors.ts'
import { createCors } from './cors.ts'
import type { ControlPlane } from './control-plane.ts'
import type { Frame } from './frame.ts'
import { demandRunning } from './running.ts'

/** Takes a request over, and answers it; false: it does not belong to the data plane, and is untouched. */
export type TakeOver = (req: IncomingMessage, res: ServerResponse) => boolean

/**
 * Hands everything below a front that is not the control plane's to the gateway, as raw request and raw answer. It
 * stands before Koa, since it is the hot path: it asks one look at the path of a request, and a context of Koa's would be of no use to it.
 */
export function dataPlane(frame: Frame, control: () => Pick<ControlPlane, 'ownerOf' | 'claims'>): TakeOver {
  const cors = createCors(frame.config.corsOrigins)
  const servesAll = frame.config.roles.has('gateway')
  return (req, res) => {
    const front = frontOf(req.url ?? '/')
    const mcpPath = front === null ? mcpPathAt(frame, req) : null
    if (mcpPath === null && (front === null || (front.own && control().ownerOf(req) === 'control'))) return false
    if (cors !== null && cors(req, res) === 'answers') return true
    closeWhenBusy(frame, res)
    const isServed = servesAll || (mcpPath === null && control().claims(req.url ?? '/'))
    handOver(frame, new NodeExchange(req, res, frame), { isServed, mcpPath })
    return true
  }
}

/** A connection ends with its answer while the process has too much to do, or is about to end. */
function closeWhenBusy({ draining, overload }: Pick<Frame, 'draining' | 'overload'>, res: ServerResponse): void {
  if (draining() || overload.sheds()) res.shouldKeepAlive = false
}

/** The control plane is served all the same: an operator needs it to end an overload. */
export function demandRoom({ overload, metrics }: Pick<Frame, 'overload' | 'metrics'>): void {
  const pressure = overload.refuses()
  if (pressure === null) return
  metrics.shed(pressure)
  throw new ApiError('overloaded', 'The gateway is overloaded and refuses new requests for a moment.', { retryAfter: 1 })
}

export const withoutGateway = (): ApiError => new ApiError('not_found', 'This process does not serve the data plane: ROLES has no gateway.')

const mcpPathAt = ({ level }: Pick<Frame, 'level'>, { url = '/' }: IncomingMessage) => (level.atLeast('1.3.0') ? mcpPathOf(url) : null)

/** The way of a request of the data plane in this process. */
interface Handover {
  readonly isServed: boolean
  /** Null: it is no MCP traffic. */
  readonly mcpPath: ReturnType<typeof mcpPathOf>
}

function handOver(frame: Frame, exchange: Exchange, { isServed, mcpPath }: Handover): void {
  try {
    const { gateway } = demandRunning(frame)
    if (gateway === null || !isServed) throw withoutGateway()
    demandRoom(frame)
    if (mcpPath === null) gateway.handle(exchange)
    else gateway.handleMcp(exchange, mcpPath)
  } catch (error) {
    if (!(error instanceof ApiError))
      frame.log.error({ err: error, request_id: exchange.requestId }, 'a request could not be handed to the gateway')
    refuseUnread(exchange, toApiError(error))
  }
}
