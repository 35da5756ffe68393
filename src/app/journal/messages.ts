import type { ClientConfig } from 'pg'
import type { DatabaseConfig } from '../../config/config.ts'
import { Secret } from '../../lib/secret.ts'
import { sslOptions } from '../database/ssl.ts'
import type { SpanCounts } from './span-exporter.ts'

/** The input of the worker. It is plain data, since it is copied to another thread. */
export interface WorkerInput {
  readonly root: string
  readonly segmentBytes: number
  /** Names this process's records that come from memory, for their cursor. */
  readonly memory: string
  readonly connection: WorkerConnection
  /** True if the bodies of logs are to be moved to a log store. */
  readonly queuesBodies: boolean
  /** The log key; null: words are not kept. */
  readonly wordsUnder: Uint8Array | null
  /** Null: spans of requests are not exported. */
  readonly spans: SpanReceiver | null
}

/** The receiver of spans, with its headers in the clear, and how the thread reaches it. */
export interface SpanReceiver {
  readonly url: string
  readonly headers: string
  readonly contentType: string
  readonly timeoutMs: number
  readonly serviceName: string
  readonly serviceVersion: string
  readonly trustedHosts: readonly string[]
  /** The forward proxies, in JSON with secrets in the clear. */
  readonly proxies: string
  readonly connectTimeoutMs: number
}

/** A `ClientConfig` without its TLS context, which cannot be copied, and the parts to build it again. */
export interface WorkerConnection {
  readonly client: Omit<ClientConfig, 'ssl' | 'password' | 'types' | 'stream'> & { readonly password: string | undefined }
  /** Null: no TLS. */
  readonly tls: (Omit<DatabaseConfig, 'ssl'> & { readonly password: null; readonly ssl: PlainSsl }) | null
}

type PlainSsl = Omit<DatabaseConfig['ssl'], 'key'> & { readonly key: string | null }

/** A frame that the disk refused, and where it ends in the sequence of them: the first at 1. */
export interface HeldFrame {
  readonly end: number
  readonly bytes: Uint8Array
}

export type ToWorker =
  | { readonly type: 'flush'; readonly id: number }
  | { readonly type: 'hold'; readonly held: HeldFrame }
  | { readonly type: 'stop' }

export type FromWorker =
  | {
      readonly type: 'progress'
      readonly own: number
      readonly adopted: number
      readonly rejected: number
      /** Spans since the last report. */
      readonly spans: SpanCounts
      /** Frames from memory that need not be held any longer: up to this one. */
      readonly heldTo: number
      readonly fault: string | null
    }
  | { readonly type: 'flushed'; readonly id: number }
  | { readonly type: 'stopped' }
  | { readonly type: 'log'; readonly level: 'info' | 'warn'; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }

/** Takes a connection apart for the worker. */
export function packConnection(database: DatabaseConfig, client: ClientConfig): WorkerConnection {
  const { host, port, user, database: name, options } = client
  const password = typeof client.password === 'string' ? client.password : undefined
  return {
    client: { host, port, user, database: name, options, password },
    tls: client.ssl === false || client.ssl === undefined ? null : withoutSecrets(database),
  }
}

/** Puts it together again. */
export function unpackConnection({ client, tls }: WorkerConnection): ClientConfig {
  if (tls === null) return { ...client, ssl: false }
  const key = tls.ssl.key === null ? null : new Secret(tls.ssl.key)
  return { ...client, ssl: sslOptions({ ...tls, ssl: { ...tls.ssl, key } }) }
}

function withoutSecrets({ ssl, ...rest }: DatabaseConfig) {
  return { ...rest, password: null, ssl: { ...ssl, key: ssl.key?.reveal() ?? null } }
}
