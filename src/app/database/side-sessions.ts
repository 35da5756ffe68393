import type { Client, ClientConfig } from 'pg'
import { ownName, type OwnUse } from '../../config/side-sessions.ts'
import { enter, sessionClient } from './session.ts'

/** A session that sees all organisations, and hangs for two seconds at most. */
export const systemSession = (client: ClientConfig): ClientConfig => ({
  ...client,
  options: `${client.options ?? ''} -c statement_timeout=2000 -c app.scope=system`,
  connectionTimeoutMillis: 2000,
  query_timeout: 2500,
})

/** Makes the one client of a use; `enter` connects it. */
export const sideClient = (use: OwnUse, config: ClientConfig, name = ownName(use)): Client =>
  sessionClient({ ...config, application_name: name })

/** Runs `work` on the one connection of a use, and closes it afterwards. */
export async function withSideClient<T>(use: OwnUse, config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = sideClient(use, config)
  try {
    await enter(client, config)
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
