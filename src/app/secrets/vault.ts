import type { LogSeal } from '../../gateway/ports/journal.ts'
import type { WordHash } from './word-hash.ts'

/**
 * Envelope encryption and key hashing. Key-encryption key (environment or file) -> one wrapped data key per organisation ->
 * AES-256-GCM with a random 96-bit nonce and additional data = table, column, row, organisation, key version.
 * Sealed (no key, or the wrong one): every method throws ApiError `sealed`.
 */
export interface Vault {
  readonly sealed: SealedReason | null
  /** A sealed text for one field of one row. */
  encrypt(place: Place, plaintext: string): Promise<Uint8Array>
  decrypt(place: Place, ciphertext: Uint8Array): Promise<string>
  /** HMAC-SHA256 of an API key under the instance's pepper: the form in which the database stores and finds keys. Synchronous. */
  hashKey(secret: string): Buffer
  /** Seals and opens confidential log data. Synchronous. */
  readonly logs: LogSeal
  /** Names words of logs. */
  readonly words: WordHash
  /** The key of `logs` and `words`, for a thread of this process. */
  logKey(): Uint8Array
}

export type SealedReason = 'missing_key' | 'wrong_key' | 'invalid_key'

export interface Place {
  readonly organisationId: string
  readonly table: string
  readonly column: string
  readonly rowId: string
}
