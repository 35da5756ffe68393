import { z } from 'zod'
import { accessSettingFields } from '../../lib/access/access-settings.ts'
import { allowedHostsField } from '../../lib/allowed-hosts.ts'
import { exportSettingsField } from '../../lib/access/export-settings.ts'
import { enforcedMetadataFields } from '../../lib/access/enforced-metadata.ts'
import { toReference } from '../../lib/is-uuid.ts'
import { listOf, listFields, usualSorts } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { sessionSettingsField } from '../../lib/access/session-settings.ts'
import { groupBasedProvisioningField } from '../../lib/access/provisioning-settings.ts'
import { tokenSettings } from '../../lib/access/token-settings.ts'
import { userKeyFields } from '../../lib/access/user-key-settings.ts'
import { since, whileOn } from '../../release/since.ts'

const settingsView: Readonly<Record<string, z.ZodType>> = accessSettingFields

/** An organisation as it is answered. */
export const organisationView = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    status: z.enum(['active', 'archived']),
    settings: z.looseObject(settingsView).meta({ description: 'Every setting with the value that counts.' }),
    defaults: z.record(z.string(), z.unknown()),
    log_retention_display: since('1.9.0', z.int().meta({ description: 'Days for which logs are kept, as LOG_RETENTION_DISPLAY says.' })),
    metrics_retention_display: since(
      '1.9.0',
      z.int().meta({ description: 'Days for which analytics are kept, as METRICS_RETENTION_DISPLAY states.' }),
    ),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    object: z.literal('organisation'),
  })
  .meta({ id: 'Organisation', description: 'A tenant: everything else belongs to one.' })

export const organisationList = listOf(organisationView).meta({
  id: 'OrganisationList',
  description: 'The organisations that the key may see: its own.',
})

export const organisationFilter = z.object(listFields({ sorts: usualSorts, sort: 'name' }))

export const organisationParams = z.object({ id: z.string() })

const reference = z.string().min(1).max(255).overwrite(toReference)
const guardrails = whileOn('GUARDRAILS_ENABLED', z.array(reference).max(100).nullable().optional())

const guardrailsView = whileOn('GUARDRAILS_ENABLED', z.array(z.string()))

/** Guardrails of every request in the organisation. */
export const defaultsBody = z
  .strictObject({ input_guardrails: guardrails, output_guardrails: guardrails })
  .meta({ id: 'OrganisationDefaults', description: 'Absent fields stay as they are, null clears a field.' })

export const defaultsView = z
  .object({ input_guardrails: guardrailsView, output_guardrails: guardrailsView })
  .meta({ id: 'OrganisationDefaultsView', description: 'The guardrails that every request of the organisation passes.' })

export const updateOrganisationBody = z
  .strictObject({
    name: nameField.optional(),
    settings: z
      .strictObject({
        ...accessSettingFields,
        ...userKeyFields,
        ...enforcedMetadataFields,
        allowed_custom_hosts: allowedHostsField,
        export_settings: exportSettingsField,
        group_based_user_provisioning: groupBasedProvisioningField,
        jwt: tokenSettings.nullable().optional(),
        session_settings: sessionSettingsField,
      })
      .nullable()
      .optional(),
    defaults: defaultsBody.nullable().optional(),
  })
  .meta({
    id: 'UpdateOrganisation',
    description: 'The fields to change. Settings and defaults change field by field. Absent fields stay as they are, null clears a field.',
  })
