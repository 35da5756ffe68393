import type { IncomingHttpHeaders } from 'node:http'
import { ownOrigin } from '../../app/own-origin.ts'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'

/**
 * Returns true if a browser reports that a page of another origin asks. The cookie does not count then, for any method: other origins have no
 * business here. Browsers without that header are held by `SameSite`, and at writes by `demandSameOrigin`.
 */
export const isForeign = ({ 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none'

/** Throws AB03 unless the request comes from a page of this origin, as every browser reports it for requests that write. */
export function demandSameOrigin(deps: Pick<Deps, 'config'>, headers: IncomingHttpHeaders): void {
  if (headers.origin === undefined || URL.parse(headers.origin) === null)
    throw new ApiError('AB03', 'A request by session that changes something needs the header Origin.', { param: 'origin' })
  demandNoForeignOrigin(deps, headers)
}

/** Throws AB03 if the header Origin names another origin, as browsers without Sec-Fetch-Site send it. Programs send none. */
export function demandNoForeignOrigin({ config }: Pick<Deps, 'config'>, { origin, host }: IncomingHttpHeaders): void {
  if (origin === undefined) return
  const own = URL.parse(ownOrigin(config))
  const from = URL.parse(origin)
  // Without PUBLIC_URL only the request itself states the name by which people reach this host.
  const isOwn = from?.origin === own?.origin || (config.publicUrl === null && from?.host === host && from?.protocol === own?.protocol)
  if (from === null || !isOwn) throw new ApiError('AB03', 'This request comes from a page of another origin.', { param: 'origin' })
}
