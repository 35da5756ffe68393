import { ApiError, type ErrorCode } from '../../lib/errors.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { tokenScopes } from '../../lib/access/scopes.ts'
import { bearerToken } from '../wire/bearer.ts'
import { holdsKeyOfOurs } from './own-keys.ts'
import { noteRefusal } from './tokens/token-refusals.ts'
import type { Tokens } from './tokens/tokens.ts'
import { tokenFault } from './tokens/verify-token.ts'
import type { KeySource, KeyView } from './key.ts'
import type { FailedCredentials } from './failed-credentials.ts'
import { type CallerHeaders, keyHeaders } from '../wire/headers.ts'
import type { GatewayMetrics } from '../ending/metrics.ts'
import { placeholder } from '../wire/placeholder.ts'

/** A caller whose credential was found good. */
export interface Caller {
  readonly key: KeyView
  /**
   * Returns whether a text holds a key of ours: the one that was used, or another with the form of one. Such a text goes neither upstream nor into
   * logs.
   */
  readonly holdsOwnKey: (text: string) => boolean
}

export interface IdentifyDeps {
  readonly snapshot: KeySource
  readonly metrics: GatewayMetrics
  /** Absent: API keys are all that is known. */
  readonly tokens?: Tokens | undefined
  readonly failures: FailedCredentials
  /** The address of the client. */
  readonly address: string
  /** The value of `?key=`, where Google's clients call. */
  readonly queryKey?: string | null
  /** Keys that the operator chose, which no shape gives away. */
  readonly chosenKeys: ReadonlySet<string>
}

/**
 * The caller of the data plane: its key, with the scope that calls to providers need. Synchronous when the snapshot holds the key.
 * Throws `unauthorized`, `expired_key` or `forbidden`.
 */
export function identify(headers: CallerHeaders, deps: IdentifyDeps): MaybePromise<Caller> {
  const toCaller = ({ key, secret }: FoundKey): Caller => ({
    key: entitled(key, deps),
    holdsOwnKey: (text) => holdsKeyOfOurs(text, secret, deps.chosenKeys),
  })
  const found = findKey(headers, deps)
  return settled(found, toCaller)
}

/** No text holds it. */
const noSecret = '\0'

/**
 * The caller for whom the process itself goes on with work that a key began, with the rights that the key has now.
 * Throws `unauthorized`, `expired_key` or `forbidden`.
 */
export const identifyById = (id: string, deps: Pick<IdentifyDeps, 'snapshot' | 'metrics' | 'chosenKeys'>): MaybePromise<Caller> =>
  settled(deps.snapshot.keyById(id), (key) => {
    if (key === null) throw new ApiError('unauthorized', 'The API key that began this work was revoked.')
    return {
      key: entitled(unexpired(key, deps.metrics), deps),
      holdsOwnKey: (text) => holdsKeyOfOurs(text, noSecret, deps.chosenKeys),
    }
  })

type FindDeps = Omit<IdentifyDeps, 'chosenKeys'>

export interface FoundKey {
  readonly key: KeyView
  readonly secret: string
}

/**
 * Finds the caller's key, on either plane: `x-service-api-key`, else a bearer token that is one of our keys, else `x-api-key`, else
 * `api-key`, else `x-goog-api-key`, else the query's. A JSON Web Token of an organisation's issuer stands for a key in
 * each of them. Throws `unauthorized`, `expired_key`, or `rate_limited` for an address that has shown too many that are not good.
 */
export function findKey(headers: CallerHeaders, deps: FindDeps): MaybePromise<FoundKey> {
  const candidates = candidatesOf(headers, deps)
  if (candidates.length === 0) {
    deps.metrics.authFailure('missing')
    throw new ApiError('unauthorized', noKey(headers), { param: 'x-service-api-key' })
  }
  return tryNext({ candidates, deps }, 0, null)
}

/** A client of another gateway has sent its key under that gateway's prefix, which only a setting makes known. */
const noKey = ({ forward }: CallerHeaders): string =>
  `No API key was sent. Put your Gatehouse key in x-service-api-key, or in Authorization: Bearer.${
    forward.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'x-portkey-api-key')
      ? ' To accept the x-portkey-* headers of this client, the operator sets HEADER_ALIASES=portkey.'
      : ''
  }`

/** Returns true if a request has a text in the form of a key in one of its headers. */
export const showsCredential = (headers: CallerHeaders): boolean => candidatesOf(headers, {}).length > 0

