import type { EntityManager } from '@mikro-orm/postgresql'
import type { OrganisationRole } from '../../../lib/access/roles.ts'
import type { Source } from '../filter/filter-sql.ts'
import { isObject, type Document } from '../schema/normalise.ts'
import { enterpriseSchemaId, userSchemaId, users, usersWithGroups } from '../schema/user.ts'
import type { ResourceType } from '../schema/attribute.ts'

/** A user with SCIM's facts about them. */
export interface UserRow {
  readonly id: string
  readonly organisation_id: string
  readonly email: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly role: OrganisationRole
  readonly status: 'active' | 'archived'
  readonly user_name: string
  readonly external_id: string | null
  readonly attributes: Document | null
  readonly version: number
  /** ISO 8601. */
  readonly created_at: string
  readonly changed_at: string
}

/** The expression of a time as ISO 8601 has it. */
export const isoTime = (expression: string): string => `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export const userColumns = `u.id, u.organisation_id, u.email, u.first_name, u.last_name, u.role, u.status, coalesce(s.user_name, u.email) AS user_name, s.external_id, s.attributes,
  coalesce(s.version, 0) AS version, ${isoTime('u.created_at')} AS created_at,
  ${isoTime('greatest(u.last_updated_at, s.last_updated_at)')} AS changed_at`

/**
 * The users that an identity provider sees: all present ones, and those of its own who were removed; but not one whose address another person has by
 * now.
 */
export const userTables = `users u LEFT JOIN scim_users s ON s.id = u.id`
export const isSeen = `(u.status = 'active' OR (s.id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM users other WHERE other.organisation_id = u.organisation_id AND other.email = u.email AND other.status = 'active')))`

const emails = `jsonb_build_object('emails', jsonb_build_array(jsonb_build_object('value', u.email, 'type', 'work', 'primary', true)))`

/** Users with their groups, where people say which groups they are in. */
export const userType = (byUsers: boolean): ResourceType => (byUsers ? usersWithGroups : users)

/** Returns the places of the attributes of users. */
export const userSource = (byUsers: boolean, strict: boolean): Source => ({
  type: userType(byUsers),
  strict,
  document: `(${emails} || coalesce(s.attributes, '{}'))`,
  columns: {
    id: 'u.id::text',
    externalid: 's.external_id',
    username: 'coalesce(s.user_name, u.email)',
    active: `(u.status = 'active')`,
    'name.givenname': 'u.first_name',
    'name.familyname': 'u.last_name',
    'meta.resourcetype': `'User'`,
    'meta.created': 'u.created_at',
    'meta.lastmodified': 'greatest(u.last_updated_at, s.last_updated_at)',
  },
  lists: {
    groups: `(SELECT jsonb_build_object('value', g.id, 'display', g.display_name, 'type', 'direct')
      FROM scim_group_members m JOIN scim_groups g ON g.id = m.group_id WHERE m.user_id = u.id) AS held(e)`,
  },
})

/** Reads a user whom the identity provider sees; null: there is none. */
export async function readUser(em: EntityManager, organisationId: string, id: string): Promise<UserRow | null> {
  const [row] = await em.execute<UserRow[]>(
    `SELECT ${userColumns} FROM ${userTables} WHERE u.organisation_id = ? AND u.id = ? AND ${isSeen}`,
    [organisationId, id],
  )
  return row ?? null
}

/** The groups of a user. */
export interface GroupOfUser {
  readonly user_id: string
  readonly id: string
  readonly display_name: string
}

/** Reads the groups of these users. */
export const groupsOf = (em: EntityManager, userIds: readonly string[]): Promise<GroupOfUser[]> =>
  em.execute<GroupOfUser[]>(
    `SELECT m.user_id, g.id, g.display_name FROM scim_group_members m JOIN scim_groups g ON g.id = m.group_id
      WHERE m.user_id IN (SELECT value::uuid FROM jsonb_array_elements_text(?::jsonb)) ORDER BY g.display_name, g.id`,
    [JSON.stringify(userIds)],
  )

export const versionOf = ({ version, changed_at }: Pick<UserRow, 'version' | 'changed_at'>): string =>
  `W/"${version}-${Date.parse(changed_at).toString(36)}"`

/** A user as a document of the schema, without the attributes that only the server sets. */
export function userDocument(row: UserRow, groups: readonly GroupOfUser[] | null): Document {
  const { name: stored, ...attributes } = row.attributes ?? {}
  const name = {
    ...(isObject(stored) ? stored : {}),
    ...(row.first_name !== null && { givenName: row.first_name }),
    ...(row.last_name !== null && { familyName: row.last_name }),
  }
  return {
    ...(row.external_id !== null && { externalId: row.external_id }),
    userName: row.user_name,
    ...(Object.keys(name).length > 0 && { name }),
    active: row.status === 'active',
    emails: [{ value: row.email, type: 'work', primary: true }],
    ...attributes,
    ...(groups !== null && groups.length > 0 && { groups: groups.map(({ id, display_name }) => ({ value: id, display: display_name })) }),
  }
}

/** A user as it is answered. */
export function presentUser(
  row: UserRow,
  { base, groups }: { readonly base: string; readonly groups: readonly GroupOfUser[] | null },
): Document {
  const document = userDocument(row, null)
  return {
    schemas: [userSchemaId, ...(document[enterpriseSchemaId] === undefined ? [] : [enterpriseSchemaId])],
    id: row.id,
    ...document,
    ...(groups !== null && {
      groups: groups.map(({ id, display_name: display }) => ({ value: id, $ref: `${base}/Groups/${id}`, display, type: 'direct' })),
    }),
    meta: {
      resourceType: 'User',
      created: row.created_at,
      lastModified: row.changed_at,
      location: `${base}/Users/${row.id}`,
      version: versionOf(row),
    },
  }
}

/** The names of the attributes that columns hold. */
const inColumns: ReadonlySet<string> = new Set(['userName', 'externalId', 'active', 'groups'])

/** The part of a document that is stored as it is. */
export function storedAttributes(document: Document): Document {
  const { name, ...rest } = document
  const others = Object.entries(isObject(name) ? name : {}).filter(([part]) => part !== 'givenName' && part !== 'familyName')
  const kept = Object.entries(rest).filter(([attribute]) => !inColumns.has(attribute))
  return Object.fromEntries([...kept, ...(others.length > 0 ? [['name', Object.fromEntries(others)] as const] : [])])
}
