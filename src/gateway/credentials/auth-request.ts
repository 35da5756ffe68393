import type { Egress } from '../egress/egress.ts'
import type { Auth, Credential } from '../providers/provider.ts'
import type { Workload } from './workload/workload.ts'

/** A request on its way to a provider, as it will go on the wire, before it carries a credential. */
export interface AuthRequest {
  readonly auth: Auth
  readonly credential: Credential
  readonly method: string
  readonly url: {
    /** `https://api.openai.com` */
    readonly origin: string
    /** Path and query, as they go on the wire. */
    readonly path: string
  }
  /** Flat name, value ... of all other headers that go out; signatures cover those that matter to the provider. */
  readonly headers: readonly string[]
  /** The whole body, for the kinds that sign it. */
  readonly body: Uint8Array | null
}

/** The proof for the provider. */
export interface AuthProof {
  /** Flat name, value ... Each replaces every header of the same name in the request. */
  readonly headers: readonly string[]
  /** Path and query for the wire. It may hold the key, so logs show the request's own path instead. */
  readonly path: string
}

/** The services of authorization: token endpoints are reached through the egress guard, and time is given. */
export interface AuthDeps {
  readonly egress: Egress
  /** Epoch milliseconds. */
  now(): number
  /** The platform of this process; absent: unknown. */
  readonly workload?: Workload
  /**
   * The organisation that stored the credential with an integration or a secret reference; absent or null: the caller brought it. Only stored
   * credentials may use the workload's identity.
   */
  readonly storedBy?: string | null
}
