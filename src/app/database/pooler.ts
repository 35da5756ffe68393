import type { Client, ClientConfig } from 'pg'
import { z } from 'zod'
import { BootRefusal } from '../boot-refusal.ts'
import { enter, sessionClient } from './session.ts'

const rounds = 3
const answersWithinMs = 2000

const Greeting = z.object({ processID: z.number() })

/** Returns true if a pooler answered: it greets with a process number of its own making, PostgreSQL with that of the server process. */
export async function hasPooler(client: Client): Promise<boolean> {
  const greeting = Greeting.safeParse({ processID: Reflect.get(client, 'processID') })
  return greeting.success && greeting.data.processID !== (await pidOf(client))
}

/**
 * Returns true if two statements outside a transaction run in different server processes. A second client takes a server process inside a
 * transaction between them: a pooler that shares gives it the one that the first has just given back.
 */
export async function isSplit(client: Client, login: ClientConfig): Promise<boolean> {
  const other = sessionClient({ ...login, query_timeout: answersWithinMs })
  try {
    await other.connect()
    for (let round = 0; round < rounds; round += 1) {
      const before = await pidOf(client)
      await other.query('BEGIN')
      const taken = await pidOf(other)
      // With one server process for all, the first client would wait here for the second one for ever.
      const after = taken === before ? taken : await pidOf(client)
      await other.query('ROLLBACK')
      if (taken === before || after !== before) return true
    }
    return false
  } catch (error) {
    // The only server connection is the first client's own.
    if (error instanceof Error && /timeout/i.test(error.message)) return false
    throw error
  } finally {
    await other.end().catch(() => {})
  }
}

/** Returns the name of the pooler and its mode; null for each that its console does not show. */
export async function describePooler(login: ClientConfig): Promise<{ readonly name: string | null; readonly mode: string | null }> {
  const console = sessionClient({ ...login, database: 'pgbouncer', query_timeout: answersWithinMs })
  try {
    await console.connect()
    const { rows } = await console.query<Record<string, unknown>>('SHOW CONFIG')
    const row = rows.find((entry) => entry['key'] === 'pool_mode')
    const version = (await console.query<Record<string, unknown>>('SHOW VERSION')).rows[0]?.['version']
    return { name: typeof version === 'string' ? version : null, mode: typeof row?.['value'] === 'string' ? row['value'] : null }
  } catch {
    return { name: null, mode: null }
  } finally {
    await console.end().catch(() => {})
  }
}

/** Throws BootRefusal if sessions are not kept together; before a lock is taken that would stay with the pooler. */
export async function assertSessions(client: Client, login: ClientConfig): Promise<void> {
  if (!(await hasPooler(client)) || !(await isSplit(client, login))) return
  const { name, mode } = await describePooler(login)
  throw new BootRefusal(
    'pooler_shares_sessions',
    `${name ?? 'a connection pooler'} in ${mode ?? 'transaction or statement'} mode stands before PostgreSQL at ${login.host}:${login.port}`,
    'set DB_HOST and DB_PORT to PostgreSQL itself, or the pooler to session mode',
  )
}

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid ?? 0
}

/** Connects as the running process does. */
export async function connectedAs(config: ClientConfig): Promise<Client> {
  const client = sessionClient(config)
  await enter(client, config)
  return client
}
