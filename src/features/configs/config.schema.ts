import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { gatewayConfig } from '../../gateway/ports/configs.ts'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField, slugField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'

/** The sort orders of the list. */
export const versionSorts = { version: 'version' }

/** 0 and 1, as older clients write it, or a boolean. */
const flag = z.union([z.literal([0, 1]), z.boolean()]).transform(Boolean)

/** Clients that write all names in snake case send it so. */
const sameDefault = flag.optional().meta({ description: 'Another name of `isDefault`, which counts before it.' })

/** A config is read for every request that uses it, and held in memory. */
const maxConfigBytes = 128 * 1024

/** Returns the fault of a config that is too large to be stored; null: it is not. */
export const tooLarge = (given: unknown): string | null =>
  Buffer.byteLength(JSON.stringify(given) ?? '') <= maxConfigBytes ? null : `A config is at most ${maxConfigBytes / 1024} KiB of JSON.`

/** One that is too large is looked at no further: it may hold very many patterns. */
const config = z.preprocess((given, context) => {
  const fault = tooLarge(given)
  if (fault === null) return given
  context.addIssue({ code: 'custom', message: fault })
  return z.NEVER
}, gatewayConfig)

export const createConfigBody = z
  .strictObject({
    name: nameField,
    config,
    isDefault: flag.optional().meta({ description: 'Whether keys of the workspace that name no config start from this one.' }),
    is_default: sameDefault,
    slug: slugField.optional(),
    workspace_id: z.string().min(1).max(255).optional(),
  })
  .meta({ id: 'CreateConfig', description: 'A new gateway config.' })

export const updateConfigBody = z
  .strictObject({
    name: nameField.optional(),
    config: config.optional(),
    isDefault: flag.optional(),
    is_default: sameDefault,
    status: z.enum(['active', 'archived']).optional(),
  })
  .meta({ id: 'UpdateConfig', description: 'The changes; a given config becomes a new version.' })

export type UpdateConfig = z.output<typeof updateConfigBody>

export const configParams = z.object({ slug: z.string() })
export const configFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at', defaultSize: 100 }),
  search: searchField('the name or the slug'),
  workspace_id: z.string().optional(),
  name: textField(255).optional().meta({ description: 'Part of the name, in any case.' }),
})
export const configRead = z.object(usedByQuery)
export const versionFilter = z.object(listFields({ sorts: versionSorts, sort: '-version', defaultSize: 100 }))

const fields = {
  id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid(),
  is_default: z.int(),
  status: z.enum(['active', 'archived']),
  owner_id: z.uuid().nullable(),
  updated_by: z.uuid().nullable(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
}

const success = z.literal(true)

const created = { id: z.uuid(), version_id: z.uuid(), slug: z.string(), object: z.literal('config') }

/** Some clients read the fields below `data`, others at the top. */
export const createdConfig = z
  .object({ success, data: z.object(created), ...created })
  .meta({ id: 'CreatedConfig', description: 'Which config it is, and its first version.' })

export const updatedConfig = z
  .object({ success, data: z.object({ version_id: z.uuid(), object: z.literal('config') }) })
  .meta({ id: 'UpdatedConfig', description: 'The version that counts now.' })

const configSummary = z
  .object({ ...fields, object: z.literal('config') })
  .meta({ id: 'ConfigSummary', description: 'A config without its content.' })

export const configList = listOf(configSummary)
  .extend({ success })
  .meta({ id: 'ConfigList', description: 'Configs of a workspace, newest first.' })

export const configView = z
  .object({
    success,
    data: z.object({
      ...fields,
      version_id: z.uuid(),
      config: z.record(z.string(), z.unknown()).meta({ description: 'The config; credentials show as `********`.' }),
      ...usedByField,
      object: z.literal('config'),
    }),
  })
  .meta({ id: 'Config', description: 'A config with its content, without its credentials.' })

export const configVersionList = listOf(
  z.object({
    ...fields,
    version_id: z.uuid(),
    version: z.int(),
    config: z.string().meta({ description: 'The config as JSON; credentials show as `********`.' }),
    format: z.literal('json'),
    type: z.literal('ORG_CONFIG'),
    object: z.literal('config'),
  }),
).meta({ id: 'ConfigVersionList', description: 'The versions of a config, newest first.' })
