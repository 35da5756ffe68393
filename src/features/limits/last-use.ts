import type { EntityManager } from '@mikro-orm/postgresql'

/** Facts about a key or a provider that its row does not have. */
export interface LastUse {
  readonly last_used_at: string | null
  readonly owner_name: string | null
}

interface Row {
  readonly id: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly email: string | null
  readonly last_used_at: Date | string | null
}

/** The last log of a day stands in its roll-up, so that no logs are read for it. */
const lastOf = (uses: string): string => `(SELECT max(d.last_seen) FROM usage_days d WHERE ${uses}
    AND d.bucket = (SELECT max(d.bucket) FROM usage_days d WHERE ${uses})) AS last_used_at`

/** The id of the person behind the maker of a row: a person who signed in, or a person's key. */
const personOf = (maker: string): string => `coalesce((SELECT m.user_id FROM api_keys m WHERE m.id = ${maker}), ${maker})`

const factsOf = {
  'api-key': `
    SELECT k.id, u.first_name, u.last_name, u.email, ${lastOf('d.organisation_id = k.organisation_id AND d.api_key_id = k.id')}
      FROM api_keys k LEFT JOIN users u ON u.id = coalesce(k.user_id, ${personOf('k.created_by')}) WHERE k.id IN`,
  provider: `
    SELECT p.id, u.first_name, u.last_name, u.email,
           ${lastOf('d.organisation_id = p.organisation_id AND d.workspace_id = p.workspace_id AND d.provider_slug = p.slug')}
      FROM providers p LEFT JOIN users u ON u.id = ${personOf('p.created_by')} WHERE p.id IN`,
} as const

/** Returns when keys or providers were used last, and their owners: the person of a key, the maker of any other row. */
export async function lastUsesOf(
  em: EntityManager,
  kind: keyof typeof factsOf,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LastUse>> {
  if (ids.length === 0) return new Map()
  const rows = await em.execute<Row[]>(`${factsOf[kind]} (${ids.map(() => '?').join(', ')})`, [...ids])
  return new Map(rows.map((row) => [row.id, { last_used_at: isoOf(row.last_used_at), owner_name: nameOf(row) }]))
}

const isoOf = (at: Date | string | null): string | null => (at === null ? null : new Date(at).toISOString())

function nameOf({ first_name, last_name, email }: Row): string | null {
  const name = [first_name, last_name].filter((part) => part !== null && part !== '').join(' ')
  return name === '' ? email : name
}
