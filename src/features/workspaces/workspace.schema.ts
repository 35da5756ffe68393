import { z } from 'zod'
import { accessOverrides, accessOverridesView } from '../../lib/access/access-settings.ts'
import { toReference } from '../../lib/is-uuid.ts'
import { metadataField } from '../../lib/metadata.ts'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField, slugField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'
import { rateLimits, rateLimitsView, usageLimitsList, usageLimitsListShown, usageShown } from '../limits/index.ts'
import { since, whileOn } from '../../release/since.ts'
import { memberView } from './member.schema.ts'

const statuses = ['active', 'archived'] as const

const statusFilter = since(
  '1.11.2',
  z
    .string()
    .transform((text) => text.split(',').map((status) => status.trim()))
    .pipe(z.array(z.enum(statuses)).min(1)),
)
  .prefault('active')
  .meta({
    description:
      'Comma-separated: active, archived. Archived ones are shown to organisation keys, and to owners and admins of the organisation.',
  })

/** The filters of the list of workspaces. */
export const workspaceFilterQuery = z.object({
  ...listFields({ sorts: usualSorts, sort: 'created_at' }),
  search: searchField('the name or the slug'),
  name: textField(255).optional().meta({ description: 'Part of the name, in any case.' }),
  exact_name: textField(255).optional(),
  status: statusFilter,
})

export const workspaceParams = z.object({ workspaceId: z.string() })

const reference = z.string().min(1).max(255).overwrite(toReference)

const guardrails = whileOn('GUARDRAILS_ENABLED', z.array(reference).max(100).nullable().optional())

/** The defaults of every request in a workspace. */
const defaults = z.strictObject({
  metadata: metadataField.nullable().optional(),
  input_guardrails: guardrails,
  output_guardrails: guardrails,
  user_api_key_config: reference.nullable().optional(),
})

export type WorkspaceDefaults = z.output<typeof defaults>

const resetUsage = z.boolean().optional().meta({ description: 'True: the usage of the workspace counts from 0 again.' })

const optionalFields = {
  description: textField(10_000).nullable().optional(),
  icon: textField(64).nullable().optional().meta({ description: 'The icon of the workspace in lists, such as an emoji; empty clears it.' }),
  defaults: defaults.nullable().optional(),
  usage_limits: usageLimitsList,
  rate_limits: rateLimits.nullable().optional(),
  log_retention_days: z.int().min(1).max(3650).nullable().optional().meta({
    description:
      'Days after which the logs of the workspace are deleted: fewer than LOG_RETENTION_DAYS of the installation. Null: as many.',
  }),
  access_overrides: accessOverrides.nullable().optional(),
}

export const createWorkspaceBody = z
  .strictObject({
    name: nameField,
    slug: slugField.optional(),
    users: z.array(z.string().max(320)).max(1000).optional().meta({ description: 'Ids or e-mail addresses; they become members.' }),
    ...optionalFields,
  })
  .meta({ id: 'CreateWorkspace', description: 'A new workspace.' })

export const updateWorkspaceBody = z.strictObject({ name: nameField.optional(), reset_usage: resetUsage, ...optionalFields }).meta({
  id: 'UpdateWorkspace',
  description: 'The fields to change. Absent fields stay as they are, null clears a field. Defaults and overrides change field by field.',
})

export type UpdateWorkspace = z.output<typeof updateWorkspaceBody>

export const deleteWorkspaceBody = z
  .strictObject({
    name: z.string().optional().meta({ description: 'The name of the workspace, when given, must be right.' }),
    force_delete: z.boolean().default(false).meta({ description: 'True deletes the contents of the workspace too.' }),
    workspaceId: z.string().optional().meta({ description: 'As in the path.' }),
  })
  .default({ force_delete: false })
  .meta({ id: 'DeleteWorkspace', description: 'Whether a workspace with something in it may go.' })

const fields = {
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  icon: z.string().nullable(),
  status: z.enum(statuses),
  is_default: z.int(),
  defaults: z.record(z.string(), z.unknown()),
  usage_limits: usageLimitsListShown,
  usage: usageShown,
  rate_limits: rateLimitsView,
  log_retention_days: z.int().nullable().meta({ description: 'Null: its logs are kept as long as the installation keeps any.' }),
  access_overrides: accessOverridesView,
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  object: z.literal('workspace'),
}

/** A workspace as lists answer it. */
export const workspaceView = z
  .object(fields)
  .meta({ id: 'Workspace', description: "A team's or an application's part of an organisation." })

/** A workspace with its members. */
export const workspaceWithUsers = z
  .object({ ...fields, users: z.array(memberView) })
  .meta({ id: 'WorkspaceWithUsers', description: 'A workspace with its members.' })

export const workspaceList = listOf(workspaceView).meta({ id: 'WorkspaceList', description: 'Workspaces, oldest first.' })
