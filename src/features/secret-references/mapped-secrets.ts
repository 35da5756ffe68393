import { hash } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { Vault } from '../../app/secrets/vault.ts'
import { isBuiltWith } from '../../config/version.ts'
import type { ManagerType, MappedSecret, SecretReference as Reference } from '../../gateway/ports/secrets.ts'
import type { AuthConfig } from './auth-config.ts'
import { authPlace, type SecretReference } from './secret-reference.entity.ts'

const flatTexts = z.record(z.string(), z.string())

interface SealedAuth {
  readonly id: string
  readonly organisationId: string
  readonly authConfig?: Uint8Array | null | undefined
}

/** Opens the sign-in of a reference. Throws ApiError `sealed` without the encryption key. */
export async function openAuth(row: SealedAuth, vault: Vault): Promise<AuthConfig> {
  if (!row.authConfig) return {}
  return flatTexts.parse(JSON.parse(await vault.decrypt(authPlace(row), row.authConfig)))
}

/** Returns a reference as the gateway reads it. */
export function toReference(
  row: Pick<SecretReference, 'id' | 'organisationId' | 'slug' | 'managerType' | 'secretPath' | 'secretVersion' | 'secretKey'>,
  auth: AuthConfig,
): Reference {
  const { id, organisationId, slug, managerType: manager, secretPath: path } = row
  const version = row.secretVersion ?? null
  const entries = Object.entries(auth).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const fingerprint = hash('sha256', JSON.stringify([organisationId, manager, entries, path, version]), 'base64url')
  return { id, organisationId, slug, manager, auth, path, version, secretKey: row.secretKey ?? null, fingerprint }
}

/** A mapping with its reference, as `mappedSecretsColumn` reads it. */
export interface SealedMapping {
  readonly field: string
  readonly secretKey: string | null
  readonly format: string | null
  readonly id: string
  readonly slug: string
  readonly manager: ManagerType
  /** Base64. */
  readonly auth: string
  readonly path: string
  readonly version: string | null
  readonly referenceKey: string | null
  readonly all: boolean
  readonly workspaces: readonly string[]
}

/** The tables of references. */
const tables = { since: '1.12.0' }

/** The column that gives the mapped secrets of the integrations of this alias as JSON; null: it has none. A build before them has no tables of them. */
export const mappedSecretsColumn = (alias: string): string =>
  isBuiltWith(tables.since)
    ? `(SELECT json_agg(json_build_object('field', m ->> 'target_field', 'secretKey', m ->> 'secret_key', 'format', m ->> 'value_format',
                'id', r.id, 'slug', r.slug, 'manager', r.manager_type, 'auth', encode(r.auth_config, 'base64'), 'path', r.secret_path,
                'version', r.secret_version, 'referenceKey', r.secret_key, 'all', r.allow_all_workspaces, 'workspaces', r.allowed_workspaces))
          FROM jsonb_array_elements(${alias}.secret_mappings) m
          JOIN secret_references r ON r.id = (m ->> 'secret_reference_id')::uuid AND r.organisation_id = ${alias}.organisation_id AND r.status = 'active')`
    : 'NULL::json'

/** Returns the mapped secrets of an integration, for one who has it at hand. */
export async function readMappings(em: EntityManager, integrationId: string): Promise<readonly SealedMapping[] | null> {
  const [row] = await em.execute<{ mapped: readonly SealedMapping[] | null }[]>(
    `SELECT ${mappedSecretsColumn('i')} AS mapped FROM integrations i WHERE i.id = ?`,
    [integrationId],
  )
  return row?.mapped ?? null
}

interface MappingContext {
  readonly organisationId: string
  /** The workspace of the provider that uses it; null: the organisation itself looks. */
  readonly workspaceId: string | null
}

/** Opens mappings, as the gateway uses them; null: there are none. */
export async function openMappings(
  mappings: readonly SealedMapping[] | null,
  { organisationId, workspaceId }: MappingContext,
  vault: Vault,
): Promise<readonly MappedSecret[] | null> {
  if (mappings === null) return null
  const opened = mappings.map(
    async ({ field, secretKey, format, id, slug, manager, path, version, referenceKey, all, workspaces, auth }) => ({
      field,
      secretKey,
      format: format === 'json' ? ('json' as const) : ('string' as const),
      reference: toReference(
        { id, organisationId, slug, managerType: manager, secretPath: path, secretVersion: version, secretKey: referenceKey },
        await openAuth({ id, organisationId, authConfig: Buffer.from(auth, 'base64') }, vault),
      ),
      allowed: all || workspaceId === null || workspaces.includes(workspaceId),
    }),
  )
  return Promise.all(opened)
}
