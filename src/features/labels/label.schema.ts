import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { isStorable, textField } from '../../lib/text/text.ts'

/** Letters, digits, `_` and `-`, and among them at most one other character: so clients of the reference write them. */
// oxlint-disable-next-line no-control-regex -- the pattern refuses control characters
const shape = /^(?!latest$)(?!default$)(?!\d+$)[a-zA-Z0-9_-]*(?:[^\w@\s/\u0000-\u001F\u007F-\u009F\uD800-\uDFFF-][a-zA-Z0-9_-]*)?$/u

const labelName = z
  .string()
  .min(1)
  .max(255, { abort: true })
  .regex(shape, 'Letters, digits, _ and - are allowed, and one other character but @ and /; not `latest`, `default` or digits alone.')
  .refine(isStorable, 'Broken Unicode is not allowed.')

const colorCode = z
  .string()
  .min(1)
  .max(32)
  .regex(/^#?[a-zA-Z0-9(),.% -]+$/, 'A color such as #ff8800.')

const reference = z.string().min(1).max(255)

const fields = { description: textField(10_000).nullable().optional(), color_code: colorCode.nullable().optional() }

export const createLabelBody = z
  .strictObject({ organisation_id: z.uuid().optional(), workspace_id: reference.optional(), name: labelName, ...fields })
  .meta({
    id: 'CreateLabel',
    description: 'A new label. With an organisation key and without workspace_id it serves in every workspace.',
  })

export const updateLabelBody = z
  .strictObject({ name: labelName.optional(), ...fields })
  .meta({ id: 'UpdateLabel', description: 'The fields to change. Absent fields stay as they are, null clears a field.' })

export const labelParams = z.object({ labelId: z.string() })

const home = { organisation_id: z.uuid().optional(), workspace_id: z.string().optional() }

export const labelRead = z.object({ ...home, ...usedByQuery })

export const labelFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: 'name' }),
  search: searchField('the name'),
  ...home,
})

export const labelReference = z.object({ id: z.uuid() }).meta({ id: 'LabelReference', description: 'Which label it was.' })

export const labelView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    color_code: z.string().nullable(),
    organisation_id: z.uuid(),
    workspace_id: z.uuid().nullable(),
    is_universal: z.boolean().meta({ description: 'Whether it serves in every workspace.' }),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    status: z.enum(['active', 'archived']),
    ...usedByField,
    object: z.literal('label'),
  })
  .meta({ id: 'Label', description: 'A name for one version of each prompt.' })

export const labelList = listOf(labelView).meta({ id: 'LabelList', description: 'Labels by name.' })
