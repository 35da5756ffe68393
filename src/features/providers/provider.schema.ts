import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { listFields, listOf, searchField, usualSorts } from '../../lib/paging.ts'
import { accountName, accountSlug } from '../../lib/text/slug.ts'
import { tagsField, tagsFilter, tagsView } from '../../lib/text/tags.ts'
import { textField } from '../../lib/text/text.ts'
import {
  boundedByField,
  lastUseFields,
  rateLimits,
  rateLimitsView,
  statusesField,
  usageLimitsField,
  usageLimitsShown,
  usageShown,
} from '../limits/index.ts'

const moment = z.iso.datetime({ offset: true })

/** The fields that providers and virtual keys share. */
export const providerFields = {
  note: textField(10_000).nullable().optional(),
  usage_limits: usageLimitsField,
  rate_limits: rateLimits.nullable().optional(),
  expires_at: moment.nullable().optional(),
}

const tags = { tags: tagsField.nullable().optional() }

export const createProviderBody = z
  .strictObject({
    name: accountName,
    integration_id: z.string().min(1).max(255),
    workspace_id: z.string().min(1).max(255).optional(),
    slug: accountSlug.optional(),
    ...providerFields,
    ...tags,
  })
  .meta({ id: 'CreateProvider', description: "A workspace's new handle on an integration." })

export const updateProviderBody = z
  .strictObject({
    name: accountName.optional(),
    reset_usage: z.boolean().optional(),
    workspace_id: z.string().min(1).max(255).optional().meta({ description: 'The workspace it is in, when the query does not name it.' }),
    ...providerFields,
    ...tags,
  })
  .meta({ id: 'UpdateProvider', description: 'The fields to change. Absent fields stay as they are, null clears a field.' })

export const providerParams = z.object({ slug: z.string() })
export const inWorkspace = z.object({ workspace_id: z.string().optional() })
export const providerRead = inWorkspace.extend(usedByQuery)
export const providerFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at' }),
  search: searchField('the name'),
  status: statusesField,
  workspace_id: z.string().optional(),
})

/** The filters of the list of providers. */
export const providerQuery = providerFilter.extend({
  tags: tagsFilter.optional(),
})

export const providerReference = z
  .object({ id: z.uuid(), slug: z.string() })
  .meta({ id: 'ProviderReference', description: 'Which provider it was.' })

/** The answer fields that providers and virtual keys share. */
export const providerViewFields = {
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  workspace_id: z.uuid(),
  note: z.string().nullable(),
  status: z.enum(['active', 'exhausted', 'expired', 'archived']),
  usage_limits: usageLimitsShown,
  usage: usageShown,
  bounded_by: boundedByField,
  ...lastUseFields,
  rate_limits: rateLimitsView.nullable(),
  reset_usage: z.number().nullable(),
  expires_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  ...usedByField,
}

export const providerView = z
  .object({ ...providerViewFields, integration_id: z.uuid(), tags: tagsView, object: z.literal('provider') })
  .meta({ id: 'Provider', description: "A workspace's handle on an integration; requests name it as `@slug`." })

export const providerList = listOf(providerView).meta({ id: 'ProviderList', description: 'Providers of a workspace, newest first.' })
