/** Keeps bodies of logs outside the database, one object for each log. */
export interface LogStore {
  /** The place, for people: `s3 logs-bucket`. */
  readonly name: string
  /** Writes an object. The same key again replaces it, so that a repeated write does no harm. Rejects with LogStoreError. */
  put(key: string, object: Uint8Array): Promise<void>
  /** Reads an object; null: there is none. Rejects with LogStoreError. */
  get(key: string): Promise<Uint8Array | null>
  /** Deletes an object, which may be gone already; null: the store gives no right to. Rejects with LogStoreError. */
  readonly remove: ((key: string) => Promise<void>) | null
  /** Deletes objects of logs from before a time, and returns how many; null: rules of the store's own do it. Rejects with LogStoreError. */
  readonly expire: ((before: number) => Promise<number>) | null
}

/** The store refused or failed. The message gives the reason, without credentials. */
export class LogStoreError extends Error {}
