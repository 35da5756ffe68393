import type { WorkerConnection } from '../journal/messages.ts'

/** The input of the thread. It is plain data, since it is copied. */
export interface MoverInput {
  readonly connection: WorkerConnection
  /** The settings of the store, in JSON with secrets in the clear. */
  readonly store: string
  /** The identity of the workload, which signs in where no key is stored, likewise. */
  readonly identity: string
  readonly retentionDays: number
  readonly trustedHosts: readonly string[]
  /** The forward proxies, likewise. */
  readonly proxies: string
  readonly connectTimeoutMs: number
}

/** The report of the thread after each pass. */
export interface MoverReport {
  readonly moved: number
  readonly failed: number
  readonly fault: string | null
  /** The logs that wait, at most as many as are counted; null: not counted this time. */
  readonly waiting: number | null
}
