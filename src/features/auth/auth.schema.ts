import { z } from 'zod'
import { newPasswordField } from '../../lib/password.ts'
import { nameField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'
import { assertion } from './factors/passkey.schema.ts'
import { emailField } from '../users/index.ts'
import { secretField } from '../../lib/json/secret-fields.ts'

const slug = z.string().min(1).max(255)

export const loginQuery = z.object({
  organisation: slug.optional().meta({ description: 'The slug of an organisation.' }),
  email: emailField.optional().meta({ description: 'An e-mail address; its domain chooses the organisation.' }),
})

export const loginOptions = z
  .object({
    local: z.boolean().meta({ description: 'True if people sign in here with a password.' }),
    provider: z
      .object({ type: z.enum(['oidc', 'saml']), name: z.string(), login_path: z.string() })
      .nullable()
      .meta({ description: 'The identity provider that a browser is sent to; null: none.' }),
  })
  .meta({ id: 'LoginOptions', description: 'How to sign in.' })

/** A password that is shown, and may be any text. */
const shownPassword = secretField(z.string().min(1).max(256))
const codeField = secretField(textField(64).min(1))
  .optional()
  .meta({ description: 'From an authenticator app, or a recovery code; asked for when the person has one.' })

const passkeyField = secretField(assertion)
  .optional()
  .meta({ description: 'A passkey as second factor, with a challenge for `second-factor`.' })

export const loginBody = z
  .strictObject({ email: emailField, password: shownPassword, code: codeField, passkey: passkeyField, organisation: slug.optional() })
  .meta({ id: 'Login', description: 'A local sign-in. `organisation` chooses between accounts with the same address and password.' })

export type Login = z.output<typeof loginBody>

export const signedIn = z
  .object({
    user_id: z.uuid(),
    organisation_id: z.uuid(),
    csrf_token: z.string().meta({ description: 'For the header `x-csrf-token` of requests that change something.' }),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'SignedIn', description: 'The session, whose secret is in the cookie.' })

export const signedOut = z
  .object({
    logout_url: z.url().nullable().meta({ description: 'Where the browser signs out at the identity provider too; null: nowhere.' }),
  })
  .meta({ id: 'SignedOut', description: 'The session has ended.' })

export const sessionParams = z.object({ sessionId: z.string() })

export const sessionView = z
  .object({
    id: z.uuid(),
    current: z.boolean().meta({ description: 'True for the session of this request.' }),
    method: z.enum(['password', 'passkey', 'link', 'oidc', 'saml']),
    client_address: z.string().meta({ description: 'Where it was opened.' }),
    user_agent: z.string().nullable(),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    object: z.literal('session'),
  })
  .meta({ id: 'Session', description: 'A browser in which a person is signed in.' })

export const sessionList = z
  .object({ object: z.literal('list'), data: z.array(sessionView) })
  .meta({ id: 'SessionList', description: 'The sessions of the person, the latest first.' })

/** The answer with the first steps of a new installation that are done: owner, provider, key, first request. */
export const setupState = z
  .object({
    owner: z
      .boolean()
      .meta({ description: 'True if the first organisation has an owner. The other fields are present only while it has none.' }),
    provider: z.boolean().nullable(),
    key: z.boolean().nullable(),
    request: z.boolean().nullable(),
  })
  .meta({
    id: 'SetupState',
    description: 'The present parts of a new installation: an owner, a provider, a key of a person, a first request.',
  })

const token = secretField(z.string().min(1).max(200)).meta({ description: 'From the link.' })

export const setupBody = z
  .strictObject({
    token,
    email: emailField,
    password: newPasswordField,
    first_name: nameField.optional(),
    last_name: nameField.optional(),
    organisation: nameField.optional().meta({ description: 'A new name for the organisation.' }),
    workspace: nameField.optional().meta({ description: 'A new name for its default workspace.' }),
  })
  .meta({ id: 'Setup', description: 'Who owns the organisation from now on.' })

export const setPasswordBody = z
  .strictObject({ token, password: newPasswordField, code: codeField, passkey: passkeyField })
  .meta({ id: 'SetPassword', description: 'A new password, by the link that was sent.' })

export type SetPassword = z.output<typeof setPasswordBody>

export const ownPasswordBody = z
  .strictObject({ current_password: shownPassword.optional(), password: newPasswordField })
  .meta({ id: 'OwnPassword', description: 'A new password for the signed-in person. `current_password` is needed by people who have one.' })

export const resetBody = z.strictObject({ email: emailField }).meta({ id: 'ResetPassword', description: 'The address of the account.' })
