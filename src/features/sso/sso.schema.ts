import { z } from 'zod'
import { ownPath } from './journey.ts'
import { testSignInView } from './trial/test-sign-in.schema.ts'
import { secretField } from '../../lib/json/secret-fields.ts'

export const loginParams = z.object({ organisation: z.string().min(1).max(255).meta({ description: 'The slug of the organisation.' }) })

export const sentOn = z.object({}).meta({ description: 'No content: the browser is sent on by 303.' })

/** The answer to a browser that comes back. */
export const comeBack = z
  .object({ test_sign_in: testSignInView.optional().meta({ description: 'The outcome of a test sign-in.' }) })
  .meta({ description: 'No content: the browser is sent on by 303. A person who comes back from a test sign-in sees its outcome.' })

/** The path at which people go on by default. */
export const home = '/console'

export const loginQuery = z.object({
  return_to: z
    .string()
    .optional()
    .transform((path, context) => {
      const own = ownPath(path ?? home)
      if (own !== null) return own
      context.addIssue({ code: 'custom', message: 'Write a path on this origin, such as /console, of at most 512 characters.' })
      return z.NEVER
    })
    .meta({ description: 'The path on this origin where the person goes on. Default: `/console`.' }),
  test: secretField(z.string().min(1).max(200)).optional().meta({ description: 'The secret of a test sign-in, from its URL.' }),
})

export type LoginQuery = z.output<typeof loginQuery>

const text = z.string().min(1).max(4096)

export const callbackQuery = z.object({
  state: secretField(text),
  code: secretField(text).optional(),
  iss: text.optional().meta({ description: 'The issuer that answers (RFC 9207).' }),
  error: text.optional(),
  error_description: z.string().max(4096).optional(),
})

export type CallbackQuery = z.output<typeof callbackQuery>

export const logoutBody = z
  .object({ logout_token: secretField(z.string().min(1).max(16_384)) })
  .meta({ id: 'BackchannelLogout', description: 'A logout token (OpenID Connect Back-Channel Logout 1.0).' })

export type LogoutBody = z.output<typeof logoutBody>

export const acsBody = z
  .object({
    SAMLResponse: secretField(z.string().min(1).max(1_000_000)).meta({
      description: 'The response of the provider, in base64 (HTTP-POST binding).',
    }),
    RelayState: z.string().max(4096).optional().meta({
      description: 'The path on this origin where a person goes on who began at the provider. Else it is ignored.',
    }),
  })
  .meta({ id: 'SamlAnswer', description: 'The form that the browser of a person who signed in at the provider sends here.' })

export type AcsBody = z.output<typeof acsBody>
