import { originOf, prepare, type SendRequest } from '../outgoing/prepare.ts'
import type { SigningMeans } from '../credentials/signing.ts'
import type { Egress, EgressOrigin, SmallResponse } from '../egress/egress.ts'
import { sendSmall } from '../egress/small-exchange.ts'
import { type MatchedOperation, passThrough } from '../operations/match.ts'
import { secretFields } from '../providers/fields.ts'
import type { ListCall } from '../providers/provider.ts'
import type { Target } from '../targets/target.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { eachHeader } from '../wire/header-list.ts'

/** A small request of our own to a provider, in its own words. */
export interface Question {
  readonly target: Target
  /** Relative to the base URL. */
  readonly path: string
  /** JSON, sent by POST; absent: a GET. */
  readonly body?: string
  /** The operation whose endpoint it is for; absent: the path is the provider's own. */
  readonly operation?: MatchedOperation
  readonly timeoutMs: number
  /** The bound of the answer; absent: 4 MB. */
  readonly maxBytes?: number
  /** Its address by templates that the credential fills; absent: `path`. */
  readonly endpoint?: ListCall
  /** As of `SmallRequest`. */
  readonly hides?: readonly string[]
}

/** The list of a provider with hundreds of models takes half a megabyte. */
const usualBytes = 4 * 1024 * 1024

/** The way to providers. */
export interface ProviderAccess {
  readonly egress: Egress
  readonly signing: SigningMeans
}

/** Sends it with the target's credential. Rejects with an ApiError when there is no answer. */
export async function askProvider(question: Question, access: ProviderAccess): Promise<SmallResponse> {
  const { body, timeoutMs, maxBytes = usualBytes, hides } = question
  const { origin, request } = await prepare(toRequest(question, access))
  const headers: Record<string, string> = {}
  eachHeader(request.headers, (name, value) => (headers[name] = value))
  const { method } = body === undefined ? { method: 'GET' as const } : { method: 'POST' as const }
  const secrets = secretsOf(question.target)
  const sent = { url: origin.origin, method, headers, timeoutMs, maxBytes, secrets, ...(hides !== undefined && { hides }) }
  return sendSmall(origin, request.path, body === undefined ? sent : { ...sent, body })
}

/** Returns the secrets of a target's own credential, also those in whose place a token is sent. */
export function secretsOf({ credential: { key, fields }, customHeaders }: Target): readonly string[] {
  const own = Object.entries(fields).flatMap(([name, value]) => (secretFields.has(name) ? [value] : []))
  return [key ?? '', ...own, ...Object.values(customHeaders)]
}

/** Returns the checked host to which it goes. Throws, or rejects with, `blocked_host`. */
export const originOfQuestion = (question: Question, access: ProviderAccess): MaybePromise<EgressOrigin> =>
  originOf(toRequest(question, access))

const accepted = ['accept', 'application/json', 'accept-encoding', 'identity']

/** Returns a question as the request that is sent. */
export function toRequest(
  { target, path, body, operation = passThrough, timeoutMs, endpoint }: Question,
  { egress, signing }: ProviderAccess,
): SendRequest {
  const bytes = body === undefined ? null : Buffer.from(body)
  const none = { kind: 'none' as const, bytes: null, json: undefined, stream: null, length: null }
  return {
    method: bytes === null ? 'GET' : 'POST',
    path,
    operation,
    endpoint: endpoint === undefined ? null : { model: null, ...endpoint },
    target,
    body: bytes === null ? none : { kind: 'json', bytes, json: undefined, stream: null, length: bytes.length },
    forward: bytes === null ? accepted : [...accepted, 'content-type', 'application/json', 'content-length', String(bytes.length)],
    timeouts: { firstByteMs: timeoutMs, idleMs: timeoutMs },
    egress,
    signing,
    // The given egress decides which hosts may be reached.
    allowed: { everywhere: null, here: null },
  }
}
