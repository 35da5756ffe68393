import { z } from 'zod'
import { makeFirstOwner } from '../../app/start/first-owner.ts'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { userScopes } from '../../lib/access/scopes.ts'
import { nameField } from '../../lib/text/slug.ts'
import { addKey } from '../api-keys/index.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { emailField } from './user.schema.ts'

/** The only answer that ever holds the key. */
export const firstOwner = z.object({ user_id: z.uuid(), workspace_id: z.uuid(), key: z.string() })

/** Creates the first owner. The operator runs it on the installation; it is not part of the API. AB07 when there is an owner already. */
export const createFirstOwner = route({
  method: 'POST',
  path: '/owner',
  summary: 'Make the first owner of an organisation, with an API key',
  permission: 'organisation_users.create',
  resource: 'user',
  body: z.strictObject({ email: emailField, first_name: nameField.optional(), last_name: nameField.optional() }),
  response: firstOwner,
})(async ({ em, actor, deps, body, audit }) => {
  const { organisationId } = actor
  const userId = await makeFirstOwner(em, {
    organisationId,
    email: body.email,
    firstName: body.first_name ?? null,
    lastName: body.last_name ?? null,
  })
  if (userId === null) throw new ApiError('AB07', 'The organisation has an owner already.')
  const { id: workspaceId } = await resolveWorkspace(em, actor, undefined)
  const key = { name: `Key of ${body.email}`.slice(0, 255), scopes: [...userScopes], user_id: userId }
  const { secret } = await addKey(em, { actor: { ...actor, id: userId }, deps, type: 'workspace-user', workspaceId }, key)
  audit({ id: userId, changes: [{ table: 'users', id: userId, before: null, after: { email: body.email, role: 'owner' } }] })
  return { user_id: userId, workspace_id: workspaceId, key: secret }
})
