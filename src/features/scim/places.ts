import type { EntityManager } from '@mikro-orm/postgresql'
import type { RowChange } from '../../app/audit/changes.ts'
import type { Deps } from '../../app/deps.ts'
import { isAtLeast, type OrganisationRole, type WorkspaceRole } from '../../lib/access/roles.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { lockPeople } from '../sessions/index.ts'
import { User } from '../users/user.entity.ts'
import { removeMember } from '../workspaces/index.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import { demandReach, type Bound } from './reach.ts'
import type { ScimGroup } from './scim-group.entity.ts'
import { ScimUser } from './scim-user.entity.ts'

type Needs = Pick<Deps, 'config' | 'level' | 'log'>

/** Returns true if groups give places at this level: before, there is no table of their mappings. */
const arePlacesGiven = ({ level }: Pick<Deps, 'level'>): boolean => level.atLeast('1.6.0')

/** The people whose places are settled. */
export interface PlaceChange {
  readonly organisationId: string
  /** Null: all people. */
  readonly userIds: readonly string[] | null
  /** The caller at whose word it is done; absent: it is a sign-in, or a job. */
  readonly by?: Bound
}

/**
 * Gives people the places in workspaces, and the roles in the organisation, that their groups state, and takes away those that groups gave and give
 * no longer. A place that was given by hand stays until a group gives the same place: from then on the groups decide. Returns the changes made by SQL
 * alone, for the trail. Throws AB03 when a caller would take a right from a person that ranks above it.
 */
export async function settlePlaces(em: EntityManager, deps: Needs, settled: PlaceChange): Promise<readonly RowChange[]> {
  if (settled.userIds?.length === 0 || !arePlacesGiven(deps)) return []
  const [places, roles] = [await placesToSettle(em, settled), await rolesToSettle(em, deps, settled)]
  const here = await lockPeople(em, [...new Set([...places.map(({ user_id }) => user_id), ...roles.map(({ id }) => id)])])
  if (settled.by !== undefined) await demandReach(em, deps, { by: settled.by, ...lossesOf(places, roles) })
  const changes = await settleWorkspaces(em, settled.organisationId, { found: places, here })
  for (const role of roles) if (here.has(role.id)) await settleRole(em, deps, role)
  return changes
}

/** Returns true if a group gives its members anything: by its name, or by a mapping. */
export async function givesPlaces(
  em: EntityManager,
  deps: Pick<Deps, 'level'>,
  { id, namedRole, organisationRole }: ScimGroup,
): Promise<boolean> {
  if (!arePlacesGiven(deps)) return false
  if (namedRole !== null || organisationRole !== null) return true
  const [row] = await em.execute<{ mapped: boolean }[]>(
    'SELECT EXISTS (SELECT 1 FROM scim_workspace_groups WHERE group_id = ?) AS mapped',
    [id],
  )
  return row?.mapped === true
}

interface Difference {
  readonly user_id: string
  readonly workspace_id: string
  readonly wanted: WorkspaceRole | null
  readonly present: WorkspaceRole | null
  readonly member_id: string | null
}

const rank = (role: string) => `CASE ${role} WHEN 'admin' THEN 3 WHEN 'manager' THEN 2 ELSE 1 END`

/** The people whose places are settled: the ids of some, or all. Only a condition that stands by itself leads to their rows by an index. */
interface People {
  readonly among: (column: string) => string
  /** The values of each such condition. */
  readonly values: readonly string[]
}

const peopleOf = ({ userIds }: PlaceChange): People =>
  userIds === null
    ? { among: () => 'true', values: [] }
    : { among: (column) => `${column} = ANY (string_to_array(?, ',')::uuid[])`, values: [userIds.join(',')] }

/** The workspace that the name of a group means. A name that two workspaces have gives a place in neither: it is ambiguous. */
const workspaceOf = (group: string) => `
  coalesce((SELECT w.id FROM workspaces w WHERE w.organisation_id = ${group}.organisation_id AND w.status = 'active' AND w.slug = lower(${group}.named_workspace)),
           (SELECT (array_agg(w.id))[1] FROM workspaces w
             WHERE w.organisation_id = ${group}.organisation_id AND w.status = 'active' AND lower(w.name) = lower(${group}.named_workspace) HAVING count(*) = 1))`

/**
 * Groups are those that SCIM writes, and those of the claims of the last sign-in. During a first synchronisation the planner's row counts are out of
 * date: tables that are to be read once are materialized, and each table has the condition on the people.
 */
