import { ApiError } from '../../../lib/errors.ts'

/** A token that was refused, as it told of itself. Nothing of it was proved, unless the error is about a scope. */
export interface TokenRefusal {
  readonly organisationId: string
  readonly holder: string | null
}

const noted = new WeakMap<ApiError, TokenRefusal>()

/** Keeps beside an error which token it is about, for the audit trail; the caller is not told. */
export const noteRefusal = (error: ApiError, refusal: TokenRefusal): void => void noted.set(error, refusal)

/** The token that an error is about; null when it is about none. */
export const refusalOf = (error: unknown): TokenRefusal | null => (error instanceof ApiError ? (noted.get(error) ?? null) : null)
