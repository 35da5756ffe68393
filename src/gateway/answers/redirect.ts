import { ApiError } from '../../lib/errors.ts'
import { headerValue, type HeaderList } from '../wire/header-list.ts'

/**
 * Returns the fault of an answer that leads elsewhere; null for any other. It is neither followed nor passed on: a browser, or a client with its
 * credential, would follow it from our host to an address of the provider's choice. 304 leads to the answer that the caller holds already.
 */
export function redirectOf(status: number, rawHeaders: HeaderList): ApiError | null {
  if (status < 300 || status > 399 || status === 304) return null
  const location = headerValue(rawHeaders, 'location') ?? ''
  // The origin alone: the rest may be signed.
  const to = URL.canParse(location) ? ` to ${new URL(location).origin}` : ''
  return new ApiError('upstream_bad_response', `The provider answered with a redirect (${status})${to}, which Gatehouse does not follow.`)
}
