import { decodeProtectedHeader, errors, type JWTClaimVerificationOptions, type JWTPayload, jwtVerify, UnsecuredJWT } from 'jose'
import { z } from 'zod'
import { localKeys, remoteKeys } from '../../key-sets/jwks.ts'
import type { Fields } from '../../../lib/json/fields.ts'
import { since } from '../../../release/since.ts'
import { isCredentialHeader } from '../../wire/headers.ts'
import { bearerToken } from '../../wire/bearer.ts'
import { check, type CheckContext, verdict, type Verdict } from '../check.ts'
import { introspect } from './jwt-introspection.ts'
import { matcher, matchTypes, toValues, valuesFault, valuesField } from '../match-values.ts'
import { calledUrl } from './webhook.ts'

/** The algorithms that verify with a public key. With a shared secret the published key itself would verify. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const

const claimNames = z.array(z.string().min(1).max(255)).max(50)
const oneOrMore = z.union([z.string().min(1).max(1000), z.array(z.string().min(1).max(1000)).min(1).max(50)])
const duration = /^\d+(?:\.\d+)?\s?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|y|yrs?|years?)$/i

const fields = {
  jwks: z
    .looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) })
    .optional()
    .meta({ description: 'The keys themselves, as a JSON Web Key Set, in place of `jwksUri`.' }),
  jwksUri: calledUrl.optional().meta({ description: 'Where the keys are published.' }),
  introspectEndpoint: calledUrl
    .optional()
    .meta({ description: 'Where every token is asked about (RFC 7662), after its signature was verified when there are keys too.' }),
  introspectContentType: z
    .enum(['application/x-www-form-urlencoded', 'application/json'])
    .default('application/x-www-form-urlencoded')
    .meta({ description: 'How the token is sent there.' }),
  introspectCacheMaxAge: z
    .number()
    .min(0)
    .max(86_400)
    .optional()
    .meta({ description: 'Seconds for which an answer about a token is kept; absent: not at all.' }),
  headerKey: z
    .string()
    .min(1)
    .max(256)
    .default('Authorization')
    .meta({ description: 'The header that holds the token, with or without `Bearer`.' }),
  cacheMaxAge: z.number().min(30).max(2_592_000).default(86_400).meta({ description: 'Seconds for which fetched keys are kept.' }),
  clockTolerance: z.number().min(0).max(3600).default(5).meta({ description: 'Seconds by which clocks may differ.' }),
  maxTokenAge: since(
    '1.3.3',
    z
      .string()
      .regex(duration, 'Write a duration, such as 1d or 12h.')
      .optional()
      .meta({ description: 'The oldest token, by its `iat`. Unless given: `1d` with keys, any age without.' }),
  ),
  algorithms: z
    .array(z.enum(algorithms))
    .min(1)
    .optional()
    .meta({ description: 'The algorithms that are believed, and no others. Unless given: `RS256` with keys, any without.' }),
  issuer: oneOrMore.optional().meta({ description: 'What `iss` must be.' }),
  audience: oneOrMore.optional().meta({ description: 'What `aud` must hold.' }),
  requiredClaims: claimNames.default([]).meta({ description: 'Claims that must be there.' }),
  claimValues: z
    .record(z.string().min(1).max(255), z.strictObject({ values: valuesField, matchType: z.enum(matchTypes).default('exact') }))
    .default({})
    .meta({ description: 'Claim -> the values that it may hold, and how they are compared.' }),
  headerPayloadMatch: claimNames
    .default([])
    .meta({ description: "Names that must have the same value in the token's header and in its claims." }),
  extractClaims: claimNames.default([]).meta({ description: 'Claims that go to the provider as headers.' }),
  claimPrefix: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,62}-$/i, 'Write letters, digits and dashes, with a dash at the end.')
    .default('x-jwt-')
    .meta({ description: 'The prefix of the names of those headers; a caller cannot send such headers.' }),
}

type Parameters = z.output<z.ZodObject<typeof fields>>

/** Checks the caller by a token of another issuer. */
export const jwt = check({
  id: 'default.jwt',
  title: 'JWT',
  about: 'Passes when the caller shows a token that is signed by the issuer, in time, for the audience, and with the claims asked for.',
  phases: ['input'],
  reads: 'request',
  readsBody: false,
  timeoutMs: 5000,
  changes: true,
  urls: ['jwksUri', 'introspectEndpoint'],
  passesOn: (given) =>
    showsCredentials(given)
      ? { field: 'introspectEndpoint', what: 'Without jwksUri or jwks, the endpoint is asked about any credential' }
      : null,
  fields,
  rule({ jwks, jwksUri, introspectEndpoint, claimValues }) {
    if (jwks === undefined && jwksUri === undefined && introspectEndpoint === undefined)
      return { field: 'jwksUri', message: 'Give jwksUri, jwks or introspectEndpoint.' }
    if (jwks !== undefined && jwksUri !== undefined)
      return { field: 'jwksUri', message: 'Give jwks or jwksUri: the keys come from one of them.' }
    const fault = Object.values(claimValues)
      .map(({ values, matchType }) => valuesFault(matchType, toValues(values)))
      .find((found) => found !== null)
    return fault === undefined ? null : { field: 'claimValues', message: fault }
  },
  ready(parameters) {
    const claims = Object.entries(parameters.claimValues).map(([name, { values, matchType }]) => ({
      name,
      holds: matcher(matchType, toValues(values)),
    }))
    const header = parameters.headerKey.toLowerCase()
    const shows = showsCredentials(parameters)
    const verify = verifier(parameters)
    return {
      judgesPrefix: false,
      async run({ request }, context) {
        if (shows && !context.passesCredentials) return verdict(false, onlyOfOrganisation)
        const sent = request.header(header)
        const token = bearerToken(sent) ?? sent
        if (token === undefined || token === '') return verdict(false, `There is no token in ${parameters.headerKey}.`)
        const payload = await verify(token, context)
        if (typeof payload === 'string') return verdict(false, payload)
        const fault = claimFault(token, payload, { parameters, claims })
        return fault === null ? passed(payload, parameters) : verdict(false, fault)
      },
    }
  },
})

