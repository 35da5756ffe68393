import type { DialectId } from '../dialects/dialect.ts'
import type { TokenUsage } from '../dialects/neutral/token-usage.ts'

/** An answer of a provider's that may cost although the caller got another one, such as an error. */
export interface UnusedAnswer {
  /** `made`: it is whole. `refused`: it is an error, or cannot be read, and is free unless it states its usage. `cut`: it did not come to its end. */
  readonly state: 'made' | 'refused' | 'cut'
  /** Its bytes, with their format; null: there are none to read. */
  readonly written: { readonly bytes: Buffer; readonly dialect: DialectId | null } | null
  /** Its usage, as far as a translation counted it; null: it is in the bytes, or not known. */
  readonly usage: TokenUsage | null
}

export const noUnused: readonly UnusedAnswer[] = []

/** Returns an answer that is an error, or that nobody can read. */
export const refusedAnswer = (bytes: Buffer, dialect: DialectId | null): UnusedAnswer => ({
  state: 'refused',
  written: { bytes, dialect },
  usage: null,
})

/** The answer of a call that was ended before it. */
export const cutAnswer: UnusedAnswer = { state: 'cut', written: null, usage: null }
