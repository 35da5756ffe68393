import { settled } from '../../lib/maybe-promise.ts'
import type { Egress, EgressOrigin } from '../egress/egress.ts'
import { headerRecord, headersWithout } from '../wire/header-list.ts'
import type { OpenSocket } from '../egress/web-socket.ts'

/** Returns an egress whose exchanges are sent in another way; all else of it stays. */
export function egressBy(egress: Egress, send: (origin: EgressOrigin) => EgressOrigin['send']): Egress {
  return {
    ...egress,
    origin: (url, param, named) => settled(egress.origin(url, param, named), (origin) => ({ ...origin, send: send(origin) })),
    ownedBy: (organisationId) => egressBy(egress.ownedBy(organisationId), send),
  }
}

/** Returns an egress that asks for a WebSocket in place of an answer. */
export const connectingEgress = (egress: Egress, opened: (socket: OpenSocket) => void): Egress =>
  egressBy(egress, (origin) => ({ path, headers, timeouts }, handler) => {
    const request = { path, headers: headerRecord(headersWithout(headers, isOfHandshake)), timeoutMs: timeouts.firstByteMs }
    return origin.upgrade(request, handler, opened)
  })

/** Names that the client of a WebSocket sets itself. */
const isOfHandshake = (name: string): boolean => /^(?:host|connection|upgrade|sec-websocket-.*)$/.test(name)
