import { z } from 'zod'
import type { Vault } from '../../app/secrets/vault.ts'
import type { Credential } from '../../gateway/ports/providers.ts'
import type { MappedSecret } from '../../gateway/ports/secrets.ts'
import { openMappings, type SealedMapping } from '../secret-references/index.ts'
import { catalogueRow, splitSecrets, type Configurations } from './configurations.ts'
import { toFields } from './credential-fields.ts'

/** The columns of an integration that hold its credential. */
export interface SealedCredential {
  readonly id: string
  readonly organisationId: string
  readonly credential?: Uint8Array | null | undefined
  readonly configurations: Configurations
  readonly secretConfigurations?: Uint8Array | null | undefined
  /** Secrets of external managers, as `mappedSecretsColumn` reads them, and their user; null: the organisation itself looks. */
  readonly mapped?: { readonly secrets: readonly SealedMapping[] | null; readonly workspaceId: string | null }
}

/** A stored credential in the clear, with the host and the headers that are stored with it. */
export interface StoredCredential {
  readonly credential: Credential
  /** Fields whose values are in external secret managers; null: none. */
  readonly secrets: readonly MappedSecret[] | null
  readonly customHost: string | null
  readonly customHeaders: Readonly<Record<string, string>>
}

const place = ({ id, organisationId }: { readonly id: string; readonly organisationId: string }, column: string) => ({
  organisationId,
  table: 'integrations',
  column,
  rowId: id,
})

/** Opens an integration's credential, as the gateway uses it. Throws ApiError `sealed` without the encryption key. */
export async function loadCredential(row: SealedCredential, vault: Vault): Promise<StoredCredential> {
  const configurations = await openConfigurations(row, vault)
  const key = row.credential ? await vault.decrypt(place(row, 'credential'), row.credential) : null
  const { secrets, workspaceId } = row.mapped ?? { secrets: null, workspaceId: null }
  const context = { organisationId: row.organisationId, workspaceId }
  return { ...toStored(key, configurations), secrets: await openMappings(secrets, context, vault) }
}

/** Returns the target that a stored account is, for requests of our own. */
export const storedTarget = (
  aiProviderId: string,
  { credential, secrets, customHost, customHeaders }: StoredCredential,
  organisationId: string,
) => ({
  providerId: aiProviderId,
  provider: catalogueRow(aiProviderId, 'ai_provider_id'),
  view: null,
  credential,
  secrets,
  storedBy: organisationId,
  isCallers: false,
  customHost: customHost === null ? null : { url: customHost, param: 'configurations.custom_host' },
  customHeaders,
  namedBy: 'stored' as const,
  model: null,
  modelRewritten: false,
  skipsPtuCost: false,
})

/** A key and all configurations in the clear as the gateway uses them. */
export function toStored(key: string | null, configurations: Configurations): StoredCredential {
  const { custom_host: customHost, custom_headers: customHeaders } = hostAndHeaders.parse(configurations)
  return { credential: { key, fields: toFields(configurations) }, secrets: null, customHost, customHeaders }
}

const hostAndHeaders = z.object({
  custom_host: z.string().nullable().default(null),
  custom_headers: z.record(z.string(), z.string()).default({}),
})

/** All configurations of an integration, the secret ones too. */
export async function openConfigurations(row: SealedCredential, vault: Vault): Promise<Configurations> {
  return { ...row.configurations, ...(await openSecrets(row, vault)) }
}

async function openSecrets(row: SealedCredential, vault: Vault): Promise<Configurations> {
  if (!row.secretConfigurations) return {}
  const text = await vault.decrypt(place(row, 'secret_configurations'), row.secretConfigurations)
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text))
}

type Owner = Pick<SealedCredential, 'id' | 'organisationId'>

/** The key columns for a new key; null takes the key away. */
export async function sealKey(owner: Owner, key: string | null, vault: Vault) {
  if (key === null) return { credential: null, maskedKey: null }
  return { credential: Buffer.from(await vault.encrypt(place(owner, 'credential'), key)), maskedKey: maskKey(key) }
}

/** The configuration columns, the secret fields sealed. */
export async function sealConfigurations(owner: Owner, configurations: Configurations, vault: Vault) {
  const { open, secret } = splitSecrets(configurations)
  if (Object.keys(secret).length === 0) return { configurations: open, secretConfigurations: null }
  const sealed = await vault.encrypt(place(owner, 'secret_configurations'), JSON.stringify(secret))
  return { configurations: open, secretConfigurations: Buffer.from(sealed) }
}

/** Enough of a long key to recognise it, and no character of a short one. */
const maskKey = (key: string): string => (key.length < 20 ? '********' : `${key.slice(0, 3)}********${key.slice(-4)}`)
