import { TLSSocket } from 'node:tls'
import type { Client } from 'pg'

/** The facts of an encrypted connection. */
export interface TlsFacts {
  /** For example `TLSv1.3`. */
  readonly protocol: string
  readonly certificateName: string
  readonly certificateEnds: Date | null
}

/** How a connection is encrypted; null: it is not. */
export function tlsFacts(client: Client): TlsFacts | null {
  const connection: unknown = Reflect.get(client, 'connection')
  const stream: unknown = typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : null
  if (!(stream instanceof TLSSocket)) return null
  const { subject, valid_to: ends } = stream.getPeerCertificate()
  return {
    protocol: stream.getProtocol() ?? 'TLS',
    certificateName: [subject?.CN ?? []].flat().join(', '),
    certificateEnds: ends === undefined ? null : new Date(ends),
  }
}
