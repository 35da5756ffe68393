import { z } from 'zod'
import { listOf, pageFields } from '../../lib/paging.ts'
import { textField } from '../../lib/text.ts'
import { rateLimitsView, usageLimitsView } from '../limits/index.ts'

const statuses = ['active', 'archived'] as const

const statusFilter = z
  .string()
  .default('active')
  .transform((text) => text.split(',').map((status) => status.trim()))
  .pipe(z.array(z.enum(statuses)).min(1))
  .meta({ description: 'Comma-separated: active, archived. Archived ones are shown to organisation keys only.' })

/** The filters of the list of workspaces. */
export const workspaceFilterQuery = z.object({
  ...pageFields({ defaultSize: 50, maxSize: 100 }),
  name: textField(255).optional().meta({ description: 'Part of the name, in any case.' }),
  exact_name: textField(255).optional(),
  status: statusFilter,
})

export const workspaceParams = z.object({ workspaceId: z.string() })

const fields = {
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.enum(statuses),
  is_default: z.int(),
  defaults: z.record(z.string(), z.unknown()),
  usage_limits: z.array(usageLimitsView),
  rate_limits: rateLimitsView,
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
  .object({ ...fields, users: z.array(z.unknown()) })
  .meta({ id: 'WorkspaceWithUsers', description: 'A workspace with its members.' })

export const workspaceList = listOf(workspaceView).meta({ id: 'WorkspaceList', description: 'Workspaces, oldest first.' })
