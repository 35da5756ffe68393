import { isDeepStrictEqual } from 'node:util'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { RowChange } from '../../../app/audit/changes.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { userColumns, type UserRow } from './user-rows.ts'
import type { WantedUser } from './wanted-user.ts'

/** A user as stored, and the changes, for the trail. */
export interface StoredUser {
  readonly row: UserRow
  readonly changes: readonly RowChange[]
}

/** A part of a statement that gives the row of a person: a new one, or one that is there. */
interface People {
  readonly sql: string
  readonly values: readonly (string | null)[]
}

/**
 * Writes a person, and SCIM's facts about them, and reads the user as it is then: by one statement, since a first synchronisation has thousands of
 * them, one after the other.
 */
async function store(em: EntityManager, { userName, externalId, attributes }: WantedUser, people: People): Promise<UserRow> {
  const [row] = await em.execute<UserRow[]>(
    `WITH u AS (${people.sql}), s AS (
       INSERT INTO scim_users AS known (id, organisation_id, user_name, external_id, attributes)
       SELECT id, organisation_id, ?, ?, ?::jsonb FROM u
       ON CONFLICT (id) DO UPDATE SET user_name = excluded.user_name, external_id = excluded.external_id, attributes = excluded.attributes,
         version = known.version + 1, last_updated_at = now()
       RETURNING *)
     SELECT ${userColumns} FROM u JOIN s ON s.id = u.id`,
    [...people.values, userName, externalId, JSON.stringify(attributes)],
  )
  if (row === undefined) throw new Error('a user was not stored')
  return row
}

/** Stores a new person. */
export async function storeNew(em: EntityManager, organisationId: string, wanted: WantedUser): Promise<StoredUser> {
  const person = {
    id: uuidv7(),
    organisation_id: organisationId,
    email: wanted.email,
    first_name: wanted.firstName,
    last_name: wanted.lastName,
    role: 'member',
    status: wanted.active === false ? 'archived' : 'active',
  }
  const names = Object.keys(person)
  const sql = `INSERT INTO users (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) RETURNING *`
  const row = await store(em, wanted, { sql, values: Object.values(person) })
  const { id, created_at } = row
  const known = { id, organisation_id: organisationId, ...knownOf(row), given_role: null, created_at }
  return {
    row,
    changes: [
      { table: 'users', id, before: null, after: { ...person, created_at } },
      { table: 'scim_users', id, before: null, after: known },
    ],
  }
}

/** Stores the changes of a present person; for one who was added by hand SCIM begins its own facts. Their status stays as it is. */
export async function storeChanged(em: EntityManager, before: UserRow, wanted: WantedUser): Promise<StoredUser> {
  const { id, organisation_id } = before
  const values = [wanted.email, wanted.firstName, wanted.lastName]
  const isSame = isDeepStrictEqual(values, [before.email, before.first_name, before.last_name])
  const row = await store(
    em,
    wanted,
    isSame
      ? { sql: 'SELECT * FROM users WHERE id = ? AND organisation_id = ?', values: [id, organisation_id] }
      : {
          sql: 'UPDATE users SET email = ?, first_name = ?, last_name = ?, last_updated_at = now() WHERE id = ? AND organisation_id = ? RETURNING *',
          values: [...values, id, organisation_id],
        },
  )
  const known = isKnown(before)
    ? difference({ table: 'scim_users', id }, knownOf(before), knownOf(row))
    : { table: 'scim_users', id, before: null, after: { id, ...knownOf(row) } }
  return { row, changes: isSame ? [known] : [difference({ table: 'users', id }, personOf(before), personOf(row)), known] }
}

/** Returns true if SCIM has more facts about a user than their place in the organisation. */
export const isKnown = ({ version }: Pick<UserRow, 'version'>): boolean => version > 0

const personOf = ({ email, first_name, last_name }: UserRow) => ({ email, first_name, last_name })
const knownOf = ({ user_name, external_id, attributes, version }: UserRow) => ({ user_name, external_id, attributes, version })

type Columns = Readonly<Record<string, unknown>>

/** Returns the change of a row, with the columns that have changed. */
function difference(of: Pick<RowChange, 'table' | 'id'>, before: Columns, after: Columns): RowChange {
  const changed = (row: Columns) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !isDeepStrictEqual(before[name], after[name])))
  return { ...of, before: changed(before), after: changed(after) }
}
