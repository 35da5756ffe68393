import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'
import { reference, templateText } from './prompt.schema.ts'

const description = textField(10_000).nullable().optional()

export const createPartialBody = z
  .strictObject({
    workspace_id: reference.optional(),
    collection_id: reference.optional().meta({ description: 'Id or slug; the default collection when absent.' }),
    name: nameField,
    string: templateText,
    version_description: description,
  })
  .meta({ id: 'CreatePromptPartial', description: 'A new partial with its first version, which is published at once.' })

export const updatePartialBody = z
  .strictObject({
    name: nameField.optional(),
    string: templateText.optional(),
    description,
    status: z.enum(['active', 'archived']).optional().meta({ description: '`archived` deletes it.' }),
  })
  .meta({ id: 'UpdatePromptPartial', description: 'A `string` makes a new version, which is not published by that.' })

export const partialParams = z.object({ promptPartialId: z.string() })

export const partialRead = z.object(usedByQuery)

export const partialFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at' }),
  search: searchField('the name'),
  collection_id: z.string().optional(),
  workspace_id: z.string().optional(),
})

export const createdPartial = z
  .object({ id: z.uuid(), slug: z.string(), version_id: z.uuid() })
  .meta({ id: 'CreatedPromptPartial', description: 'The new partial and its first version.' })

export const updatedPartial = z
  .object({ prompt_partial_version_id: z.uuid() })
  .meta({ id: 'UpdatedPromptPartial', description: 'The latest version of the partial.' })

const own = {
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.uuid(),
  workspace_id: z.uuid(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  status: z.enum(['active', 'archived']),
  object: z.literal('partial'),
}

export const partialView = z
  .object({
    ...own,
    string: z.string(),
    version: z.int(),
    version_description: z.string().nullable(),
    prompt_partial_version_id: z.uuid(),
    ...usedByField,
  })
  .meta({ id: 'PromptPartial', description: 'A partial with one of its versions; without a suffix the published one.' })

export const partialList = listOf(z.object(own).meta({ id: 'PromptPartialSummary', description: 'A partial without its text.' })).meta({
  id: 'PromptPartialList',
  description: 'Partials, newest first.',
})

export const partialVersionList = listOf(
  z
    .object({
      prompt_partial_id: z.uuid(),
      prompt_partial_version_id: z.uuid(),
      slug: z.string(),
      version: z.int(),
      string: z.string(),
      description: z.string().nullable(),
      created_at: z.iso.datetime(),
      prompt_version_status: z.enum(['active', 'archived']),
      object: z.literal('partial'),
    })
    .meta({ id: 'PromptPartialVersion', description: 'A version of a partial.' }),
).meta({ id: 'PromptPartialVersionList', description: 'The versions of a partial, newest first.' })
