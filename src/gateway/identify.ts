import { isApiKey } from '../lib/api-key.ts'
import { ApiError } from '../lib/errors.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { KeyView, Snapshot } from './doors.ts'
import type { CallerHeaders, KeyHeader } from './headers.ts'
import type { GatewayMetrics } from './metrics.ts'

/** Who calls. */
export interface Caller {
  readonly key: KeyView
  /** Whether a value is a key of ours: the one that was used, wherever else it stands, or another of our making. It never goes upstream. */
  readonly isOwnKey: (value: string) => boolean
}

/** What SDKs send when they were given no key of the provider. */
const placeholder = 'DUMMY-KEY'

export interface IdentifyDeps {
  readonly snapshot: Snapshot
  readonly metrics: GatewayMetrics
}

/**
 * Finds the caller's key: `x-service-api-key`, else a bearer token that is one of our keys, else `x-api-key`, else `api-key`.
 * Synchronous when the snapshot holds the key. Throws `unauthorized`, `expired_key` or `forbidden`.
 */
export function identify(headers: CallerHeaders, deps: IdentifyDeps): MaybePromise<Caller> {
  const own = present(headers.service.get('api-key'))
  const candidates = own === null ? sharedHeaders.flatMap((name) => candidate(headers, name)) : [own]
  if (candidates.length === 0) {
    deps.metrics.authFailure('missing')
    throw new ApiError('unauthorized', 'No API key was sent. Put your Gatehouse key in x-service-api-key, or in Authorization: Bearer.', {
      param: 'x-service-api-key',
    })
  }
  return tryNext(candidates, 0, deps)
}

const sharedHeaders = ['authorization', 'x-api-key', 'api-key'] as const

function candidate(headers: CallerHeaders, header: KeyHeader): readonly string[] {
  const value = headers.keys[header]
  const secret = present(header === 'authorization' ? bearerToken(value) : value)
  return secret === null ? [] : [secret]
}

/** The token of `Bearer <token>`, whatever the case of the scheme; undefined for other schemes. */
export function bearerToken(value: string | undefined): string | undefined {
  if (value === undefined || value.length < 8 || value.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  return value.slice(7).trim()
}

function present(value: string | undefined): string | null {
  return value === undefined || value === '' || value === placeholder ? null : value
}

function tryNext(candidates: readonly string[], index: number, deps: IdentifyDeps): MaybePromise<Caller> {
  const secret = candidates[index]
  if (secret === undefined) {
    deps.metrics.authFailure('unknown')
    throw new ApiError('unauthorized', 'The API key is not known here, or it was revoked.', { param: 'x-service-api-key' })
  }
  const settle = (key: KeyView | null): MaybePromise<Caller> =>
    key === null
      ? tryNext(candidates, index + 1, deps)
      : { key: usable(key, deps), isOwnKey: (value) => value === secret || isApiKey(value) }
  const found = deps.snapshot.key(secret)
  return found instanceof Promise ? found.then(settle) : settle(found)
}

function usable(key: KeyView, deps: IdentifyDeps): KeyView {
  if (key.status === 'expired' || (key.expiresAt !== null && key.expiresAt <= Date.now())) {
    deps.metrics.authFailure('expired')
    throw new ApiError('expired_key', 'The API key has expired. Rotate it, or ask for a new one.', { param: 'x-service-api-key' })
  }
  if (key.status === 'exhausted') throw new ApiError('budget_exhausted', 'The budget of this API key is used up.')
  if (!key.scopes.has('completions.write')) {
    deps.metrics.authFailure('scope')
    throw new ApiError(
      'forbidden',
      'This API key lacks the scope completions.write, which calls to providers need. Use a workspace key that has it.',
    )
  }
  return key
}
