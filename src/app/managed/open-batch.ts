import type { LogSeal } from '../../gateway/ports/journal.ts'
import type { OpenBatch } from '../../gateway/ports/managed.ts'
import { openOptions } from './batch-seals.ts'

/** A batch whose lines run, as its columns are read. */
export interface OpenRow {
  readonly id: string
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly api_key_id: string
  readonly endpoint: string
  readonly input_file_id: string
  readonly client_address: string
  readonly options: Buffer
  readonly expires_ms: number
}

export const openColumns = `id, organisation_id, workspace_id, api_key_id, endpoint, input_file_id, client_address, options,
  (extract(epoch FROM expires_at) * 1000)::float8 AS expires_ms`

export const toOpen = (seal: LogSeal, row: OpenRow): OpenBatch => ({
  id: row.id,
  organisationId: row.organisation_id,
  workspaceId: row.workspace_id,
  apiKeyId: row.api_key_id,
  endpoint: row.endpoint,
  inputFileId: row.input_file_id,
  clientAddress: row.client_address,
  headers: openOptions(seal, { id: row.id, scope: { organisationId: row.organisation_id } }, row.options).headers,
  expiresAt: row.expires_ms,
})
