import { z } from 'zod'
import { idsFilter } from '../../lib/ids-filter.ts'
import { toReference } from '../../lib/is-uuid.ts'
import { metadataField } from '../../lib/metadata.ts'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'
import { scopeReleases } from '../../lib/access/scopes.ts'
import { valuesSince } from '../../release/since.ts'
import {
  boundedByField,
  keyRateLimits,
  keyUsageLimitsField,
  keyUsageLimitsShown,
  lastUseFields,
  rateLimitsView,
  statusesField,
  usageShown,
} from '../limits/index.ts'

/** Half an hour: clients need that long to take up a new key. */
export const minTransitionMs = 1_800_000
const maxTransitionMs = 365 * 24 * 60 * 60 * 1000

const transition = z.int().min(minTransitionMs).max(maxTransitionMs)
const moment = z.iso.datetime({ offset: true })

const defaults = z.strictObject({
  metadata: metadataField.nullable().optional(),
  config_id: textField(255).overwrite(toReference).nullable().optional(),
  allow_config_override: z.boolean().nullable().optional(),
})

export type KeyDefaultsChange = z.output<typeof defaults>

const rotationPolicy = z.strictObject({
  rotation_period: z.enum(['weekly', 'monthly']).nullable().default(null),
  next_rotation_at: moment.nullable().default(null),
  key_transition_period_ms: transition.nullable().default(null),
})

const optionalFields = {
  description: textField(10_000).nullable().optional(),
  rate_limits: keyRateLimits.nullable().optional(),
  usage_limits: keyUsageLimitsField,
  defaults: defaults.nullable().optional(),
  alert_emails: z.array(z.email()).max(50).nullable().optional(),
  expires_at: moment.nullable().optional(),
  rotation_policy: rotationPolicy.nullable().optional(),
}

const scopes = z
  .array(valuesSince(scopeReleases, z.string().max(100)))
  .min(1)
  .max(500)
  .transform((list) => [...new Set(list)])

export const createApiKeyBody = z
  .strictObject({
    name: nameField,
    scopes,
    organisation_id: z.uuid().optional(),
    workspace_id: z.string().min(1).max(255).optional(),
    user_id: z.uuid().optional().meta({ description: 'The owner of a user key; given by managers, admins and service keys.' }),
    type: z.string().optional().meta({ description: 'As in the path.' }),
    'sub-type': z.string().optional().meta({ description: 'As in the path.' }),
    ...optionalFields,
  })
  .meta({ id: 'CreateApiKey', description: 'A new API key.' })

export type CreateApiKey = z.output<typeof createApiKeyBody>

export const updateApiKeyBody = z
  .strictObject({
    name: nameField.optional(),
    scopes: scopes.optional(),
    reset_usage: z.boolean().optional(),
    id: z.string().optional().meta({ description: 'As in the path.' }),
    ...optionalFields,
  })
  .meta({
    id: 'UpdateApiKey',
    description: 'The fields to change. Absent fields stay as they are, null clears a field. `defaults` change field by field.',
  })

export type UpdateApiKey = z.output<typeof updateApiKeyBody>

export const rotateApiKeyBody = z.strictObject({ key_transition_period_ms: transition.optional() }).default({}).meta({
  id: 'RotateApiKey',
  description:
    'How long the old secret stays valid; by default that of the rotation policy, else half an hour. One that is still valid from an earlier rotation ends at once.',
})

export const apiKeyKindParams = z.object({ type: z.enum(['organisation', 'workspace']), subType: z.enum(['user', 'service']) })
export const apiKeyParams = z.object({ id: z.string() })
export const apiKeyFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at' }),
  search: searchField('the name'),
  status: statusesField,
  workspace_id: z.string().optional(),
  ids: idsFilter('ids'),
})

export const createdApiKey = z
  .object({ id: z.uuid(), key: z.string(), object: z.literal('api-key') })
  .meta({ id: 'CreatedApiKey', description: 'The only answer that ever holds the secret.' })

export const rotatedApiKey = z
  .object({ id: z.uuid(), key: z.string(), key_transition_expires_at: z.iso.datetime() })
  .meta({ id: 'RotatedApiKey', description: 'The new secret, and until when the old one stays valid.' })

export const apiKeyView = z
  .object({
    id: z.uuid(),
    key: z.string().meta({ description: 'A hint; the secret is shown once, when it is made.' }),
    name: z.string(),
    description: z.string().nullable(),
    type: z.enum(['organisation-service', 'workspace-service', 'workspace-user']),
    organisation_id: z.uuid(),
    workspace_id: z.uuid().nullable(),
    user_id: z.uuid().nullable(),
    status: z.enum(['active', 'exhausted', 'expired', 'archived']),
    creation_mode: z.enum(['ui', 'api', 'auto']),
    scopes: z.array(valuesSince(scopeReleases, z.string())),
    defaults: z.record(z.string(), z.unknown()),
    rate_limits: rateLimitsView.nullable(),
    usage_limits: keyUsageLimitsShown,
    usage: usageShown,
    bounded_by: boundedByField,
    ...lastUseFields,
    reset_usage: z.number().nullable(),
    alert_emails: z.array(z.string()),
    rotation_policy: z
      .object({
        rotation_period: z.string().nullable(),
        next_rotation_at: z.string().nullable(),
        key_transition_period_ms: z.number().nullable(),
      })
      .nullable(),
    expires_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    object: z.literal('api-key'),
  })
  .meta({ id: 'ApiKey', description: 'An API key, without its secret.' })

export const apiKeyList = listOf(apiKeyView).meta({ id: 'ApiKeyList', description: 'API keys, newest first.' })
