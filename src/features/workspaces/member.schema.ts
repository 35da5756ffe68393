import { z } from 'zod'
import { scopeReleases } from '../../lib/access/scopes.ts'
import { valuesSince } from '../../release/since.ts'
import { listOf, listFields } from '../../lib/paging.ts'
import { organisationRoles, workspaceRoles } from '../../lib/access/roles.ts'

/** The sort orders of the list. */
export const sorts = { created_at: 'createdAt', role: 'role' }

const role = z.enum(workspaceRoles)

/** An e-mail address as it is stored and compared. */
const emailFilter = z.email().transform((email) => email.toLowerCase())

export const memberParams = z.object({ workspaceId: z.string(), userId: z.string() })

export const memberFilter = z.object({
  ...listFields({ sorts, sort: 'created_at' }),
  role: role.optional(),
  email: emailFilter.optional(),
})

export const addMembersBody = z
  .strictObject({
    users: z
      .array(z.strictObject({ id: z.uuid(), role }))
      .min(1)
      .max(500)
      .refine((users) => new Set(users.map(({ id }) => id.toLowerCase())).size === users.length, 'A user comes twice.'),
    workspaceId: z.string().optional().meta({ description: 'As in the path.' }),
  })
  .meta({ id: 'AddWorkspaceMembers', description: 'The person who joins the workspace, and their role.' })

export const updateMemberBody = z.strictObject({ role }).meta({ id: 'UpdateWorkspaceMember', description: 'The new role of the member.' })

export const memberView = z
  .object({
    id: z.uuid(),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    email: z.string(),
    org_role: z.enum(organisationRoles),
    role,
    status: z.literal('active'),
    workspace_id: z.uuid(),
    scopes: z
      .array(valuesSince(scopeReleases, z.string()))
      .meta({ description: 'The rights of the member here with an API key that holds every scope.' }),
    settings: z.null(),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    object: z.literal('workspace-user'),
  })
  .meta({ id: 'WorkspaceMember', description: 'A user in a workspace.' })

export const memberList = listOf(memberView).meta({ id: 'WorkspaceMemberList', description: 'The members of a workspace, oldest first.' })
