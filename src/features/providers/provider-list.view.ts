import { anyOf, documentLimits, type Views } from '../../app/snapshot/view.ts'
import type { ListedProvider } from '../../gateway/ports.ts'

/** More providers than any request chooses from. */
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

/** The providers of a workspace, with their enabled models. An admin key has no workspace, and calls no provider. */
export const providerListView: Views['providers'] = {
  limits: documentLimits,
  tables: [],
  anyOf: ['providers'],
  key: ({ workspaceId }) => workspaceId,
  find: ({ organisationId, workspaceId }) => ({
    async read(ask) {
      const rows = await ask<ListedRow>({ name: 'provider-list', text: listed, values: [organisationId, workspaceId] })
      return {
        view: rows.map(({ slug, models }) => ({ slug, models })),
        dependsOn: [anyOf('providers'), ...new Set(rows.flatMap(({ id, integrationId }) => [id, integrationId]))],
        until: Infinity,
      }
    },
  }),
}
