import { z } from 'zod'
import { listOf, pageFields } from '../../lib/paging.ts'
import { organisationRoles } from '../../lib/roles.ts'
import { nameField } from '../../lib/slug.ts'

/** An e-mail address as it is stored and compared: in lower case. */
export const emailField = z
  .email()
  .max(320)
  .transform((email) => email.toLowerCase())

export const userParams = z.object({ userId: z.string() })

export const userFilter = z.object({
  ...pageFields({ defaultSize: 50, maxSize: 500 }),
  role: z.enum(organisationRoles).optional(),
  email: emailField.optional(),
})

/** Nobody becomes an owner over the API. */
export const updateUserBody = z
  .strictObject({
    role: z.enum(['admin', 'member']).optional(),
    first_name: nameField.nullable().optional(),
    last_name: nameField.nullable().optional(),
  })
  .meta({ id: 'UpdateUser', description: 'What to change; what is absent stays, null clears.' })

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
