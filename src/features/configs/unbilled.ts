import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor } from '../../app/route.ts'
import { type GatewayConfig, unbilledMirrors } from '../../gateway/ports/configs.ts'
import { demandMoneySetter } from '../limits/index.ts'
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

/** Refuses a config whose copies count for no budget while its author may not change a limit in money of the workspace. AB03 names the field. */
export async function demandUnbilled(
  em: EntityManager,
  actor: Actor,
  { config, row: { workspaceId } }: { readonly config: GatewayConfig; readonly row: { readonly workspaceId: string } },
): Promise<void> {
  const [path] = unbilledMirrors(config)
  if (path !== undefined) await demandMoneySetter(em, actor, { workspaceId, param: `config.${path}` })
}
