import { z } from 'zod'
import { listOf, listFields, searchField } from '../../lib/paging.ts'
import { workspaceRoles } from '../../lib/access/roles.ts'
import { nameField } from '../../lib/text/slug.ts'
import { emailField } from './user.schema.ts'
import { secretField } from '../../lib/json/secret-fields.ts'

/** The sort orders of the list. */
export const sorts = { created_at: 'createdAt', expires_at: 'expiresAt', email: 'email' }

const role = z.enum(['admin', 'member'])
const statuses = ['pending', 'cancelled', 'accepted', 'expired'] as const

export const createInviteBody = z
  .strictObject({
    email: emailField,
    role,
    workspaces: z
      .array(z.strictObject({ id: z.string().min(1).max(255).meta({ description: 'UUID or slug.' }), role: z.enum(workspaceRoles) }))
      .max(500)
      .default([]),
    workspace_api_key_details: z
      .strictObject({ scopes: z.array(z.string().max(100)).min(1).max(500) })
      .optional()
      .meta({
        description:
          'The accepting person gets an API key with these scopes in each workspace. Not when `api_key_metadata_keys` asks for metadata of keys.',
      }),
  })
  .meta({ id: 'CreateInvite', description: 'The person to invite, with their roles and workspaces.' })

export type CreateInvite = z.output<typeof createInviteBody>

export const inviteParams = z.object({ inviteId: z.string() })

export const inviteFilter = z.object({
  ...listFields({ sorts, sort: '-created_at' }),
  search: searchField('the e-mail address'),
  role: role.optional(),
  email: emailField.optional(),
  status: z.enum(statuses).optional(),
})

export type InviteFilter = z.output<typeof inviteFilter>

export const createdInvite = z
  .object({ id: z.uuid(), invite_link: z.url() })
  .meta({ id: 'CreatedInvite', description: 'The invitation, and the link that is also sent by e-mail.' })

export const resentInvite = z
  .object({ inviteLink: z.url(), invite_link: z.url() })
  .meta({ id: 'ResentInvite', description: 'The new link, under both names in use; the old one no longer works.' })

export const inviteView = z
  .object({
    id: z.uuid(),
    email: z.string(),
    role,
    workspaces: z.array(z.object({ id: z.uuid(), role: z.enum(workspaceRoles) })),
    status: z.enum(statuses),
    invited_by: z.uuid().nullable(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    accepted_at: z.iso.datetime().nullable(),
    object: z.literal('invite'),
  })
  .meta({ id: 'Invite', description: 'An invitation, without its link.' })

export const inviteList = listOf(inviteView).meta({ id: 'InviteList', description: 'Invitations, newest first.' })

export const acceptInviteBody = z
  .strictObject({
    token: secretField(z.string().min(1).max(200)).meta({ description: 'From the link.' }),
    first_name: nameField.optional(),
    last_name: nameField.optional(),
  })
  .meta({ id: 'AcceptInvite', description: 'The secret of the link, and the name of the person.' })

export const acceptedInvite = z
  .object({
    user_id: z.uuid(),
    organisation_id: z.uuid(),
    email: z.string(),
    role,
    api_keys: z.array(z.object({ workspace_id: z.uuid(), id: z.uuid(), key: z.string() })),
    password_token: z.string().nullable().meta({
      description:
        'For `PUT /auth/password`, which sets the first password and signs in; for one hour. Null: people sign in by their identity provider.',
    }),
  })
  .meta({
    id: 'AcceptedInvite',
    description: 'The new user, and the only answer that ever holds their API keys and the token for their first password.',
  })
