import { z } from 'zod'
import { nameField } from '../../../lib/text/slug.ts'
import { factorAdded } from './factor.schema.ts'
import { secretField } from '../../../lib/json/secret-fields.ts'

const bytes = (max: number) => z.base64url().min(1).max(max)

/** Fields of every answer of an authenticator. Browsers add more, which is not used. */
const answered = {
  id: bytes(1400),
  rawId: bytes(1400),
  type: z.literal('public-key'),
}

export const registration = z
  .object({
    ...answered,
    response: z.object({
      clientDataJSON: bytes(8192),
      attestationObject: bytes(32_768),
      transports: z.array(z.string().min(1).max(32)).max(10).optional(),
    }),
  })
  .meta({ id: 'PasskeyRegistration', description: 'What `navigator.credentials.create()` gave, as `toJSON()` writes it.' })

export type Registration = z.output<typeof registration>

export const assertion = z
  .object({
    ...answered,
    response: z.object({
      clientDataJSON: bytes(8192),
      authenticatorData: bytes(8192),
      signature: bytes(4096),
      userHandle: z.base64url().max(128).nullable().optional(),
    }),
  })
  .meta({ id: 'PasskeyAssertion', description: 'What `navigator.credentials.get()` gave, as `toJSON()` writes it.' })

export type Assertion = z.output<typeof assertion>

export const creationOptions = z
  .looseObject({ challenge: z.string() })
  .meta({ id: 'PasskeyCreationOptions', description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON()`.' })

export const requestOptions = z
  .looseObject({ challenge: z.string() })
  .meta({ id: 'PasskeyRequestOptions', description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON()`.' })

export const loginOptionsBody = z
  .strictObject({
    purpose: z
      .enum(['sign-in', 'second-factor'])
      .default('sign-in')
      .meta({ description: '`sign-in`: in place of a password; `second-factor`: beside it, in `passkey` of `POST /auth/login`.' }),
  })
  .meta({ id: 'PasskeyLoginOptions', description: 'What the passkey is for.' })

export const passkeyLoginBody = z
  .strictObject({ passkey: secretField(assertion) })
  .meta({ id: 'PasskeyLogin', description: 'A sign-in with a passkey in place of a password.' })

export type PasskeyLogin = z.output<typeof passkeyLoginBody>

export const registerBody = z
  .strictObject({
    name: nameField.optional().meta({ description: 'Your name for it, such as `Work laptop`.' }),
    passkey: secretField(registration),
  })
  .meta({ id: 'RegisterPasskey', description: 'A new passkey.' })

export type RegisterPasskey = z.output<typeof registerBody>

export const renameBody = z.strictObject({ name: nameField }).meta({ id: 'RenamePasskey', description: 'Another name for a passkey.' })

export const passkeyParams = z.object({ passkeyId: z.string() })

export const passkeyView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    backed_up: z.boolean().meta({ description: 'True if more than one device has it.' }),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
    object: z.literal('passkey'),
  })
  .meta({ id: 'Passkey', description: 'A passkey of the person.' })

export const passkeyList = z
  .object({ object: z.literal('list'), data: z.array(passkeyView) })
  .meta({ id: 'PasskeyList', description: 'The passkeys of the person, the oldest first.' })

export const passkeyAdded = factorAdded
  .extend({ passkey: passkeyView })
  .meta({ id: 'PasskeyAdded', description: 'The passkey counts from now on. `recovery_codes` is null for those who have some.' })
