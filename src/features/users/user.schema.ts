import { z } from 'zod'
import { listOf, listFields, searchField } from '../../lib/paging.ts'
import { organisationRoles } from '../../lib/access/roles.ts'
import { nameField } from '../../lib/text/slug.ts'

/** The sort orders of the list. */
export const sorts = { created_at: 'createdAt', last_updated_at: 'lastUpdatedAt', email: 'email' }

/** An e-mail address as it is stored and compared: in lower case. */
export const emailField = z
  .email()
  .max(320)
  .transform((email) => email.toLowerCase())

export const userParams = z.object({ userId: z.string() })

export const userFilter = z.object({
  ...listFields({ sorts, sort: 'created_at' }),
  search: searchField('the e-mail address or the name'),
  role: z.enum(organisationRoles).optional(),
  email: emailField.optional(),
  status: z.enum(['active', 'archived']).default('active').meta({ description: 'Archived users were removed.' }),
})

/** A person cannot become an owner over the API. */
export const updateUserBody = z
  .strictObject({
    role: z.enum(['admin', 'member']).optional(),
    first_name: nameField.nullable().optional(),
    last_name: nameField.nullable().optional(),
    token_identities: z.null().optional().meta({
      description:
        'Null forgets by which `iss` and `sub` tokens name the user; the next token with their e-mail address sets them anew. An identity by which the user has signed in stays.',
    }),
  })
  .meta({ id: 'UpdateUser', description: 'The fields to change. Absent fields stay as they are, null clears a field.' })

export const userView = z
  .object({
    id: z.uuid(),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    role: z.enum(organisationRoles),
    email: z.string(),
    workspace_ids: z.array(z.uuid()).meta({ description: 'Where the user is a member.' }),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    object: z.literal('user'),
  })
  .meta({ id: 'User', description: 'A person in the organisation.' })

export const userList = listOf(userView).meta({ id: 'UserList', description: 'Users, oldest first.' })
