import type { EntityManager } from '@mikro-orm/postgresql'
import type { RowChange } from '../../app/audit/changes.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { adopt, hold, rolesInName, settlePlaces } from '../scim/index.ts'
import { lockPeople } from '../sessions/index.ts'
import type { User } from '../users/user.entity.ts'

/**
 * Makes these the groups of a person, and gives them the places and the role that follow. Returns the changes made by SQL alone. The caller holds the
 * writes of SCIM since before it touched the person.
 */
export async function takeGroups(
  em: EntityManager,
  deps: Deps,
  { user, names }: { readonly user: User; readonly names: readonly string[] },
): Promise<readonly RowChange[]> {
  const { id: userId, organisationId } = user
  const rows = names.map((name) => toRow(name, deps))
  await lockPeople(em, [userId])
  const before = await em.execute<{ name: string }[]>('SELECT name FROM sso_groups WHERE user_id = ? ORDER BY name', [userId])
  await em.execute('DELETE FROM sso_groups WHERE user_id = ?', [userId])
  await em.execute(
    `INSERT INTO sso_groups (organisation_id, user_id, name, named_workspace, named_role, organisation_role)
     SELECT ?, ?, r.* FROM jsonb_to_recordset(?::jsonb) AS r(name text, named_workspace text, named_role text, organisation_role text)`,
    [organisationId, userId, JSON.stringify(rows)],
  )
  // The role from groups is noted beside SCIM's facts about the person.
  if (rows.some(({ organisation_role }) => organisation_role !== null)) await adopt(em, user)
  await em.flush()
  const places = await settlePlaces(em, deps, { organisationId, userIds: [userId] })
  return [
    ...movedChange(
      userId,
      before.map(({ name }) => name),
      names,
    ),
    ...places,
  ]
}

/** Deletes the groups that the identity provider claimed for people of an organisation, and takes away the memberships and roles that the groups gave. */
export async function forgetGroups(em: EntityManager, deps: Deps, actor: Actor): Promise<readonly RowChange[]> {
  const { organisationId } = actor
  await hold(em, organisationId)
  const gone = await em.execute<{ user_id: string }[]>('DELETE FROM sso_groups WHERE organisation_id = ? RETURNING user_id', [
    organisationId,
  ])
  return gone.length === 0 ? [] : settlePlaces(em, deps, { organisationId, userIds: null, by: { actor, param: 'group_claim' } })
}

function toRow(name: string, { config, level }: Pick<Deps, 'config' | 'level'>) {
  const { workspace, organisation } = rolesInName(name, config.scim.names, { anyCase: level.atLeast('1.6.1') })
  return { name, named_workspace: workspace?.named ?? null, named_role: workspace?.role ?? null, organisation_role: organisation }
}

function movedChange(id: string, before: readonly string[], after: readonly string[]): readonly RowChange[] {
  const isSame = before.length === after.length && after.every((name) => before.includes(name))
  return isSame ? [] : [{ table: 'sso_groups', id, before: { names: before }, after: { names: after } }]
}
