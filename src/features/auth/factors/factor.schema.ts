import { z } from 'zod'
import { textField } from '../../../lib/text/text.ts'
import { secretField } from '../../../lib/json/secret-fields.ts'

/** The password of the signed-in person. */
const currentPassword = secretField(z.string().min(1).max(256))

export const reproofBody = z
  .strictObject({ current_password: currentPassword })
  .meta({ id: 'OwnPasswordShown', description: 'The password of the person, once more.' })

export const totpEnrolment = z
  .object({
    uri: z.string().meta({ description: 'The text that an authenticator app reads from a QR code (`otpauth://`).' }),
    secret: z.string().meta({ description: 'The same to be typed, in base32. Both are shown once.' }),
    expires_at: z.iso.datetime().meta({ description: 'Until then a code has to confirm it.' }),
  })
  .meta({ id: 'TotpEnrolment', description: 'An authenticator app that is being set up. It counts once a code of it was sent.' })

export const totpConfirmBody = z
  .strictObject({ code: secretField(textField(64).min(1)).meta({ description: 'The code that the authenticator app shows now.' }) })
  .meta({ id: 'ConfirmTotp', description: 'The first code of the authenticator app.' })

export const recoveryCodes = z
  .array(z.string())
  .meta({ description: 'Each serves once in place of a second factor that was lost. They are shown once.' })

/** The session goes on with another secret: in the cookie of the answer. */
const renewed = {
  csrf_token: z.string().meta({ description: 'For the header `x-csrf-token` from now on.' }),
  expires_at: z.iso.datetime().meta({ description: 'The latest end of the session.' }),
}

export const factorAdded = z
  .object({ recovery_codes: recoveryCodes.nullable(), ...renewed })
  .meta({ id: 'SecondFactorAdded', description: 'The second factor counts from now on. `recovery_codes` is null for those who have some.' })

export const factorRemoved = z.object(renewed).meta({ id: 'SecondFactorRemoved', description: 'The second factor counts no longer.' })

export const newRecoveryCodes = z
  .object({ recovery_codes: recoveryCodes })
  .meta({ id: 'RecoveryCodes', description: 'The recovery codes from now on: earlier ones serve no longer.' })

export const factorsView = z
  .object({
    totp: z.boolean().meta({ description: 'True if an authenticator app is set up.' }),
    passkeys: z.int().meta({ description: 'How many passkeys there are.' }),
    recovery_codes: z.int().meta({ description: 'How many recovery codes are left.' }),
  })
  .meta({ id: 'SecondFactors', description: 'The second factors of a person.' })
