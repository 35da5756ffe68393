import type { Client, ClientConfig } from 'pg'
import { enter } from '../database/session.ts'
import { sideClient } from '../database/side-sessions.ts'

/** One connection, made when it is needed and given up when something went wrong with it. */
export interface Session {
  client(): Promise<Client>
  /** Closes it; the next `client()` makes another. */
  drop(): Promise<void>
}

/** Limits in milliseconds, so that a dead peer is noticed; the statement limit of a batch is in its transaction. */
const limits = { connectionTimeoutMillis: 5_000, query_timeout: 40_000, keepAlive: true }

/** A session on `config`; no connection is open yet. */
export function createSession(use: 'journal' | 'log-store', config: ClientConfig): Session {
  let current: Client | null = null
  const drop = async () => {
    const client = current
    current = null
    await client?.end().catch(() => {})
  }
  return {
    drop,
    async client() {
      if (current !== null) return current
      const asked = { ...config, ...limits }
      const client = sideClient(use, asked)
      client.on('error', () => {
        if (current === client) current = null
      })
      try {
        await enter(client, asked)
      } catch (error) {
        await client.end().catch(() => {})
        throw error
      }
      current = client
      return client
    },
  }
}
