import type { EntityManager } from '@mikro-orm/postgresql'
import type { Source } from '../filter/filter-sql.ts'
import { groups, groupSchemaId } from '../schema/group.ts'
import type { Document } from '../schema/normalise.ts'
import { isoTime } from './user-rows.ts'

/** A group as the database has it. */
export interface GroupRow {
  readonly id: string
  readonly display_name: string
  readonly external_id: string | null
  readonly version: number
  /** ISO 8601. */
  readonly created_at: string
  readonly last_updated_at: string
}

/** A member of a group. */
export interface MemberRow {
  readonly group_id: string
  readonly id: string
  readonly display: string
}

export const groupColumns = `g.id, g.display_name, g.external_id, g.version, ${isoTime('g.created_at')} AS created_at,
  ${isoTime('g.last_updated_at')} AS last_updated_at`

const display = `coalesce(nullif(s.attributes->>'displayName', ''), nullif(concat_ws(' ', u.first_name, u.last_name), ''), s.user_name, u.email)`
const memberTables = `scim_group_members m JOIN users u ON u.id = m.user_id LEFT JOIN scim_users s ON s.id = u.id`

/** Returns the places of the attributes of groups. */
export const groupSource = (strict: boolean): Source => ({
  type: groups,
  strict,
  document: null,
  columns: {
    id: 'g.id::text',
    externalid: 'g.external_id',
    displayname: 'g.display_name',
    'meta.resourcetype': `'Group'`,
    'meta.created': 'g.created_at',
    'meta.lastmodified': 'g.last_updated_at',
  },
  lists: {
    members: `(SELECT jsonb_build_object('value', u.id, 'type', 'User', 'display', ${display}) FROM ${memberTables} WHERE m.group_id = g.id) AS held(e)`,
  },
})

/** Reads a group of an organisation; null: there is none. */
export async function readGroup(em: EntityManager, organisationId: string, id: string): Promise<GroupRow | null> {
  const [row] = await em.execute<GroupRow[]>(`SELECT ${groupColumns} FROM scim_groups g WHERE g.organisation_id = ? AND g.id = ?`, [
    organisationId,
    id,
  ])
  return row ?? null
}

/** Reads the members of these groups. */
export const membersOf = (em: EntityManager, groupIds: readonly string[]): Promise<MemberRow[]> =>
  em.execute<MemberRow[]>(
    `SELECT m.group_id, u.id, ${display} AS display FROM ${memberTables}
      WHERE m.group_id IN (SELECT value::uuid FROM jsonb_array_elements_text(?::jsonb)) ORDER BY m.created_at, u.id`,
    [JSON.stringify(groupIds)],
  )

export const groupVersion = ({ version }: Pick<GroupRow, 'version'>): string => `W/"${version}"`

/** A group as it is answered; `members` null: they were not asked for. */
export const presentGroup = (
  row: GroupRow,
  { base, members }: { readonly base: string; readonly members: readonly MemberRow[] | null },
): Document => ({
  schemas: [groupSchemaId],
  id: row.id,
  ...(row.external_id !== null && { externalId: row.external_id }),
  displayName: row.display_name,
  ...(members !== null && {
    members: members.map(({ id, display: shown }) => ({ value: id, $ref: `${base}/Users/${id}`, display: shown, type: 'User' })),
  }),
  meta: {
    resourceType: 'Group',
    created: row.created_at,
    lastModified: row.last_updated_at,
    location: `${base}/Groups/${row.id}`,
    version: groupVersion(row),
  },
})
