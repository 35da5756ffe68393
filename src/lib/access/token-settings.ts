import { z } from 'zod'
import { isStorableJson, textField } from '../text/text.ts'

/** The signature algorithms that tokens may use. HMAC is absent: its key, once published as a JWK, could sign tokens too. */
export const tokenAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const

/** The members of a JWK that only the issuer may have. */
const privateParts = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const
const minRsaBits = 2048
const maxKeys = 100

const publicKey = z.looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']), kid: z.string().min(1).max(255) }).superRefine((key, context) => {
  const fault = keyFault(key)
  if (fault !== null) context.addIssue({ code: 'custom', path: [fault.field], message: fault.message })
})

function keyFault(key: Readonly<Record<string, unknown>>): { readonly field: string; readonly message: string } | null {
  if (!isStorableJson(key)) return { field: 'kid', message: 'NUL characters and broken Unicode are not allowed in a key.' }
  const leaked = privateParts.find((part) => key[part] !== undefined)
  if (leaked !== undefined) return { field: leaked, message: 'This belongs to the private key, which stays with the issuer.' }
  const missing = (key['kty'] === 'RSA' ? ['n', 'e'] : key['kty'] === 'EC' ? ['crv', 'x', 'y'] : ['crv', 'x']).find(
    (part) => typeof key[part] !== 'string' || !/^[\w-]+$/.test(key[part]),
  )
  if (missing !== undefined) return { field: missing, message: 'A public key has this, in base64url.' }
  const bits = key['kty'] === 'RSA' ? Buffer.from(String(key['n']), 'base64url').length * 8 : minRsaBits
  return bits < minRsaBits ? { field: 'n', message: `An RSA key has ${minRsaBits} bits at least.` } : null
}

const keySet = z.strictObject({
  keys: z
    .array(publicKey)
    .min(1)
    .max(maxKeys)
    .refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length, 'Each key has a kid of its own.'),
})

const named = z.union([textField(1000).min(1), z.array(textField(1000).min(1)).min(1).max(50)])

const fields = {
  jwks_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional()
    .meta({ description: 'Where the issuer publishes its keys.' }),
  jwks: keySet.optional().meta({ description: 'The keys themselves, as a JSON Web Key Set, instead of a URL.' }),
  issuer: named.optional().meta({ description: 'What `iss` must be; one or several.' }),
  audience: named.optional().meta({
    description:
      'What `aud` must hold; one or several. Absent: tokens with an `aud` are refused, unless it is PUBLIC_URL. `*`: any, so that a token which the issuer made for another service is good here too.',
  }),
  holder: z.enum(['subject', 'email']).default('subject').meta({
    description:
      'The claim by which people are found. `subject`: an e-mail address finds a user once, and from then on `iss` and `sub` must stay the same. `email`: the address alone, for issuers that give all tokens one `sub`.',
  }),
  algorithms: z
    .array(z.enum(tokenAlgorithms))
    .min(1)
    .default([...tokenAlgorithms])
    .meta({ description: 'The algorithms that are believed, and no others.' }),
  clock_tolerance: z.int().min(0).max(300).default(5).meta({ description: 'Seconds by which clocks may differ.' }),
  max_token_age: z
    .int()
    .min(60)
    .max(31_536_000)
    .nullable()
    .default(null)
    .meta({ description: 'Seconds since `iat` after which a token is refused, before its `exp` too; null: no bound.' }),
  jwks_cache_max_age: z
    .int()
    .min(30)
    .max(86_400)
    .default(600)
    .meta({ description: 'Seconds for which fetched keys are believed without asking again.' }),
}

/** How an organisation recognises the tokens of its issuer: the field `settings.jwt`. */
export const tokenSettings = z
  .strictObject(fields)
  .superRefine(({ jwks, jwks_url: url }, context) => {
    if ((jwks === undefined) === (url === undefined))
      context.addIssue({ code: 'custom', path: ['jwks_url'], message: 'Give either jwks_url or jwks.' })
  })
  .meta({ id: 'TokenSettings', description: 'How JSON Web Tokens of an issuer are verified. A PUT replaces it as a whole.' })

export type TokenSettings = z.output<typeof tokenSettings>