const differences = (among: People['among']): string => `
  WITH named AS (
    SELECT g.id AS group_id, g.named_role AS role, ${workspaceOf('g')} AS workspace_id
      FROM scim_groups g WHERE g.organisation_id = ? AND g.named_role IS NOT NULL
  ), targets AS MATERIALIZED (
    SELECT group_id, workspace_id, role FROM named WHERE workspace_id IS NOT NULL
     UNION ALL
    SELECT t.group_id, t.workspace_id, t.role FROM scim_workspace_groups t JOIN workspaces w ON w.id = t.workspace_id
     WHERE t.organisation_id = ? AND w.status = 'active'
  ), mapped AS (
    SELECT lower(r."group") AS name, r.workspace_id, r.role
      FROM identity_providers p, jsonb_to_recordset(p.settings -> 'role_mappings') AS r("group" text, workspace_id uuid, role text)
      JOIN workspaces w ON w.id = r.workspace_id
     WHERE p.organisation_id = ? AND w.organisation_id = p.organisation_id AND w.status = 'active'
  ), given AS (
    SELECT m.user_id, t.workspace_id, t.role FROM scim_group_members m JOIN targets t USING (group_id) WHERE m.organisation_id = ? AND ${among('m.user_id')}
     UNION ALL
    SELECT c.user_id, ${workspaceOf('c')}, c.named_role FROM sso_groups c
     WHERE c.organisation_id = ? AND ${among('c.user_id')} AND c.named_role IS NOT NULL
     UNION ALL
    SELECT c.user_id, t.workspace_id, t.role FROM sso_groups c JOIN mapped t ON t.name = lower(c.name)
     WHERE c.organisation_id = ? AND ${among('c.user_id')}
  ), wanted AS (
    SELECT g.user_id, g.workspace_id, (array_agg(g.role ORDER BY ${rank('g.role')} DESC))[1] AS role
      FROM given g JOIN users u ON u.id = g.user_id
     WHERE u.organisation_id = ? AND ${among('u.id')} AND u.status = 'active' AND g.workspace_id IS NOT NULL
     GROUP BY g.user_id, g.workspace_id
  ), present AS (
    SELECT id, user_id, workspace_id, role, by_group FROM workspace_members WHERE organisation_id = ? AND ${among('user_id')}
  )
  SELECT coalesce(wanted.user_id, present.user_id) AS user_id, coalesce(wanted.workspace_id, present.workspace_id) AS workspace_id,
         wanted.role AS wanted, present.role AS present, present.id AS member_id
    FROM wanted FULL JOIN present ON present.user_id = wanted.user_id AND present.workspace_id = wanted.workspace_id
   WHERE (wanted.user_id IS NULL AND present.by_group) OR (wanted.user_id IS NOT NULL AND (present.id IS NULL OR NOT present.by_group OR present.role <> wanted.role))`

async function placesToSettle(em: EntityManager, settled: PlaceChange): Promise<readonly Difference[]> {
  const people = peopleOf(settled)
  const [all, some] = [settled.organisationId, [settled.organisationId, ...people.values]]
  const values = [all, all, all, ...some, ...some, ...some, ...some, ...some]
  return em.execute<Difference[]>(differences(people.among), values)
}

/** The differences to settle, and those of their people who are there. */
interface LockedDifferences {
  readonly found: readonly Difference[]
  readonly here: ReadonlySet<string>
}

async function settleWorkspaces(
  em: EntityManager,
  organisationId: string,
  { found, here }: LockedDifferences,
): Promise<readonly RowChange[]> {
  const given = found.flatMap(({ wanted, ...row }) => (wanted === null || !here.has(row.user_id) ? [] : [{ ...row, wanted }]))
  const gone = found.flatMap(({ wanted, member_id: id }) => (wanted === null && id !== null ? [id] : []))
  if (gone.length > 0) for (const row of await em.find(WorkspaceMember, { id: { $in: gone } })) await removeMember(em, row)
  return give(em, organisationId, given)
}

type GivenPlace = Difference & { readonly wanted: WorkspaceRole }

