import type { EntityManager } from '@mikro-orm/postgresql'
import type { RowChange } from '../../../app/audit/changes.ts'
import type { Deps } from '../../../app/deps.ts'
import { isUuid } from '../../../lib/is-uuid.ts'
import { lockPeople } from '../../sessions/index.ts'
import type { User } from '../../users/user.entity.ts'
import { isByUsers } from '../membership-mode.ts'
import { scimError } from '../scim-error.ts'
import { isObject } from '../schema/normalise.ts'

/** Users that came into a group, and those that left it. */
export interface MemberChanges {
  /** Users who are in the group by the word of the write, whether or not they were before. */
  readonly sent: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export const nobodyMoved: MemberChanges = { sent: [], added: [], removed: [] }

const ids = `SELECT value::uuid FROM jsonb_array_elements_text(?::jsonb)`

/** Returns the ids of members as a client sent them. Throws `invalidValue` for a value that is no id. */
export function memberIds(sent: unknown): readonly string[] {
  const values = (Array.isArray(sent) ? sent : [sent]).map((member: unknown) => (isObject(member) ? member['value'] : member))
  return [
    ...new Set(
      values.map((value) => {
        if (typeof value === 'string' && isUuid(value)) return value.toLowerCase()
        throw scimError('invalidValue', `A member is the id of a user: ${String(value).slice(0, 100)} is none.`, 'members')
      }),
    ),
  ]
}

interface OfGroup {
  readonly organisationId: string
  readonly groupId: string
}

/** Reads the ids of the members of a group. */
export async function idsOfMembers(em: EntityManager, groupId: string): Promise<readonly string[]> {
  const rows = await em.execute<{ user_id: string }[]>('SELECT user_id FROM scim_group_members WHERE group_id = ?', [groupId])
  return rows.map(({ user_id }) => user_id)
}

/** The people whom the write of a group may move, or give something. */
interface AffectedPeople {
  readonly named: readonly string[]
  /** True: all members too. */
  readonly all: boolean
}

/**
 * Locks the people whom the write of a group may move, or give a place, ahead of the group, so that a person who is removed meanwhile takes no place
 * that it gives.
 */
export async function lockMembers(em: EntityManager, groupId: string, { named, all }: AffectedPeople): Promise<void> {
  await lockPeople(em, all ? [...named, ...(await idsOfMembers(em, groupId))] : named)
}

/** Adds locked users to a group. Throws `invalidValue` for an id that is no user of the organisation. */
export async function addMembers(
  em: EntityManager,
  { organisationId, groupId }: OfGroup,
  userIds: readonly string[],
): Promise<readonly string[]> {
  if (userIds.length === 0) return []
  const list = JSON.stringify(userIds)
  const found = await em.execute<{ id: string; by_hand: boolean }[]>(
    `SELECT u.id, (s.id IS NULL AND u.status = 'active') AS by_hand FROM users u LEFT JOIN scim_users s ON s.id = u.id
      WHERE u.organisation_id = ? AND u.id IN (${ids})`,
    [organisationId, list],
  )
  const there = new Set(found.map(({ id }) => id))
  const missing = userIds.filter((id) => !there.has(id))
  if (missing.length > 0) throw scimError('invalidValue', `There is no user ${missing.slice(0, 5).join(', ')}.`, 'members')
  const byHand = found.filter(({ by_hand }) => by_hand).map(({ id }) => id)
  if (byHand.length > 0)
    await em.execute(
      `INSERT INTO scim_users (id, organisation_id, user_name) SELECT id, organisation_id, email FROM users WHERE id IN (${ids})
       ON CONFLICT DO NOTHING`,
      [JSON.stringify(byHand)],
    )
  const added = await em.execute<{ user_id: string }[]>(
    `INSERT INTO scim_group_members (organisation_id, group_id, user_id) SELECT ?, ?, value::uuid FROM jsonb_array_elements_text(?::jsonb)
     ON CONFLICT DO NOTHING RETURNING user_id`,
    [organisationId, groupId, list],
  )
  return added.map(({ user_id }) => user_id)
}

/** Takes users out of a group; null: all of them. */
export async function removeMembers(em: EntityManager, groupId: string, userIds: readonly string[] | null): Promise<readonly string[]> {
  const removed = await em.execute<{ user_id: string }[]>(
    `DELETE FROM scim_group_members WHERE group_id = ? AND (?::jsonb IS NULL OR user_id IN (${ids})) RETURNING user_id`,
    [groupId, userIds === null ? null : JSON.stringify(userIds), JSON.stringify(userIds ?? [])],
  )
  return removed.map(({ user_id }) => user_id)
}

/** Makes these users the only members of a group. */
export async function setMembers(em: EntityManager, group: OfGroup, userIds: readonly string[]): Promise<MemberChanges> {
  const removed = await em.execute<{ user_id: string }[]>(
    `DELETE FROM scim_group_members WHERE group_id = ? AND user_id NOT IN (${ids}) RETURNING user_id`,
    [group.groupId, JSON.stringify(userIds)],
  )
  return { sent: userIds, added: await addMembers(em, group, userIds), removed: removed.map(({ user_id }) => user_id) }
}

/** Makes these the groups of a user, and no others: by id, or by name. Throws `invalidValue` for a value that is no group. */
export async function setGroupsOfUser(
  em: EntityManager,
  { id: userId, organisationId }: Pick<User, 'id' | 'organisationId'>,
  sent: unknown,
): Promise<readonly RowChange[]> {
  const wanted = await groupIds(em, organisationId, sent)
  const list = JSON.stringify(wanted)
  const removed = await em.execute<{ group_id: string }[]>(
    `DELETE FROM scim_group_members WHERE user_id = ? AND group_id NOT IN (${ids}) RETURNING group_id`,
    [userId, list],
  )
  const added = await em.execute<{ group_id: string }[]>(
    `INSERT INTO scim_group_members (organisation_id, group_id, user_id) SELECT ?, value::uuid, ? FROM jsonb_array_elements_text(?::jsonb)
     ON CONFLICT DO NOTHING RETURNING group_id`,
    [organisationId, userId, list],
  )
  const touched = [...removed, ...added].map(({ group_id }) => group_id)
  await em.execute(`UPDATE scim_groups SET version = version + 1, last_updated_at = now() WHERE id IN (${ids})`, [JSON.stringify(touched)])
  if (touched.length === 0) return []
  const before = removed.map(({ group_id }) => group_id)
  return [{ table: 'scim_group_members', id: userId, before: { groups: before }, after: { groups: added.map(({ group_id }) => group_id) } }]
}

async function groupIds(em: EntityManager, organisationId: string, sent: unknown): Promise<readonly string[]> {
  const wanted = (Array.isArray(sent) ? sent : []).filter(isObject).map(({ value, display }) => String(value ?? display))
  const found = await em.execute<{ id: string; name: string }[]>(
    `SELECT id, lower(display_name) AS name FROM scim_groups
      WHERE organisation_id = ? AND (id::text IN (SELECT lower(value) FROM jsonb_array_elements_text(?::jsonb))
         OR lower(display_name) IN (SELECT lower(value) FROM jsonb_array_elements_text(?::jsonb)))`,
    [organisationId, JSON.stringify(wanted), JSON.stringify(wanted)],
  )
  return wanted.map((reference) => {
    const group = found.find(({ id, name }) => id === reference.toLowerCase() || name === reference.toLowerCase())
    if (group === undefined) throw scimError('invalidValue', `There is no group ${reference.slice(0, 100)}.`, 'groups')
    return group.id
  })
}

/** Gives the members of a group other versions, where users tell their groups: these have changed. */
export async function renewMembers(em: EntityManager, deps: Pick<Deps, 'config' | 'level'>, groupId: string): Promise<void> {
  if (!isByUsers(deps)) return
  await em.execute(
    `UPDATE scim_users SET version = version + 1, last_updated_at = now()
      WHERE id IN (SELECT user_id FROM scim_group_members WHERE group_id = ?)`,
    [groupId],
  )
}

const named = 100

const told = (moved: readonly string[]) => ({ user_ids: moved.slice(0, named), count: moved.length })

/** The row of the trail about changed members; the first of many are named, and the others counted. */
export function movedChange(groupId: string, { added, removed }: MemberChanges): readonly RowChange[] {
  if (added.length === 0 && removed.length === 0) return []
  return [{ table: 'scim_group_members', id: groupId, before: { removed: told(removed) }, after: { added: told(added) } }]
}
