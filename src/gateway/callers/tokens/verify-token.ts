import { decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose'
import { ApiError, type ErrorCode } from '../../../lib/errors.ts'
import type { TokenSettings } from '../../../lib/access/token-settings.ts'
import type { AllowedHosts } from '../../egress/allowed-hosts.ts'
import type { Egress } from '../../egress/egress.ts'
import { egressFor } from '../../egress/narrowed.ts'
import { localKeys, remoteKeys, type FindKey } from '../../key-sets/jwks.ts'

/** Returns whether a credential has the form of a signed token: three parts, of which the first is a JSON object. */
export const looksLikeToken = (secret: string): boolean => secret.startsWith('eyJ') && /^[\w-]+\.[\w-]*\.[\w-]*$/.test(secret)

/** Longer ones are refused unread. */
const longestToken = 16 * 1024
const keysTimeoutMs = 5000
const types: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt'])

/** Why a token is not accepted. */
export const tokenFault = (message: string, code: ErrorCode = 'unauthorized', cause?: unknown): ApiError =>
  new ApiError(code, `The token is not accepted: ${message}`, { param: 'authorization', cause })

/** Reads a token before anything of it is believed. Throws `unauthorized` when it cannot be read. */
export function readUnverified(token: string): JWTPayload {
  if (token.length > longestToken) throw tokenFault(`it is longer than ${longestToken} characters.`)
  try {
    return decodeJwt(token)
  } catch (error) {
    throw tokenFault('it is no JSON Web Token.', 'unauthorized', error)
  }
}

export interface VerifyDeps {
  readonly egress: Egress
  /** The organisation whose issuer it is. */
  readonly organisationId: string
  /** The hosts that the organisation allows; null: all. */
  readonly allowedHosts: AllowedHosts | null
  /** Epoch milliseconds. */
  readonly now: () => number
  /** The audience that is ours by default; null: none is. */
  readonly ownAudience: string | null
}

/**
 * The claims of a token whose header, signature and times are good. Throws `unauthorized` or `expired_key`; `forbidden` when its
 * keys may not be fetched from where they are said to be; `dependency_unavailable` when they cannot be had.
 */
export async function verifyToken(token: string, settings: TokenSettings, deps: VerifyDeps): Promise<JWTPayload> {
  checkHeader(token, settings)
  try {
    const { payload } = await jwtVerify(token, toKeys(settings, deps), optionsOf(settings, deps.now()))
    checkTimes(payload, settings, deps.now())
    checkAudience(payload, settings, deps)
    return payload
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw error
    throw explained(error, token)
  }
}

/** A token must end some day, because a theft may go unnoticed. */
const longestLifeDays = 366
const dayMs = 24 * 60 * 60 * 1000

/** Refuses tokens that the library accepts: one from the future, and one that never ends. */
function checkTimes({ iat, exp = 0 }: JWTPayload, { clock_tolerance: tolerance }: TokenSettings, now: number): void {
  if (iat !== undefined && iat * 1000 > now + tolerance * 1000) throw tokenFault('it was issued in the future.')
  if (exp * 1000 > now + longestLifeDays * dayMs + tolerance * 1000)
    throw tokenFault(`it is good for more than ${longestLifeDays} days from now; its exp must be nearer.`)
}

/** A token for another audience is none for us, even where the organisation does not set our name. */
function checkAudience({ aud }: JWTPayload, { audience }: TokenSettings, { ownAudience }: VerifyDeps): void {
  if (audience !== undefined || aud === undefined || [aud].flat().some((one) => one === ownAudience)) return
  throw tokenFault(`it is for ${shown(aud)}, and the organisation names no audience. An admin of it can set settings.jwt.audience.`)
}

/** Before any key is looked for, so that bad tokens cannot make us fetch keys. */
function checkHeader(token: string, { algorithms }: TokenSettings): void {
  const { alg, typ, kid } = headerOf(token)
  if (alg === undefined || !algorithms.some((allowed) => allowed === alg))
    throw tokenFault(`its algorithm is ${shown(alg)}; allowed are ${algorithms.join(', ')}.`)
  if (typ === undefined || !types.has(typ.toLowerCase())) throw tokenFault(`its typ is ${shown(typ)}; it must be JWT.`)
  if (typeof kid !== 'string' || kid === '' || kid.length > 255) throw tokenFault('its header has no kid, by which its key is found.')
}

function headerOf(token: string) {
  try {
    return decodeProtectedHeader(token)
  } catch (error) {
    throw tokenFault('its header cannot be read.', 'unauthorized', error)
  }
}

const shown = (value: unknown): string => (value === undefined ? 'missing' : JSON.stringify(value).slice(0, 60))

function toKeys({ jwks, jwks_url: url, jwks_cache_max_age: maxAge }: TokenSettings, { egress, now, ...owner }: VerifyDeps): FindKey {
  if (jwks !== undefined) return inlineKeys(jwks)
  if (url === undefined) throw new Error('nobody says how the token is verified')
  return remoteKeys({
    egress: egressFor(egress, owner),
    url,
    owner: `tokens of ${owner.organisationId}`,
    maxAgeMs: maxAge * 1000,
    timeoutMs: keysTimeoutMs,
    now,
  })
}

/** Keys are imported once for as long as the settings stay as they are. */
const imported = new WeakMap<object, FindKey>()

function inlineKeys(jwks: NonNullable<TokenSettings['jwks']>): FindKey {
  const keys = imported.get(jwks) ?? localKeys(jwks)
  imported.set(jwks, keys)
  return keys
}

const optionsOf = (
  { algorithms, clock_tolerance: clockTolerance, max_token_age: maxTokenAge, issuer, audience }: TokenSettings,
  now: number,
): JWTVerifyOptions => ({
  algorithms: [...algorithms],
  clockTolerance,
  currentDate: new Date(now),
  requiredClaims: ['exp'],
  ...(maxTokenAge !== null && { maxTokenAge }),
  ...(issuer !== undefined && { issuer }),
  ...(audience !== undefined && !takesAny(audience) && { audience }),
})

const takesAny = (audience: string | readonly string[]): boolean => [audience].flat().includes('*')

function explained(error: unknown, token: string): ApiError {
  if (error instanceof errors.JWTExpired && error.claim === 'iat')
    return tokenFault(`it is older than this organisation allows: ${timesOf(error.payload)}.`, 'expired_key', error)
  if (error instanceof errors.JWTExpired) return tokenFault(`it expired: ${timesOf(error.payload)}.`, 'expired_key', error)
  if (error instanceof errors.JWTClaimValidationFailed) return tokenFault(claimFault(error), 'unauthorized', error)
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return tokenFault(`the issuer has no key for the kid ${shown(headerOf(token).kid)} and its algorithm.`, 'unauthorized', error)
  if (error instanceof errors.JWSSignatureVerificationFailed) return tokenFault('its signature is wrong.', 'unauthorized', error)
  if (error instanceof errors.JOSEError) return tokenFault(`${error.message}.`, 'unauthorized', error)
  if (error instanceof TypeError) return tokenFault('its key does not fit its algorithm, or is too short.', 'unauthorized', error)
  return keysFault(error)
}

/** Names the fault of the token; the right value stays with the makers of tokens. */
function claimFault({ claim, reason, payload }: errors.JWTClaimValidationFailed): string {
  if (reason === 'missing') return `the claim ${claim} is missing.`
  if (claim === 'nbf') return `it is not valid yet: ${timesOf(payload)}.`
  if (claim === 'iat') return `it was issued in the future, or at no time: ${timesOf(payload)}.`
  return `the claim ${claim} is ${shown(payload[claim])}, which is not what this organisation expects.`
}

const timesOf = (payload: JWTPayload): string =>
  (['iat', 'nbf', 'exp'] as const)
    .flatMap((name) => {
      const at = new Date(Number(payload[name]) * 1000)
      return payload[name] === undefined || Number.isNaN(at.getTime()) ? [] : [`${name} ${at.toISOString()}`]
    })
    .join(', ')

function keysFault(error: unknown): ApiError {
  if (error instanceof ApiError && error.code === 'blocked_host')
    return tokenFault("requests may not go to the host of this organisation's jwks_url.", 'forbidden', error)
  return new ApiError('dependency_unavailable', 'The token cannot be verified: the keys of its issuer cannot be had. Try again shortly.', {
    param: 'authorization',
    cause: error,
  })
}
