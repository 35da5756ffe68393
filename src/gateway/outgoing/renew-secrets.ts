import { toApiError, type ApiError } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { EgressCall, EgressHandler, EgressOrigin } from '../egress/egress.ts'
import type { Credential } from '../providers/provider.ts'
import type { PreparedRequest } from './prepared.ts'

/** How a request is made again with the secrets that its managers have now. */
export interface SecretRenewal {
  /** False: the body is gone once it was sent. */
  readonly isWorth: boolean
  /** Asks the managers; null: their secrets give the same credential. */
  again(former: Credential): Promise<{ readonly credential: Credential; readonly prepared: PreparedRequest } | null>
}

/** Returns true if two credentials are the same to the letter. */
export const sameCredential = (one: Credential, other: Credential): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Prepares a request; when a token service refuses the secret of it, once more with the secret that is there now. */
export function renewed(
  ready: () => MaybePromise<PreparedRequest>,
  credential: Credential,
  renewing: SecretRenewal,
): MaybePromise<PreparedRequest> {
  const retried = (error: unknown): Promise<PreparedRequest> => prepareAgain(error, credential, renewing)
  try {
    const prepared = ready()
    const listening = (one: PreparedRequest): PreparedRequest => ({ ...one, origin: renewingOrigin(one.origin, credential, renewing) })
    return prepared instanceof Promise ? prepared.then(listening, retried) : listening(prepared)
  } catch (error) {
    return retried(error)
  }
}

async function prepareAgain(refusal: unknown, credential: Credential, renewing: SecretRenewal): Promise<PreparedRequest> {
  if (!isRefusal(refusal)) throw refusal
  const next = await againOrNull(renewing, credential)
  if (next === null) throw refusal
  return next.prepared
}

/** Faults of the managers themselves do not matter then: the first refusal is the answer. */
async function againOrNull(renewing: SecretRenewal, credential: Credential): ReturnType<SecretRenewal['again']> {
  try {
    return await renewing.again(credential)
  } catch {
    return null
  }
}

const isRefusal = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'credential_failed'

/** An origin whose requests are sent a second time when the provider refuses the credential and a new one is there. */
const renewingOrigin = (origin: EgressOrigin, credential: Credential, renewing: SecretRenewal): EgressOrigin => ({
  ...origin,
  send(request, handler) {
    if (!renewing.isWorth) return origin.send(request, handler)
    const sending = new RenewingCall(handler, () => renewing.again(credential))
    sending.follow(origin.send(request, sending))
    return sending
  },
})

const refusals: ReadonlySet<number> = new Set([401, 403])
/** A refusal is short; a longer answer goes on as it is. */
const mostHeldBytes = 64 * 1024

type Event =
  | { readonly kind: 'headers'; readonly of: Parameters<EgressHandler['onHeaders']> }
  | { readonly kind: 'data'; readonly chunk: Buffer }
  | { readonly kind: 'end'; readonly trailers: readonly string[] }
  | { readonly kind: 'error'; readonly error: ApiError }

type PrepareAgain = () => Promise<{ readonly prepared: PreparedRequest } | null>

/** A call that holds a refusal back while the managers are asked, and releases it when they have no new secret. */
class RenewingCall implements EgressHandler, EgressCall {
  readonly #handler: EgressHandler
  readonly #again: PrepareAgain
  #call: EgressCall | null = null
  /** Null: no event is held. */
  #held: Event[] | null = null
  #heldBytes = 0
  #isAborted = false
  #isPaused = false

  constructor(handler: EgressHandler, again: PrepareAgain) {
    this.#handler = handler
    this.#again = again
  }

  follow(call: EgressCall): void {
    this.#call = call
    if (this.#isAborted) call.abort()
    else if (this.#isPaused) call.pause()
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    this.#handler.onInformation?.(status, rawHeaders)
  }

  onHeaders(...of: Parameters<EgressHandler['onHeaders']>): void {
    if (!refusals.has(of[0])) return this.#handler.onHeaders(...of)
    this.#held = [{ kind: 'headers', of }]
    this.#again().then(
      (next) => this.#goOn(next?.prepared ?? null),
      () => this.#goOn(null),
    )
  }

  onData(chunk: Buffer): void {
    if (this.#held === null) return this.#handler.onData(chunk)
    this.#held.push({ kind: 'data', chunk })
    this.#heldBytes += chunk.length
    if (this.#heldBytes > mostHeldBytes) this.#call?.pause()
  }

  onEnd(trailers: readonly string[]): void {
    if (this.#held === null) this.#handler.onEnd(trailers)
    else this.#held.push({ kind: 'end', trailers })
  }

  onError(error: Error): void {
    if (this.#held === null) this.#handler.onError(error)
    else this.#held.push({ kind: 'error', error: toApiError(error) })
  }

  /** Sends the request again, or releases the held events. */
  #goOn(prepared: PreparedRequest | null): void {
    const held = this.#held ?? []
    this.#held = null
    if (this.#isAborted) return
    if (prepared !== null) {
      this.#call?.abort()
      // The new credential is not asked about again: its refusal is the answer.
      this.follow(prepared.origin.send(prepared.request, this.#handler))
      return
    }
    for (const event of held) {
      if (this.#isAborted) return
      give(event, this.#handler)
    }
    if (!this.#isPaused) this.#call?.resume()
  }

  abort(): void {
    this.#isAborted = true
    this.#call?.abort()
  }

  pause(): void {
    this.#isPaused = true
    this.#call?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#call?.resume()
  }
}

function give(event: Event, handler: EgressHandler): void {
  if (event.kind === 'headers') handler.onHeaders(...event.of)
  else if (event.kind === 'data') handler.onData(event.chunk)
  else if (event.kind === 'end') handler.onEnd(event.trailers)
  else handler.onError(event.error)
}
