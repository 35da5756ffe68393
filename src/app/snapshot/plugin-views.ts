import type { Pool } from 'pg'
import { z } from 'zod'
import type { StoredCredentials } from '../../gateway/checks/check.ts'
import type { ProviderScope } from '../../gateway/ports.ts'
import type { Vault } from '../secrets/vault.ts'
import { pluginPlace } from './sealed-texts.ts'
import type { Loaded } from './view-cache.ts'

/** What every view depends on beside its row: a workspace's credentials go before those of the organisation. */
export const anyPlugin = 'any plugin'

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

/** Reads the credentials of a partner that this scope sees: its workspace's, else its organisation's. */
export async function readPlugin(pool: Pool, { organisationId, workspaceId }: ProviderScope, plugin: string) {
  const { rows } = await pool.query<SealedPlugin>({ name: 'plugin', text: query, values: [organisationId, workspaceId, plugin] })
  const [row] = rows
  return row === undefined ? null : { open: (vault: Vault) => load(row, vault) }
}

const load = async (row: SealedPlugin, vault: Vault): Promise<Loaded<StoredCredentials>> => ({
  view: await openPlugin(row, vault),
  dependsOn: [anyPlugin, row.id, row.organisationId],
  until: Infinity,
})

const held = z.record(z.string(), z.unknown())

/** Opens the credentials of a partner. Throws ApiError `sealed` without the encryption key. */
export async function openPlugin(row: SealedPlugin, vault: Vault): Promise<StoredCredentials> {
  const text = await vault.decrypt(pluginPlace(row), row.credentials)
  return { fields: held.parse(JSON.parse(text)), baseUrl: row.baseUrl }
}
