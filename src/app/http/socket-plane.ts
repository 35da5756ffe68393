import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Upgrade } from '../../gateway/ports/egress.ts'
import { UpgradeExchange } from '../../gateway/exchange/upgrade-exchange.ts'
import { frontOf, matchOperation, pathBehind } from '../../gateway/ports/operations.ts'
import { refuseUnread } from '../../gateway/pipeline.ts'
import { ApiError, toApiError } from '../../lib/errors.ts'
import { demandRoom, withoutGateway } from './data-plane.ts'
import type { Frame } from './frame.ts'
import { demandRunning } from './running.ts'

/** Returns true if there are WebSockets at the path of a request. */
export function hasSocket({ method = 'GET', url = '/' }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  if (frontOf(url) === null) return false
  const [path = ''] = pathBehind(url).split('?', 1)
  return matchOperation(method, path).spec?.socket === true
}

/** Hands requests for a WebSocket to the gateway, which refuses them as any other, or accepts them. */
export function socketPlane(frame: Frame): (upgrade: Upgrade, res: ServerResponse) => void {
  const allowed = new Set(frame.config.corsOrigins)
  const isServed = frame.config.roles.has('gateway')
  return (upgrade, res) => {
    const exchange = new UpgradeExchange(upgrade, res, frame)
    try {
      demandOrigin(upgrade.req, allowed)
      const { gateway } = demandRunning(frame)
      if (gateway === null || !isServed) throw withoutGateway()
      demandRoom(frame)
      gateway.sockets.connect(exchange, () => demandRoom(frame))
    } catch (error) {
      refuseUnread(exchange, toApiError(error))
    }
  }
}

/** Throws `forbidden` for a page that may not call: a browser asks no one before it opens a WebSocket. Pages of our own origin may. */
function demandOrigin({ headers: { origin, host } }: IncomingMessage, allowed: ReadonlySet<string>): void {
  if (origin === undefined || allowed.has('*') || allowed.has(origin)) return
  if (URL.parse(origin)?.host === host?.toLowerCase()) return
  throw new ApiError('forbidden', 'Pages of this origin may not open WebSockets here. The operator lists those that may in CORS_ORIGINS.', {
    param: 'origin',
  })
}