/** Returns the possible keys, in the order in which they are tried. */
function candidatesOf({ service, keys }: CallerHeaders, { queryKey }: Pick<FindDeps, 'queryKey'>): readonly string[] {
  const own = present(service.get('api-key'))
  if (own !== null) return [own]
  const candidates: string[] = []
  for (const header of keyHeaders) addPresent(candidates, header === 'authorization' ? bearerToken(keys[header]) : keys[header])
  addPresent(candidates, queryKey ?? undefined)
  return candidates
}

function addPresent(candidates: string[], value: string | undefined): void {
  const secret = present(value)
  if (secret !== null) candidates.push(secret)
}

function present(value: string | undefined): string | null {
  return value === undefined || value === '' || value === placeholder ? null : value
}

interface Search {
  readonly candidates: readonly string[]
  readonly deps: FindDeps
}

/** `refused`: the fault of a token; it is reported when no later credential is good. */
function tryNext(search: Search, index: number, refused: ApiError | null): MaybePromise<FoundKey> {
  const { candidates, deps } = search
  const secret = candidates[index]
  if (secret === undefined) throw nothingFound(deps, refused)
  if (deps.tokens?.isToken(secret) === true) return tryToken(search, index, deps.tokens)
  const settle = (key: KeyView | null): MaybePromise<FoundKey> =>
    key === null ? tryNext(search, index + 1, refused) : { key: unexpired(key, deps.metrics), secret }
  const found = deps.snapshot.key(secret, deps.address)
  return settled(found, settle)
}

/** A token that is not good may be the provider's, beside a key of ours. */
function tryToken(search: Search, index: number, tokens: Tokens): MaybePromise<FoundKey> {
  const secret = search.candidates[index] ?? ''
  const goOn = (error: unknown): MaybePromise<FoundKey> => {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return tryNext(search, index + 1, error)
  }
  try {
    const found = tokens.caller(secret, search.deps.address)
    return found instanceof Promise ? found.then((key) => ({ key, secret }), goOn) : { key: found, secret }
  } catch (error) {
    return goOn(error)
  }
}

const unknownKey =
  'The API key is not known here, or it was revoked. Keys that Gatehouse makes begin with gh-: send one in x-service-api-key, and the key of a provider in Authorization: Bearer.'

function nothingFound({ metrics, failures, address }: FindDeps, refused: ApiError | null): ApiError {
  const limited = failures.failed(address)
  metrics.authFailure(limited !== null ? 'limited' : refused === null ? 'unknown' : 'token')
  return limited ?? refused ?? new ApiError('unauthorized', unknownKey, { param: 'x-service-api-key' })
}

function unexpired(key: KeyView, metrics: GatewayMetrics): KeyView {
  if (key.status !== 'expired' && (key.expiresAt === null || key.expiresAt > Date.now())) return key
  metrics.authFailure('expired')
  throw new ApiError('expired_key', 'The API key has expired. Rotate it, or ask for a new one.', { param: 'x-service-api-key' })
}

function entitled(key: KeyView, { metrics }: Pick<IdentifyDeps, 'metrics'>): KeyView {
  if (key.scopes.has('completions.write')) return key
  metrics.authFailure('scope')
  throw lacks(key, 'completions.write', {
    code: 'forbidden',
    message: 'This API key lacks the scope completions.write, which calls to providers need. Use a workspace key that has it.',
  })
}

/** The refusal of a caller without this scope; for a token it states whether the token could have it at all. */
export function lacks(key: KeyView, scope: string, { code, message }: { readonly code: ErrorCode; readonly message: string }): ApiError {
  if (key.token === undefined) return new ApiError(code, message)
  const reason = key.token.scopes.includes(scope)
    ? `it claims ${scope}, which ${tokenScopes(true).has(scope) ? 'its holder does not have here' : 'no token can hold'}.`
    : `it lacks the scope ${scope}, which this request needs.`
  const error = tokenFault(reason, code)
  noteRefusal(error, { organisationId: key.organisationId, holder: key.name })
  return error
}

/** The refusal of a token that would change a resource that it may only read. */
export function onlyReads(key: KeyView): ApiError {
  const error = tokenFault('a token reads and lists, and cannot write here.', 'AB03')
  noteRefusal(error, { organisationId: key.organisationId, holder: key.name })
  return error
}
