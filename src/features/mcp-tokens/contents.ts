import { z } from 'zod'
import type { Place, Vault } from '../../app/secrets/vault.ts'

const client = z.object({
  clientId: z.string(),
  clientSecret: z.string().nullable(),
  authMethod: z.enum(['client_secret_basic', 'client_secret_post', 'none']),
})

const contents = z.object({
  accessToken: z.string(),
  /** Null: the tokens are asked for anew, or cannot be renewed. */
  refresh: z
    .object({
      token: z.string(),
      tokenEndpoint: z.string(),
      resource: z.string().nullable(),
      client,
    })
    .nullable(),
})

/** The secrets of a grant. */
export type GrantContents = z.output<typeof contents>

interface GrantRow {
  readonly id: string
  readonly organisationId: string
}

const placeOf = ({ id, organisationId }: GrantRow): Place => ({ organisationId, table: 'mcp_grants', column: 'contents', rowId: id })

/** Seals the secrets of a grant. */
export const sealContents = async (vault: Vault, row: GrantRow, given: GrantContents): Promise<Buffer> =>
  Buffer.from(await vault.encrypt(placeOf(row), JSON.stringify(given)))

/** Opens the secrets of a grant. Throws ApiError `sealed` without the encryption key. */
export const openContents = async (vault: Vault, row: GrantRow, sealed: Uint8Array): Promise<GrantContents> =>
  contents.parse(JSON.parse(await vault.decrypt(placeOf(row), sealed)))