/** Gives places in one statement: a full synchronisation gives thousands at once. */
async function give(em: EntityManager, organisationId: string, given: readonly GivenPlace[]): Promise<readonly RowChange[]> {
  if (given.length === 0) return []
  const rows = given.map((row) => ({
    id: row.member_id ?? uuidv7(),
    user_id: row.user_id,
    workspace_id: row.workspace_id,
    role: row.wanted,
  }))
  await em.execute(
    `INSERT INTO workspace_members (id, organisation_id, workspace_id, user_id, role, by_group)
     SELECT r.id, ?, r.workspace_id, r.user_id, r.role, true FROM jsonb_to_recordset(?::jsonb) AS r(id uuid, workspace_id uuid, user_id uuid, role text)
     ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role, by_group = true, last_updated_at = now()`,
    [organisationId, JSON.stringify(rows)],
  )
  return rows.map(({ id, ...place }, at) => {
    const before = given[at]?.present ?? null
    return { table: 'workspace_members', id, before: before === null ? null : { role: before }, after: { ...place, by_group: true } }
  })
}

interface RoleDifference {
  readonly id: string
  readonly present: OrganisationRole
  readonly given: 'owner' | 'admin' | null
  readonly wanted: 'owner' | 'admin' | null
}

/** Returns whether a place or a role in a workspace is gained, the people who lose one, and those whose role in the organisation becomes another. */
const lossesOf = (places: readonly Difference[], roles: readonly RoleDifference[]) => ({
  gaining: places.some(({ wanted, present }) => isLower(present, wanted)),
  losing: places.filter(({ wanted, present }) => isLower(wanted, present)).map(({ user_id }) => user_id),
  roles: roles.map(({ id, present, given, wanted }) => ({ id, present, next: nextRole(present, { given, wanted }) })),
})

/** Returns true if a role is lower than another one; null: none. */
const isLower = (role: WorkspaceRole | null, other: WorkspaceRole | null): boolean =>
  other !== null && (role === null || !isAtLeast(role, other))

const roleDifferences = (among: People['among']): string => `
  SELECT s.id, u.role AS present, s.given_role AS given, w.role AS wanted
    FROM scim_users s JOIN users u ON u.id = s.id
    LEFT JOIN (SELECT g.user_id, max(g.role) AS role
                 FROM (SELECT m.user_id, g.organisation_id, g.organisation_role AS role FROM scim_group_members m JOIN scim_groups g ON g.id = m.group_id
                        WHERE ${among('m.user_id')}
                        UNION ALL
                       SELECT c.user_id, c.organisation_id, c.organisation_role FROM sso_groups c WHERE ${among('c.user_id')}) g
                WHERE g.organisation_id = ? AND (g.role = 'admin' OR (g.role = 'owner' AND ?)) GROUP BY g.user_id) w
      ON w.user_id = s.id
   WHERE s.organisation_id = ? AND u.status = 'active' AND ${among('s.id')} AND ${among('u.id')} AND w.role IS DISTINCT FROM s.given_role`

async function rolesToSettle(em: EntityManager, { config }: Needs, settled: PlaceChange): Promise<readonly RoleDifference[]> {
  const { organisationId } = settled
  const { among, values } = peopleOf(settled)
  const asked = [...values, ...values, organisationId, config.scim.ownerGroups, organisationId, ...values, ...values]
  return em.execute<RoleDifference[]>(roleDifferences(among), asked)
}

/** A role that was given by hand and is higher stays. */
async function settleRole(em: EntityManager, { log }: Needs, { id, wanted }: RoleDifference): Promise<void> {
  const [user, known] = [await em.findOneOrFail(User, { id }), await em.findOneOrFail(ScimUser, { id })]
  const next = nextRole(user.role, { given: known.givenRole ?? null, wanted })
  if (user.role === 'owner' && next !== 'owner' && (await isLastOwner(em, user))) {
    log.warn(
      { org: user.organisationId, user: id },
      'the last owner of an organisation is no longer in a group that gives the role, and keeps it',
    )
    return
  }
  user.role = next
  known.givenRole = wanted
  await em.flush()
}

const ranks: Readonly<Record<OrganisationRole, number>> = { owner: 3, admin: 2, member: 1 }

function nextRole(
  role: OrganisationRole,
  { given, wanted }: { readonly given: 'owner' | 'admin' | null; readonly wanted: 'owner' | 'admin' | null },
): OrganisationRole {
  const byHand = role === given ? 'member' : role
  return wanted !== null && ranks[wanted] > ranks[byHand] ? wanted : byHand
}

/** Returns true if an organisation has no other owner who is there. */
export const isLastOwner = async (em: EntityManager, { id, organisationId, role }: User): Promise<boolean> =>
  role === 'owner' && (await em.count(User, { organisationId, role: 'owner', status: 'active', id: { $ne: id } })) === 0
