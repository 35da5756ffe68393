import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { checkList, guardrailActionChanges, newGuardrailActions } from '../../gateway/ports/checks.ts'
import { idsFilter } from '../../lib/ids-filter.ts'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField, slugField } from '../../lib/text/slug.ts'

/** Read for every request that it applies to, and held in memory. */
const maxChecksBytes = 256 * 1024

export const checks = checkList.refine(
  (given) => Buffer.byteLength(JSON.stringify(given)) <= maxChecksBytes,
  `The checks are at most ${maxChecksBytes / 1024} KiB of JSON.`,
)

export const createGuardrailBody = z
  .strictObject({
    name: nameField,
    checks,
    actions: newGuardrailActions,
    slug: slugField.optional(),
    workspace_id: z.string().min(1).max(255).optional().meta({
      description: 'The workspace it is for. A workspace key has one; an organisation key without it makes one for all workspaces.',
    }),
    organisation_id: z.uuid().optional(),
  })
  .meta({ id: 'CreateGuardrail', description: 'A new guardrail.' })

export const updateGuardrailBody = z
  .strictObject({
    name: nameField.optional(),
    checks: checks.optional(),
    actions: guardrailActionChanges.optional(),
    workspace_id: z.string().min(1).max(255).optional().meta({ description: 'The workspace it is in; it stays there.' }),
  })
  .meta({ id: 'UpdateGuardrail', description: 'The fields to change. Absent fields stay as they are.' })

export type UpdateGuardrail = z.output<typeof updateGuardrailBody>

export const guardrailParams = z.object({ guardrailId: z.string() })

export const guardrailFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at', defaultSize: 100 }),
  search: searchField('the name or the slug'),
  workspace_id: z.string().optional(),
  organisation_id: z.uuid().optional(),
  status: z.enum(['active', 'archived']).default('active'),
  ids: idsFilter('ids or slugs'),
})

/** The answer to creating or changing a guardrail: its id, its slug and its present version. */
export const guardrailReference = z
  .object({ id: z.uuid(), slug: z.string(), version_id: z.uuid() })
  .meta({ id: 'GuardrailReference', description: 'Which guardrail it is, and the version that counts now.' })

const fields = {
  id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid().nullable().meta({ description: 'Null: it belongs to the organisation.' }),
  status: z.enum(['active', 'archived']),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  owner_id: z.uuid().nullable(),
  updated_by: z.uuid().nullable(),
  object: z.literal('guardrail'),
}

export const guardrailSummary = z.object(fields).meta({ id: 'GuardrailSummary', description: 'A guardrail without its checks.' })

export const guardrailList = listOf(guardrailSummary).meta({ id: 'GuardrailList', description: 'Guardrails, newest first.' })

export const guardrailRead = z.object(usedByQuery)

export const guardrailView = z
  .object({
    ...fields,
    version_id: z.uuid(),
    checks: z.array(z.record(z.string(), z.unknown())).meta({ description: 'The checks; secrets show as `********`.' }),
    actions: z.record(z.string(), z.unknown()),
    ...usedByField,
  })
  .meta({ id: 'Guardrail', description: 'A guardrail with its checks.' })
