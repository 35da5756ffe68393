import type { ApiError } from '../../../lib/errors.ts'
import type { MaybePromise } from '../../../lib/maybe-promise.ts'

/** The holder of tokens for a server: the gateway itself, or one person. */
export interface GrantOwner {
  readonly organisationId: string
  readonly integrationId: string
  /** Null: the gateway itself. */
  readonly person: { readonly serverId: string; readonly userId: string } | null
}

/** The tokens that a holder has now. */
export interface McpGrantView {
  readonly id: string
  /** Counts the tokens of the grant. */
  readonly generation: number
  readonly accessToken: string
  /** Epoch milliseconds. */
  readonly givenAt: number
  /** Epoch milliseconds; null: it has no known end. */
  readonly expiresAt: number | null
}

/** The tokens that a caller has used, so that only these are renewed. */
export type UsedTokens = Pick<McpGrantView, 'id' | 'generation'>

/** The port to stored grants. See `Snapshot` for errors. */
export interface McpGrants {
  /** The tokens of a holder. Null: none was given. */
  mcpGrant(owner: GrantOwner): MaybePromise<McpGrantView | null>
}

/** The renewal of tokens. */
export interface McpTokens {
  /** Renews tokens once for all processes, or returns those that came meanwhile. Rejects with `authorization_required` and `credential_failed`. */
  renew(owner: GrantOwner, used: UsedTokens | null): Promise<McpGrantView>
  /** Returns the error of a call whose server refuses a token that was just renewed. */
  refusal(owner: GrantOwner): ApiError
}