const onlyOfOrganisation =
  'Only a guardrail of the organisation asks an introspection endpoint about a text that may be any credential. Give jwksUri or jwks beside it.'

/** Returns whether an endpoint sees any credential that callers send: without keys a text cannot be recognised as a token before. */
function showsCredentials(given: Fields): boolean {
  const { introspectEndpoint, jwks, jwksUri, headerKey = 'Authorization' } = given
  const hasKeys = jwks !== undefined || jwksUri !== undefined
  return introspectEndpoint !== undefined && !hasKeys && typeof headerKey === 'string' && isCredentialHeader(headerKey.toLowerCase())
}

/** The claims of a good token, or its fault. Rejects when that cannot be decided. */
type Verify = (token: string, context: CheckContext) => Promise<JWTPayload | string>

/** Verifies with the keys, asks the issuer, or does the one and then the other. */
function verifier(parameters: Parameters): Verify {
  const signed = signatureVerifier(parameters)
  const { introspectEndpoint: url } = parameters
  if (url === undefined) return signed ?? (() => Promise.resolve('There is no key to verify the token with.'))
  const asked: Verify = (token, context) => introspect(token, { url, ...parameters }, context)
  if (signed === null) return async (token, context) => withClaims(await asked(token, context), token, { parameters, context })
  return async (token, context) => {
    const payload = await signed(token, context)
    if (typeof payload === 'string') return payload
    const said = await asked(token, context)
    return typeof said === 'string' ? said : payload
  }
}

/** Null when there are no keys to verify with. */
function signatureVerifier(parameters: Parameters): Verify | null {
  const { jwks, jwksUri: url, cacheMaxAge, algorithms: believed = ['RS256'], maxTokenAge = '1d' } = parameters
  const options = (context: CheckContext) => ({
    ...claimOptions(parameters, context),
    algorithms: [...believed],
    maxTokenAge,
    requiredClaims: ['exp'],
  })
  if (jwks !== undefined) {
    const keys = localKeys(jwks)
    return (token, context) => explained(() => jwtVerify(token, keys, options(context)))
  }
  if (url === undefined) return null
  return (token, context) => {
    const { egress, organisationId, timeoutMs, now } = context
    const keys = remoteKeys({ egress, url, owner: `checks of ${organisationId}`, maxAgeMs: cacheMaxAge * 1000, timeoutMs, now })
    return explained(() => jwtVerify(token, keys, options(context)))
  }
}

