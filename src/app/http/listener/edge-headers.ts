import type { IncomingMessage } from 'node:http'
import type { Config } from '../../../config/config.ts'
import { trustedPeer } from './client-address.ts'
import { isTlsSocket } from './tls-server.ts'

/** No browser guesses another type than the declared one. */
const plain = ['x-content-type-options', 'nosniff']
/** The headers for a request that came by TLS: the browser keeps to TLS for a year. */
const secure = [...plain, 'strict-transport-security', 'max-age=31536000']

/** The headers of every answer to a request, flat: they depend on how it came. A proxy is believed that it came by TLS when its address is trusted. */
export function edgeHeadersOf({ trustedProxies }: Pick<Config, 'trustedProxies'>): (req: IncomingMessage) => readonly string[] {
  const isTrusted = trustedPeer(trustedProxies)
  return (req) => {
    if (isTlsSocket(req.socket)) return secure
    return trustedProxies.length > 0 && saysHttps(req) && isTrusted(req) ? secure : plain
  }
}

/** The nearest proxy speaks last. */
function saysHttps({ headers: { 'x-forwarded-proto': told } }: IncomingMessage): boolean {
  return typeof told === 'string' && told.split(',').at(-1)?.trim().toLowerCase() === 'https'
}
