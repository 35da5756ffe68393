import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client'
import { ApiError } from '../../lib/errors.ts'

/** Returns a failure on the way to a provider, or in its answer, as our error. The cause stays in the log. */
export function providerError(thrown: unknown): ApiError {
  const own = ownCause(thrown)
  if (own !== null) return own
  if (thrown instanceof AuthorizationResponseError)
    return new ApiError('AB03', `The identity provider refused the sign-in: ${word(thrown.error)}.`, { param: 'error', cause: thrown })
  if (thrown instanceof ResponseBodyError) {
    const said = word(thrown.error)
    if (said === 'invalid_grant') return unverified('the code was used, or is not of this sign-in', thrown)
    return new ApiError('credential_failed', `The token endpoint of the identity provider refused Gatehouse itself: ${said}.`, {
      cause: thrown,
    })
  }
  if (thrown instanceof ClientError && thrown.code !== undefined && faults.has(thrown.code))
    return new ApiError('upstream_bad_response', `The answer of the identity provider is wrong: ${thrown.message}.`, { cause: thrown })
  return unverified(thrown instanceof ClientError ? reasonOf(thrown) : 'it is not what was asked for', thrown)
}

const unverified = (reason: string, cause: unknown) =>
  new ApiError('AB05', `The answer of the identity provider could not be verified: ${reason}. Begin again.`, { cause })

/** The failures of a provider that are no facts about the person who signs in. */
const faults: ReadonlySet<string> = new Set([
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_TIMEOUT',
])

/** The texts of the library name claims and parameters; they hold no values. */
const reasonOf = ({ message, cause }: ClientError): string =>
  (cause instanceof Error && cause.message !== '' ? cause.message : message).slice(0, 200)

const word = (text: string): string => /^[\w.-]{1,64}$/.exec(text)?.[0] ?? 'it gives no reason'

function ownCause(thrown: unknown): ApiError | null {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1)
    if (error instanceof ApiError) return error
  return null
}
