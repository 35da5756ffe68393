import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { managerTypes, secretSteps } from '../../gateway/ports/secrets.ts'
import { listFields, listOf, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField, slugField } from '../../lib/text/slug.ts'
import { tags } from '../../lib/text/tags.ts'
import { textField } from '../../lib/text/text.ts'
import { secretField } from '../../lib/json/secret-fields.ts'
import { secretNames } from './auth-config.ts'

const signInText = z.string().max(20_000).nullable()

const authConfig = z
  .object(Object.fromEntries([...secretNames].map((name) => [name, secretField(signInText.optional())])))
  .catchall(signInText)
  .meta({
    description:
      'How Gatehouse signs in at the manager. `aws_sm`: `aws_auth_type` `accessKey`, `assumedRole` or `serviceRole`, with `aws_access_key_id`, `aws_secret_access_key`, `aws_session_token`, `aws_role_arn`, `aws_external_id`, `aws_region`. `azure_kv`: `azure_auth_mode` `entra`, `managed`, `workload` or `default`, with `azure_vault_url`, `azure_entra_tenant_id`, `azure_entra_client_id`, `azure_entra_client_secret` or `azure_entra_client_certificate`, `azure_managed_client_id`, `azure_workload_client_id`. `hashicorp_vault`: `vault_auth_type` `token`, `approle`, `kubernetes` or `jwt`, with `vault_addr`, `vault_namespace`, `vault_auth_mount`, `vault_token`, `vault_role_id`, `vault_secret_id`, `vault_role`, `vault_jwt`. It is stored encrypted; its secrets are never shown again.',
  })

const path = textField(1024)
  .min(1)
  .refine(
    (text) => !/^\s|\s$|[?#\\]/.test(text) && !text.split('/').some((part) => part === '..' || part === '.'),
    'This is not the path of a secret.',
  )
  .meta({
    description:
      'The secret: its name or ARN at `aws_sm`, its name at `azure_kv`, its path at `hashicorp_vault` (`secret/data/team` or `secret/team`).',
  })

const common = {
  description: textField(1024).nullable().optional(),
  secret_key: textField(255)
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'The field of a secret that is a JSON object; null: the whole secret.' }),
  secret_version: textField(255).min(1).nullable().optional().meta({
    description: 'A version: an id or a stage at `aws_sm`, an id at `azure_kv`, a number at `hashicorp_vault`. Null: always the latest.',
  }),
  allowed_workspaces: z.array(z.string().min(1).max(255)).min(1).max(1000).optional().meta({
    description:
      'Ids or slugs of the workspaces whose integrations and virtual keys may use it. Giving it sets `allow_all_workspaces` to false.',
  }),
  tags: tags.field.nullable().optional(),
}

export const createReferenceBody = z
  .strictObject({
    organisation_id: z.uuid().optional(),
    name: nameField,
    slug: slugField.optional(),
    manager_type: z.enum(managerTypes),
    auth_config: authConfig,
    secret_path: path,
    allow_all_workspaces: z.boolean().optional().meta({ description: 'True unless `allowed_workspaces` is given.' }),
    ...common,
  })
  .meta({ id: 'CreateSecretReference', description: 'A secret in an external manager.' })

export type CreateReference = z.output<typeof createReferenceBody>

export const updateReferenceBody = z
  .strictObject({
    name: nameField.optional(),
    auth_config: authConfig.optional(),
    secret_path: path.optional(),
    allow_all_workspaces: z.boolean().optional(),
    ...common,
  })
  .meta({
    id: 'UpdateSecretReference',
    description:
      'Absent fields stay. `auth_config` replaces the whole sign-in; a secret that is still `********` stays what it was, as long as the address stays too.',
  })

export type UpdateReference = z.output<typeof updateReferenceBody>

export const referenceParams = z.object({ secretReferenceId: z.string() })

export const referenceRead = z.object(usedByQuery)

export const referenceFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at', defaultSize: 20 }),
  search: searchField('the name or the slug'),
  manager_type: z.enum(managerTypes).optional(),
  tags: tags.filter.optional(),
})

export const referenceMade = z
  .object({ id: z.uuid(), slug: z.string(), object: z.literal('secret-reference') })
  .meta({ id: 'SecretReferenceMade', description: 'The new reference.' })

const readState = {
  last_fetched_at: z.iso.datetime().nullable().meta({ description: 'When the manager gave the secret last, to any process; null: never.' }),
  age_seconds: z.int().nullable().meta({ description: 'Seconds since then.' }),
  last_error: z
    .object({
      reason: z.enum(['away', 'denied', 'missing', 'odd']).meta({
        description:
          '`away`: not reached, late, sealed or overloaded; `denied`: the sign-in or the read is refused; `missing`: no such secret.',
      }),
      message: z.string(),
      failed_at: z.iso.datetime(),
      failing_since: z.iso.datetime(),
      serves_last_good: z.boolean().meta({ description: 'True while the value that was read last serves in its place.' }),
    })
    .nullable()
    .meta({ description: 'Null: the last question was answered.' }),
  used_by_count: z.int().meta({ description: 'The integrations and virtual keys that use it.' }),
}

const listed = {
  id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  manager_type: z.enum(managerTypes),
  status: z.literal('ACTIVE'),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  secret_path: z.string(),
  secret_key: z.string().nullable(),
  secret_version: z.string().nullable(),
  tags: tags.view,
  ...readState,
  object: z.literal('secret-reference'),
}

export const referenceList = listOf(
  z.object(listed).meta({ id: 'SecretReferenceItem', description: 'A secret in an external manager.' }),
).meta({
  id: 'SecretReferenceList',
  description: 'Secret references, the newest first.',
})

export const referenceView = z
  .object({
    ...listed,
    organisation_id: z.uuid(),
    description: z.string().nullable(),
    allow_all_workspaces: z.boolean(),
    allowed_workspaces: z.array(z.object({ id: z.uuid(), slug: z.string(), name: z.string() })),
    auth_config: z.record(z.string(), z.string()).meta({ description: 'Secrets are masked as `********`.' }),
    created_by: z.uuid().nullable(),
    ...usedByField,
  })
  .meta({ id: 'SecretReference', description: 'A secret in an external manager, without its value.' })

export const testReferenceBody = createReferenceBody
  .pick({ manager_type: true, auth_config: true, secret_path: true, secret_key: true, secret_version: true })
  .meta({ id: 'TestSecretReference', description: 'A secret reference that is stored nowhere.' })

export const referenceTest = z
  .object({
    object: z.literal('secret_reference_test'),
    passed: z.boolean(),
    steps: z.array(
      z.object({
        step: z.enum(secretSteps),
        status: z.enum(['passed', 'failed', 'skipped']),
        execution_time: z.number().nullable().meta({ description: 'Milliseconds.' }),
        message: z.string(),
        code: z.string().nullable(),
      }),
    ),
    fields: z.array(z.string()).nullable().meta({ description: 'The names of its fields, if it is a JSON object. No values.' }),
  })
  .meta({ id: 'SecretReferenceTest', description: 'The outcome of reading a secret now, past the memory. No answer shows a value.' })
