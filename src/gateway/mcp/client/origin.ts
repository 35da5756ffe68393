import { ApiError } from '../../../lib/errors.ts'
import type { Exchange } from '../../exchange/exchange.ts'

/** The origins of pages that may call. */
export interface AllowedOrigins {
  readonly corsOrigins: readonly string[]
  readonly publicUrl: string | null
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Throws `forbidden` for a page that may not call. A host name that leads to another address after a while (DNS rebinding) makes a page of a stranger
 * one of the same origin, so that the name of the host alone proves no page: only loopback addresses do.
 */
export function demandOrigin(exchange: Exchange, { corsOrigins, publicUrl }: AllowedOrigins): void {
  const origin = exchange.header('origin')
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return
  if (isOwn(origin, publicUrl) || isLoopback(origin, exchange.header('host'))) return
  throw new ApiError('forbidden', 'Pages of this origin may not call here. The operator lists those that may in CORS_ORIGINS.', {
    param: 'origin',
  })
}

const isOwn = (origin: string, publicUrl: string | null): boolean =>
  publicUrl !== null && URL.parse(origin)?.origin === URL.parse(publicUrl)?.origin && URL.canParse(origin)

const isLoopback = (origin: string, host = ''): boolean =>
  [origin, `http://${host}`].every((url) => loopback.test(URL.parse(url)?.hostname ?? ''))
