import type { Actor } from '../../app/route.ts'
import { type GatewayConfig, unbilledMirrors } from '../../gateway/ports/configs.ts'
import { ApiError } from '../../lib/errors.ts'

/** The right to change the budget of a workspace. */
const scope = 'workspaces.update'

/** Refuses a config whose copies count for no budget of their callers, unless its author may change budgets. AB03 names the field. */
export function refuseUnbilled(config: GatewayConfig, { permissions }: Pick<Actor, 'permissions'>): void {
  const [path] = unbilledMirrors(config)
  if (path === undefined || permissions.has(scope)) return
  const message = `To leave the copies of a mirror out of budgets takes the scope ${scope}: take "billed": false out.`
  throw new ApiError('AB03', message, { param: `config.${path}` })
}
