import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { listFields, listOf, toList } from '../../lib/paging.ts'
import { operations, resourceTypes, ScimActivity } from './scim-activity.entity.ts'

const sorts = { created_at: 'createdAt' } as const

const activityFilter = z.object({
  ...listFields({ sorts, sort: '-created_at' }),
  failed: z.stringbool().optional().meta({ description: 'True: only refused requests; false: only successful ones.' }),
  operation: z.enum(operations).optional(),
  resource_type: z.enum(resourceTypes).optional(),
  token_id: z.uuid().optional().meta({ description: 'Only the requests with this token.' }),
})

const activityList = listOf(
  z
    .object({
      object: z.literal('scim_activity'),
      id: z.uuid(),
      token_id: z.uuid(),
      token_name: z.string(),
      operation: z.enum(operations),
      resource_type: z.enum(resourceTypes),
      resource_id: z.string().nullable(),
      resource_name: z.string().nullable().meta({ description: 'The `userName` or `displayName`, as far as it is known.' }),
      ok: z.boolean(),
      status: z.int().meta({ description: 'Of the answer (HTTP).' }),
      scim_type: z.string().nullable().meta({ description: 'The name that SCIM has for the error, such as `uniqueness`.' }),
      error: z.string().nullable().meta({ description: 'The error for the identity provider; null: it was not refused.' }),
      request_id: z.string().meta({ description: 'It leads to the log of the process, and to the audit trail.' }),
      created_at: z.iso.datetime(),
    })
    .meta({ id: 'ScimActivity', description: 'A write of an identity provider, or a request of it that was refused.' }),
).meta({ id: 'ScimActivityList', description: 'The latest requests of identity providers, the newest first.' })

export const listScimActivity = route({
  method: 'GET',
  path: '/scim/activity',
  summary: 'List the latest writes of identity providers by SCIM, and the refused ones with their reasons',
  permission: 'organisation_settings.read',
  audience: 'organisation',
  query: activityFilter,
  response: activityList,
})(async ({ em, actor: { organisationId }, query }) => {
  const page = await findPage(em, ScimActivity, {
    where: {
      organisationId,
      ...(query.failed !== undefined && { error: query.failed ? { $ne: null } : null }),
      ...(query.operation !== undefined && { operation: query.operation }),
      ...(query.resource_type !== undefined && { resourceType: query.resource_type }),
      ...(query.token_id !== undefined && { tokenId: query.token_id }),
    },
    query,
    sorts,
  })
  return toList(page.rows.map(present), page)
})

const present = (row: ScimActivity) => ({
  object: 'scim_activity' as const,
  id: row.id,
  token_id: row.tokenId,
  token_name: row.tokenName,
  operation: row.operation,
  resource_type: row.resourceType,
  resource_id: row.resourceId ?? null,
  resource_name: row.resourceName ?? null,
  ok: row.error === null,
  status: row.status,
  scim_type: row.scimType ?? null,
  error: row.error ?? null,
  request_id: row.requestId,
  created_at: row.createdAt.toISOString(),
})
