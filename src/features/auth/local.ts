import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'

/** Returns true if people may sign in with passwords here. */
export const isLocal = ({ config }: Pick<Deps, 'config'>): boolean => config.authMode !== 'SSO'

/** Throws where people sign in by an identity provider alone. */
export function demandLocal(deps: Pick<Deps, 'config'>): void {
  if (isLocal(deps)) return
  throw new ApiError('feature_unavailable', 'People sign in by their identity provider here: AUTH_MODE is SSO.', {
    details: { feature: { id: 'auth', flag: 'AUTH_MODE', release: null } },
  })
}
