import type { EntityManager } from '@mikro-orm/postgresql'
import { arrayText } from '../../lib/text/array-text.ts'

/** The present names of the key, the person and the provider of a log; the last name of a deleted one. */
export interface LogNames {
  readonly api_key_name: string | null
  readonly user_name: string | null
  readonly provider_name: string | null
}

interface Nameable {
  readonly api_key_id: string
  readonly user_id: string | null
  readonly workspace_id: string | null
  readonly provider_slug: string | null
}

/** Adds names. Asked for a page: the database may look at many more logs than it shows. */
export async function withNames<Row extends Nameable>(
  em: EntityManager,
  { organisationId }: { readonly organisationId: string },
  rows: readonly Row[],
): Promise<(Row & LogNames)[]> {
  if (rows.length === 0) return []
  const [keys, users, slugs] = [
    rows.map(({ api_key_id: id }) => id),
    rows.map(({ user_id: id }) => id),
    rows.map(({ provider_slug: slug }) => slug),
  ].map(known)
  const named = await em.execute<{ kind: string; id: string; name: string }[]>(
    `SELECT 'key' AS kind, id::text, name FROM api_keys WHERE organisation_id = ? AND id = ANY (?::uuid[])
     UNION ALL SELECT 'user', id::text, coalesce(nullif(concat_ws(' ', first_name, last_name), ''), email) FROM users WHERE organisation_id = ? AND id = ANY (?::uuid[])
     UNION ALL (SELECT DISTINCT ON (workspace_id, slug) 'provider', workspace_id || '/' || slug, name FROM providers
                 WHERE organisation_id = ? AND slug = ANY (?::text[]) ORDER BY workspace_id, slug, status = 'archived', created_at DESC)`,
    [organisationId, keys ?? '{}', organisationId, users ?? '{}', organisationId, slugs ?? '{}'],
  )
  const names = new Map(named.map(({ kind, id, name }) => [`${kind}/${id}`, name]))
  return rows.map((row) =>
    Object.assign(row, {
      api_key_name: names.get(`key/${row.api_key_id}`) ?? null,
      user_name: names.get(`user/${row.user_id ?? ''}`) ?? null,
      provider_name: names.get(`provider/${row.workspace_id ?? ''}/${row.provider_slug ?? ''}`) ?? null,
    }),
  )
}

/** Returns the different values as the text of an array. */
function known(values: readonly (string | null)[]): string {
  return arrayText([...new Set(values.filter((value) => value !== null))])
}
