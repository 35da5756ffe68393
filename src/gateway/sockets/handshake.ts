import { ApiError } from '../../lib/errors.ts'
import type { Inbound } from '../exchange/exchange.ts'
import { eachHeader, type HeaderList } from '../wire/header-list.ts'

/** Checks the headers that make a request one for a WebSocket (RFC 6455 section 4.2.1). Throws `upgrade_required` or `invalid_request`. */
export function demandHandshake(request: Pick<Inbound, 'header'>): void {
  if (request.header('sec-websocket-version') !== '13')
    throw new ApiError('upgrade_required', 'The only version of WebSockets that is spoken is 13.', {
      param: 'sec-websocket-version',
      headers: ['sec-websocket-version', '13'],
    })
  if (!/^[+/0-9A-Za-z]{22}==$/.test(request.header('sec-websocket-key') ?? ''))
    throw new ApiError('invalid_request', 'sec-websocket-key must be 16 bytes in base64.', { param: 'sec-websocket-key' })
}

/** Returns headers as the lines of a head. */
export function headerLines(headers: HeaderList): readonly string[] {
  const lines: string[] = []
  eachHeader(headers, (name, value) => lines.push(`${name}: ${value}`))
  return lines
}
