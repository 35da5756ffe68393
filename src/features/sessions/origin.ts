import type { IncomingHttpHeaders } from 'node:http'
import { ownOrigin } from '../../app/own-origin.ts'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'

/**
 * Returns true if a browser says that a page of another origin asks. The cookie does not count then, whatever the method: other origins have
 * no business here. Browsers that say nothing of it are held by `SameSite`, and at writes by `demandSameOrigin`.
 */
export const isForeign = ({ 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none'

/** Throws AB03 unless the request comes from a page of this origin, as every browser says of requests that change something. */
export function demandSameOrigin(deps: Pick<Deps, 'config'>, headers: IncomingHttpHeaders): void {
  if (headers.origin === undefined || URL.parse(headers.origin) === null)
    throw new ApiError('AB03', 'A request by session that changes something needs the header Origin.', { param: 'origin' })
  demandNoForeignOrigin(deps, headers)
}

/** Throws AB03 if the header Origin names another origin, as browsers say that have no Sec-Fetch-Site. Programs send none. */
export function demandNoForeignOrigin({ config }: Pick<Deps, 'config'>, { origin, host }: IncomingHttpHeaders): void {
  if (origin === undefined) return
  const own = URL.parse(ownOrigin(config))
  const from = URL.parse(origin)
  // Without PUBLIC_URL nobody but the request itself says under which name people reach this host.
  const isOwn = from?.origin === own?.origin || (config.publicUrl === null && from?.host === host && from?.protocol === own?.protocol)
  if (from === null || !isOwn) throw new ApiError('AB03', 'This request comes from a page of another origin.', { param: 'origin' })
}
