import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { Actor } from '../../app/route.ts'
import { findProvider, secretFields } from '../../gateway/ports/providers.ts'
import { keyField } from '../../gateway/ports/secrets.ts'
import { ApiError } from '../../lib/errors.ts'
import { textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'
import { demandScope } from '../workspaces/index.ts'
import type { SecretReference } from './secret-reference.entity.ts'
import { findReference } from './secret-references.ts'

const mapping = z
  .strictObject({
    target_field: textField(255).min(1).meta({
      description:
        'The field for the secret: `key`, or `configurations.` with a field of the credential, such as `configurations.aws_secret_access_key`.',
    }),
    secret_reference_id: textField(255).min(1).meta({ description: 'Id or slug of the secret reference.' }),
    secret_key: textField(255)
      .min(1)
      .nullable()
      .optional()
      .meta({ description: "The field of the secret, in place of the reference's own." }),
    value_format: z.enum(['json', 'string']).nullable().optional().meta({
      description: '`json`: the value has to be a JSON object, such as a service account. `string` otherwise.',
    }),
  })
  .meta({ id: 'SecretMapping', description: 'A field of a credential whose value is a secret of an external manager.' })

export type GivenMapping = z.output<typeof mapping>

/** A mapping as it is stored; the field has no prefix. */
export interface StoredMapping {
  readonly target_field: string
  readonly secret_reference_id: string
  readonly secret_key: string | null
  readonly value_format: 'json' | 'string' | null
}

/** The field of integrations and virtual keys. */
export const secretMappings = since(
  '1.12.0',
  z.array(mapping).max(20).nullable().optional().meta({
    description: 'Fields of the credential that are read from external secret managers at run time. The list replaces the one before.',
  }),
)

export const secretMappingsView = z.array(mapping)

const prefix = 'configurations.'

/** Mappings as they are answered. */
export const presentMappings = (stored: readonly StoredMapping[]) =>
  stored.map((one) => ({ ...one, target_field: one.target_field === keyField ? keyField : prefix + one.target_field }))

/** Fields that are no secrets and no addresses, and are often kept beside secrets in managers. */
const others: ReadonlySet<string> = new Set([
  'aws_access_key_id',
  'aws_role_arn',
  'aws_external_id',
  'azure_entra_client_id',
  'azure_entra_tenant_id',
  'azure_managed_client_id',
  'azure_workload_client_id',
  'oracle_tenancy',
  'oracle_user',
  'oracle_fingerprint',
  'oracle_compartment_id',
  'openai_organization',
  'openai_project',
])

interface Mapping {
  readonly aiProviderId: string
  /** The workspace of the integration; null: the organisation's. */
  readonly workspaceId: string | null
}

/**
 * Checks mappings: that each field is one whose value may come from elsewhere (none that decides where requests go), that the caller may
 * use each reference, and so may the workspace. AB01, AB03 or AB08 name the field.
 */
export async function resolveMappings(
  em: EntityManager,
  actor: Actor,
  { given, aiProviderId, workspaceId }: Mapping & { readonly given: readonly GivenMapping[] },
): Promise<readonly StoredMapping[]> {
  if (given.length === 0) return []
  demandScope(actor, 'secret_references.read')
  const known = Object.keys(findProvider(aiProviderId)?.fields ?? {})
  const stored: StoredMapping[] = []
  for (const [at, one] of given.entries()) {
    const place = `secret_mappings[${at}]`
    const param = `${place}.target_field`
    const field = mappedField(one.target_field, { known, param })
    if (stored.some(({ target_field: taken }) => taken === field)) throw new ApiError('AB01', `${param} is mapped twice.`, { param })
    const named = `${place}.secret_reference_id`
    const row = await findReference(em, actor, { reference: one.secret_reference_id, lock: 'hold', param: named })
    demandShared(row, workspaceId, named)
    stored.push({
      target_field: field,
      secret_reference_id: row.id,
      secret_key: one.secret_key ?? null,
      value_format: one.value_format ?? null,
    })
  }
  return stored
}

/** Returns a field without its prefix. AB01 unless its value may come from elsewhere. */
function mappedField(given: string, { known, param }: { readonly known: readonly string[]; readonly param: string }): string {
  const field = given.startsWith(prefix) ? given.slice(prefix.length) : given
  if (field === keyField) return field
  if (known.includes(field) && (secretFields.has(field) || others.has(field))) return field
  throw new ApiError('AB01', `${param} is no field of this provider that can come from a secret manager.`, { param })
}

function demandShared(row: SecretReference, workspaceId: string | null, param: string): void {
  if (workspaceId === null || row.allowAllWorkspaces || row.allowedWorkspaces.includes(workspaceId)) return
  throw new ApiError('AB03', `The workspace may not use the secret reference "${row.slug}" (allowed_workspaces).`, { param })
}