/** Checks the issuer's answer about a token by the same rules as the claims of a signed one. */
async function withClaims(
  said: JWTPayload | string,
  token: string,
  { parameters, context }: { readonly parameters: Parameters; readonly context: CheckContext },
): Promise<JWTPayload | string> {
  if (typeof said === 'string') return said
  const { algorithms: believed } = parameters
  const alg = headerOf(token)['alg']
  if (believed !== undefined && !believed.some((name) => name === alg))
    return `The token is not accepted: its algorithm is none of ${believed.join(', ')}.`
  return explained(async () => UnsecuredJWT.decode(new UnsecuredJWT(said).encode(), claimOptions(parameters, context)))
}

const claimOptions = (
  { clockTolerance, maxTokenAge, issuer, audience }: Parameters,
  { now }: CheckContext,
): JWTClaimVerificationOptions => ({
  clockTolerance,
  currentDate: new Date(now()),
  ...(maxTokenAge !== undefined && { maxTokenAge }),
  ...(issuer !== undefined && { issuer }),
  ...(audience !== undefined && { audience }),
})

async function explained(verify: () => Promise<{ readonly payload: JWTPayload }>): Promise<JWTPayload | string> {
  try {
    return (await verify()).payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return `The token is not accepted: ${error.message}.`
    if (error instanceof TypeError) return 'The token is not accepted: its key does not fit its algorithm.'
    throw error
  }
}

interface Rules {
  readonly parameters: Parameters
  readonly claims: readonly { readonly name: string; readonly holds: (held: readonly string[]) => boolean }[]
}

function claimFault(token: string, payload: JWTPayload, { parameters, claims }: Rules): string | null {
  const missing = parameters.requiredClaims.filter((name) => !Object.hasOwn(payload, name))
  if (missing.length > 0) return `The token lacks ${missing.join(', ')}.`
  const wrong = claims.filter(({ name, holds }) => !holds(textsOf(Object.hasOwn(payload, name) ? payload[name] : undefined)))
  if (wrong.length > 0) return `The token does not hold the demanded values of ${wrong.map(({ name }) => name).join(', ')}.`
  const different = parameters.headerPayloadMatch.filter((name) => !sameInBoth(token, payload, name))
  return different.length === 0 ? null : `Header and claims of the token differ in ${different.join(', ')}.`
}

function sameInBoth(token: string, payload: JWTPayload, name: string): boolean {
  const header = headerOf(token)
  return Object.hasOwn(header, name) && header[name] !== undefined && header[name] === payload[name]
}

/** The header of a token; a token that is no JWT, which only its issuer understands, has none. */
function headerOf(token: string): Readonly<Record<string, unknown>> {
  try {
    return { ...decodeProtectedHeader(token) }
  } catch {
    return {}
  }
}

/** A claim as texts; a list may also be written as words with spaces, as `scope` is. */
function textsOf(claim: unknown): readonly string[] {
  if (Array.isArray(claim)) return claim.map(String)
  if (typeof claim === 'string') return [claim, ...(claim.includes(' ') ? claim.split(' ') : [])]
  return claim === undefined || claim === null ? [] : [JSON.stringify(claim)]
}

function passed(payload: JWTPayload, { extractClaims, claimPrefix }: Parameters): Verdict {
  const good = verdict(true, 'The token is good.', payload.sub === undefined ? {} : { sub: payload.sub })
  if (extractClaims.length === 0) return good
  const added = extractClaims.flatMap((name) => {
    const value = Object.hasOwn(payload, name) ? headerText(payload[name]) : null
    return value === null ? [] : [claimPrefix.toLowerCase() + name.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-'), value]
  })
  return { ...good, headers: { added, replaces: claimPrefix.toLowerCase() } }
}

/** A claim as a header's value: JSON where it is no plain text. */
function headerText(claim: unknown): string | null {
  const text = typeof claim === 'string' ? claim : JSON.stringify(claim)
  return text !== undefined && /^[\x20-\x7e]{0,4096}$/.test(text) ? text : null
}
