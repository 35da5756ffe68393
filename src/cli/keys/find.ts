import { asSystem } from '../../app/database/orm.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { CommandError, UsageError } from '../failure.ts'
import type { Installation } from '../installation.ts'

/** An organisation that is in use. */
export interface Owner {
  readonly id: string
  readonly slug: string
}

/** The organisation that is named by slug or id; without a name the only one. */
export async function findOrganisation({ orm }: Pick<Installation, 'orm'>, reference: string | undefined): Promise<Owner> {
  const all = await asSystem(orm, (em) =>
    em.execute<Owner[]>(`SELECT id, slug FROM organisations WHERE status = 'active' ORDER BY created_at, id`),
  )
  const slugs = all.map(({ slug }) => slug).join(', ')
  if (reference !== undefined) {
    const named = all.find(({ id, slug }) => id === reference.toLowerCase() || slug === reference)
    if (named === undefined)
      throw new CommandError(`there is no organisation ${reference}; there ${all.length === 1 ? 'is' : 'are'} ${slugs || 'none'}`)
    return named
  }
  const [only, ...others] = all
  if (only === undefined)
    throw new CommandError('there is no organisation yet: the first start makes one, and so does "gatehouse keys create --first"')
  if (others.length > 0) throw new UsageError(`there are ${all.length} organisations (${slugs}): name one with --organisation`)
  return only
}

/** A key, as lists show it; the secret itself is nowhere. */
export interface KeyRow {
  readonly id: string
  readonly organisation_id: string
  readonly organisation: string
  readonly workspace: string | null
  readonly type: string
  readonly name: string
  readonly hint: string
  readonly status: string
  readonly scopes: number
  readonly created_at: string
  readonly expires_at: string | null
}

const columns = `SELECT k.id, k.organisation_id, o.slug AS organisation, w.slug AS workspace, k.type, k.name, k.key_hint AS hint,
    CASE WHEN k.status = 'active' AND k.expires_at < now() THEN 'expired' ELSE k.status END AS status, cardinality(k.scopes) AS scopes,
    to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created_at,
    to_char(k.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS expires_at
  FROM api_keys k JOIN organisations o ON o.id = k.organisation_id LEFT JOIN workspaces w ON w.id = k.workspace_id`

/** All keys, oldest first; those that were revoked only on request. */
export const listKeys = ({ orm }: Pick<Installation, 'orm'>, options: { readonly revoked: boolean }): Promise<readonly KeyRow[]> =>
  asSystem(orm, (em) => em.execute<KeyRow[]>(`${columns} WHERE ? OR k.status <> 'archived' ORDER BY k.created_at, k.id`, [options.revoked]))

/** The key with this id; CommandError when there is none. */
export async function findById({ orm }: Pick<Installation, 'orm'>, id: string): Promise<KeyRow> {
  if (!isUuid(id)) throw new UsageError(`${id} is no id of a key: "gatehouse keys list" lists them`)
  const [row] = await asSystem(orm, (em) => em.execute<KeyRow[]>(`${columns} WHERE k.id = ?`, [id]))
  if (row === undefined) throw new CommandError(`there is no key ${id}`)
  return row
}

/** The key with this secret, also when it is the one before the last rotation. */
export async function findBySecret({ orm, vault }: Pick<Installation, 'orm' | 'vault'>, secret: string): Promise<KeyRow> {
  const hash = vault.hashKey(secret)
  const [row] = await asSystem(orm, (em) =>
    em.execute<KeyRow[]>(`${columns} WHERE k.key_hash = ? OR k.previous_key_hash = ?`, [hash, hash]),
  )
  if (row === undefined) throw new CommandError('no key of this installation has that secret')
  return row
}
