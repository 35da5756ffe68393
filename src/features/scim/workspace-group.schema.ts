import { z } from 'zod'
import { workspaceRoles } from '../../lib/access/roles.ts'
import { listFields, listOf, searchField } from '../../lib/paging.ts'
import { textField } from '../../lib/text/text.ts'

const role = z
  .preprocess((given) => (typeof given === 'string' ? given.toLowerCase() : given), z.enum(workspaceRoles))
  .meta({ enum: [...workspaceRoles], type: 'string', description: 'In any case.' })

const reference = textField(255).min(1)

export const createMappingBody = z
  .strictObject({
    workspace_id: reference.meta({ description: 'Id or slug of the workspace.' }),
    role,
    scim_group_id: z.uuid().optional().meta({ description: 'The group by its id. This, or `scim_group_name`.' }),
    scim_group_name: reference.optional().meta({ description: 'The group by its name, in any case.' }),
  })
  .refine((body) => (body.scim_group_id === undefined) !== (body.scim_group_name === undefined), {
    message: 'Give scim_group_id or scim_group_name, and not both.',
    path: ['scim_group_id'],
  })
  .meta({ id: 'CreateScimWorkspaceMapping', description: 'A group whose members get a role in a workspace.' })

export const mappingFilter = z.object({
  workspace_id: reference.optional().meta({ description: 'Only of this workspace: id or slug.' }),
  scim_group_id: z.uuid().optional().meta({ description: 'Only of this group.' }),
  role: role.optional(),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1).meta({ description: 'The page, counted from 1.' }),
  page_size: z.coerce.number().int().min(1).max(1000).default(100),
})

export const mappingParams = z.object({ scimWorkspaceGroupId: z.string() })

export const mappingView = z
  .object({
    id: z.uuid(),
    workspace_id: z.uuid(),
    scim_group: z.string().meta({ description: 'The name of the group.' }),
    scim_group_id: z.uuid(),
    role: z.enum(workspaceRoles),
  })
  .meta({ id: 'ScimWorkspaceMapping', description: 'A group whose members have a role in a workspace.' })

export const mappingList = z
  .object({ mappings: z.array(mappingView), total_count: z.int() })
  .meta({ id: 'ScimWorkspaceMappingList', description: 'Groups whose members have a role in a workspace.' })

export const mappingDeleted = z.object({ success: z.literal(true) })

/** The sort orders of the list of groups. */
export const groupSorts = { display_name: 'displayName', created_at: 'createdAt' }

export const groupFilter = z.object({ ...listFields({ sorts: groupSorts, sort: 'display_name' }), search: searchField('the name') })

export const groupView = z
  .object({
    id: z.uuid(),
    display_name: z.string(),
    external_id: z.string().nullable(),
    member_count: z.int(),
    named_workspace: z.string().nullable().meta({ description: 'The workspace in the name of the group, by slug or name; null: none.' }),
    named_role: z.enum(workspaceRoles).nullable().meta({ description: 'The role there in the name.' }),
    organisation_role: z.enum(['owner', 'admin']).nullable().meta({ description: 'The role in the organisation that the name says.' }),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    object: z.literal('scim_group'),
  })
  .meta({ id: 'ScimGroup', description: 'A group of the identity provider.' })

export const groupList = listOf(groupView).meta({ id: 'ScimGroupList', description: 'The groups of the identity provider, by name.' })
