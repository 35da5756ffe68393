import { z } from 'zod'
import type { StoredCredentials } from '../../gateway/ports/checks.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { anyOf, byReference, usualLimits, type Views } from '../../app/snapshot/view.ts'
import { pluginPlace } from './plugin.entity.ts'

const query = `
  SELECT p.id, p.organisation_id AS "organisationId", p.base_url AS "baseUrl", p.credentials
    FROM plugins p
   WHERE p.organisation_id = $1 AND (p.workspace_id IS NULL OR p.workspace_id = $2) AND p.plugin = $3 AND p.status = 'active'
   ORDER BY p.workspace_id NULLS LAST
   LIMIT 1`

/** The credentials of a partner as they are stored. */
export interface SealedPlugin {
  readonly id: string
  readonly organisationId: string
  readonly baseUrl: string | null
  readonly credentials: Uint8Array
}

/** The credentials of a partner that a scope sees: its workspace's, else its organisation's. Any later row may come before the one found. */
export const pluginView: Views['pluginCredentials'] = {
  limits: usualLimits,
  tables: ['plugins'],
  anyOf: ['plugins'],
  key: byReference,
  find: ({ organisationId, workspaceId }, plugin, { vault, opened }) => ({
    async read(ask) {
      const [row] = await ask<SealedPlugin>({ name: 'plugin', text: query, values: [organisationId, workspaceId, plugin] })
      if (row === undefined) return null
      const view = await opened(plugin, () => openPlugin(row, vault))
      return { view, dependsOn: [anyOf('plugins'), row.id, row.organisationId], until: Infinity }
    },
  }),
}

const held = z.record(z.string(), z.unknown())

/** Opens the credentials of a partner. Throws ApiError `sealed` without the encryption key. */
export async function openPlugin(row: SealedPlugin, vault: Vault): Promise<StoredCredentials> {
  const text = await vault.decrypt(pluginPlace(row), row.credentials)
  return { fields: held.parse(JSON.parse(text)), baseUrl: row.baseUrl }
}
