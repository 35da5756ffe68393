import type { LogStoreConfig } from '../../config/config.ts'
import { Secret } from '../../lib/secret.ts'
import type { WorkerConnection } from '../journal/messages.ts'

/** The input of the thread. It is plain data, since it is copied. */
export interface MoverInput {
  readonly connection: WorkerConnection
  readonly store: PlainStore
  readonly retentionDays: number
  readonly trustedHosts: readonly string[]
  readonly connectTimeoutMs: number
}

/** The settings of the store with their secrets in the clear, as another thread needs them. */
type PlainStore = {
  readonly [Name in keyof LogStoreConfig]: LogStoreConfig[Name] extends Secret | null ? string | null : LogStoreConfig[Name]
}

/** The report of the thread after each pass. */
export interface MoverReport {
  readonly moved: number
  readonly failed: number
  readonly fault: string | null
  /** The logs that wait, at most as many as are counted; null: not counted this time. */
  readonly waiting: number | null
}

export const packStore = (store: LogStoreConfig): PlainStore => ({
  ...store,
  accessKey: store.accessKey?.reveal() ?? null,
  secretKey: store.secretKey?.reveal() ?? null,
  accountKey: store.accountKey?.reveal() ?? null,
  clientSecret: store.clientSecret?.reveal() ?? null,
})

export const unpackStore = (store: PlainStore): LogStoreConfig => ({
  ...store,
  accessKey: toSecret(store.accessKey),
  secretKey: toSecret(store.secretKey),
  accountKey: toSecret(store.accountKey),
  clientSecret: toSecret(store.clientSecret),
})

const toSecret = (text: string | null): Secret | null => (text === null ? null : new Secret(text))
