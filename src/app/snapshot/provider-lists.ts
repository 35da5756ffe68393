import type { Pool } from 'pg'
import type { ListedProvider, ProviderScope } from '../../gateway/ports.ts'
import type { Loaded } from './view-cache.ts'

/** What every list depends on beside its rows: a provider that was made since is in none of them. */
export const anyProvider = 'any provider'

/** More providers than anybody chooses from. */
const maxProviders = 1000

const listed = `
  SELECT p.id, p.slug, p.integration_id AS "integrationId",
         coalesce((SELECT json_agg(m.slug ORDER BY m.slug) FROM integration_models m WHERE m.integration_id = i.id AND m.enabled), '[]') AS models
    FROM providers p
    JOIN integrations i ON i.id = p.integration_id
   WHERE p.organisation_id = $1 AND p.workspace_id = $2 AND p.status <> 'archived' AND i.status = 'active'
   ORDER BY p.slug
   LIMIT ${maxProviders}`

interface ListedRow extends ListedProvider {
  readonly id: string
  readonly integrationId: string
}

/** Reads the providers of a workspace, with the models that are said to be enabled. */
export async function readProviderList(
  pool: Pool,
  { organisationId, workspaceId }: ProviderScope,
): Promise<Loaded<readonly ListedProvider[]>> {
  const { rows } = await pool.query<ListedRow>({ name: 'provider-list', text: listed, values: [organisationId, workspaceId] })
  return {
    view: rows.map(({ slug, models }) => ({ slug, models })),
    dependsOn: [anyProvider, ...new Set(rows.flatMap(({ id, integrationId }) => [id, integrationId]))],
    until: Infinity,
  }
}
