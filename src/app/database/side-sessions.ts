import type { Client, ClientConfig, Pool, PoolConfig } from 'pg'
import type { Logger } from 'pino'
import { sideSessions, type SideUse } from '../../config/side-sessions.ts'
import { enter, sessionClient, sessionPool } from './session.ts'

/** Makes the pool of one use. Its connections are opened when they are needed; idle ones are closed after `idleTimeoutMillis`. */
export function sidePool(use: SideUse, config: PoolConfig, log?: Logger): Pool {
  const pool = sessionPool({ ...config, application_name: nameOf(use), max: sideSessions[use].most })
  pool.on('error', (error) => log?.debug({ err: error, use }, 'an idle connection to the database was lost'))
  return pool
}

/** The name that PostgreSQL shows for the connections of a use. */
const nameOf = (use: SideUse): string => `gatehouse-${use}`

/** Makes the one client of a use; `enter` connects it. */
export const sideClient = (use: SingleUse, config: ClientConfig, name = nameOf(use)): Client =>
  sessionClient({ ...config, application_name: name })

/** Runs `work` on the one connection of a use, and closes it afterwards. */
export async function withSideClient<T>(use: SingleUse, config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = sideClient(use, config)
  try {
    await enter(client, config)
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** The uses that hold one connection. */
type SingleUse = { [Use in SideUse]: (typeof sideSessions)[Use]['most'] extends 1 ? Use : never }[SideUse]
