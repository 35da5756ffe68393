import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { rankOf } from '../../lib/access/rank.ts'
import { isAtLeast, type OrganisationRole, type Role } from '../../lib/access/roles.ts'
import { ApiError } from '../../lib/errors.ts'
import { rankedRole } from '../users/index.ts'
import { User } from '../users/user.entity.ts'

/** The caller on whose authority groups give and take, and the field that names it. */
export interface Bound {
  readonly actor: Actor
  readonly param: string
}

/** The role of a person in the organisation, and the one that groups leave. */
interface RoleChange {
  readonly id: string
  readonly present: OrganisationRole
  readonly next: OrganisationRole
}

interface ReachCheck {
  readonly by: Bound
  /** The people who lose a place or a role in a workspace. */
  readonly losing: readonly string[]
  /** True if a person gains a place or a role in a workspace. */
  readonly gaining: boolean
  readonly roles: readonly RoleChange[]
}

/** Throws AB03 when groups would take something from a person that ranks above the caller, or give a role above the caller's own. */
export async function demandReach(
  em: EntityManager,
  { config }: Pick<Deps, 'config'>,
  { by, losing, gaining, roles }: ReachCheck,
): Promise<void> {
  const lowered = roles.filter(({ present, next }) => !isAtLeast(rankedRole(next), rankedRole(present)))
  const ids = [...new Set([...losing, ...lowered.map(({ id }) => id)])]
  const reach = reachOf(by.actor, config.scim.ownerGroups)
  // Only those who act in every workspace give places in any.
  if (gaining && !isAtLeast(reach, 'organisation-admin'))
    throw new ApiError('AB03', `The group gives places in workspaces, which ${whose}, gives no longer. ${remedy}`, { param: by.param })
  const people = ids.length === 0 ? [] : await em.find(User, { id: { $in: ids } })
  const above = people.find(({ role }) => !isAtLeast(reach, rankedRole(role)))
  const given = roles.find(({ present, next }) => next !== present && !isAtLeast(reach, rankedRole(next)))
  if (above === undefined && given === undefined) return
  const told =
    above === undefined
      ? `The group gives the role ${given?.next ?? ''}, which is above the role of`
      : `${above.email} would lose a role or a place in a workspace, and ranks above`
  throw new ApiError('AB03', `${told} ${whose}. ${remedy}`, {
    param: by.param,
  })
}

const whose = 'the caller that writes, or the one that made its token'
const remedy = 'An owner, signed in, makes a token for all.'

/** Groups make and unmake owners where the operator says so (SCIM_OWNER_GROUPS). */
const reachOf = (actor: Actor, ownerGroups: boolean): Role => {
  const rank = rankOf(actor)
  return ownerGroups && rank === 'organisation-admin' ? 'owner' : rank
}
