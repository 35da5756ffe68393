import { compileConfig, gatewayConfig } from '../../gateway/ports/configs.ts'
import type { ConfigView } from '../../gateway/ports.ts'
import { withPatterns } from '../../gateway/ports/patterns.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { byReference, documentLimits, type Views } from '../../app/snapshot/view.ts'
import { type LoadedView, weightOf } from '../../app/snapshot/view-cache.ts'
import { configPlace } from './config.entity.ts'

interface ConfigRow {
  readonly id: string
  readonly slug: string
  readonly organisationId: string
  readonly workspaceId: string
  readonly versionId: string
  readonly version: number
  readonly config: Buffer
}

const columns = `
  SELECT c.id, c.slug, c.organisation_id AS "organisationId", c.workspace_id AS "workspaceId", v.id AS "versionId", v.version, v.config
    FROM configs c
    JOIN config_versions v ON v.id = c.version_id
    JOIN workspaces w ON w.id = c.workspace_id
    JOIN organisations o ON o.id = c.organisation_id
   WHERE c.organisation_id = $1 AND ($2::uuid IS NULL OR c.workspace_id = $2)
     AND c.status = 'active' AND w.status = 'active' AND o.status = 'active'`
const queries = {
  id: { name: 'config-by-id', text: `${columns} AND c.id = $3` },
  slug: { name: 'config-by-slug', text: `${columns} AND c.slug = $3` },
}

/** The config that a scope sees under a slug or id. */
export const configView: Views['config'] = {
  limits: documentLimits,
  tables: ['configs'],
  key: byReference,
  find: ({ organisationId, workspaceId }, reference, { vault, opened }) => ({
    async read(ask) {
      const query = isUuid(reference) ? queries.id : queries.slug
      const [row] = await ask<ConfigRow>({ ...query, values: [organisationId, workspaceId, reference] })
      return row === undefined ? null : opened(reference, () => openConfig(row, vault))
    },
  }),
}

async function openConfig(row: ConfigRow, vault: Vault): Promise<LoadedView<ConfigView>> {
  const text = await vault.decrypt(configPlace({ id: row.versionId, organisationId: row.organisationId }), row.config)
  const { organisationId: owner } = row
  const { result: active, bytes } = await withPatterns({ owner, stored: true }, () =>
    compileConfig(gatewayConfig.parse(JSON.parse(text)), row.id),
  )
  return {
    view: { id: row.id, slug: row.slug, version: row.version, active },
    dependsOn: [row.id, row.workspaceId, owner],
    until: Infinity,
    weight: weightOf(text, bytes),
    owner,
  }
}
