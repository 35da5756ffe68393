import { ApiError } from '../../../lib/errors.ts'

/** A refused token, by its own claims. None of them was proved, unless the error is about a scope. */
export interface TokenRefusal {
  readonly organisationId: string
  readonly holder: string | null
}

const noted = new WeakMap<ApiError, TokenRefusal>()

/** Keeps the token of an error beside it, for the audit trail; the caller does not see it. */
export const noteRefusal = (error: ApiError, refusal: TokenRefusal): void => void noted.set(error, refusal)

/** The token that an error is about; null when it is about none. */
export const refusalOf = (error: unknown): TokenRefusal | null => (error instanceof ApiError ? (noted.get(error) ?? null) : null)
