import { IncomingMessage } from 'node:http'
import type { Config } from '../../config/config.ts'
import { issuerOf } from './metadata.ts'

/** The headers of a request about its way through proxies; the library gets ours. */
const forwarded = /^(?:x-forwarded-|forwarded$|host$|content-length$|transfer-encoding$)/

interface Replay {
  readonly config: Config
  /** Path and query. */
  readonly url: string
  /** Null: it has none. */
  readonly body: Buffer | null
}

/**
 * Returns a request as the library is to see it: with a body that was read before, and under the address by which people reach this installation,
 * in place of the one in its headers.
 */
export function replayed(req: IncomingMessage, { config, url, body }: Replay): IncomingMessage {
  const issuer = new URL(issuerOf(config))
  const again = new IncomingMessage(req.socket)
  const kept = Object.entries(req.headers).filter(([name]) => !forwarded.test(name))
  again.headers = Object.fromEntries(kept)
  Object.assign(again.headers, { host: issuer.host, 'x-forwarded-proto': issuer.protocol.slice(0, -1) })
  if (body !== null) again.headers['content-length'] = String(body.length)
  again.complete = true
  if (body !== null) again.push(body)
  again.push(null)
  // The library takes the part before the path, where a proxy serves us below one, from `originalUrl`.
  return Object.assign(again, { method: req.method, url, originalUrl: issuer.pathname.replace(/\/$/, '') + url })
}
