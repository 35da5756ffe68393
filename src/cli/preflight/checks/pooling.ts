import { Client, type ClientConfig } from 'pg'
import { z } from 'zod'
import { limits, runtimeOf } from '../../../app/database/connect.ts'
import { fail, ok, warn, type Check, type Verdict } from '../check.ts'
import { NotPossible } from '../not-possible.ts'
import type { Reached } from '../stage.ts'

const rounds = 3
const direct = 'Set DB_HOST and DB_PORT to PostgreSQL itself; Gatehouse keeps its own pool (DB_POOL_SIZE).'

/** Checks that a pooler before PostgreSQL keeps a session together. */
export const poolingCheck: Check = {
  id: 'postgres-pooling',
  about:
    'No pooler in transaction mode stands before PostgreSQL. There a session has no memory: migrations cannot be locked, notifications get lost, and a limit set for one connection holds for another.',
  remedy: 'Set `DB_HOST` and `DB_PORT` to PostgreSQL itself, or to a pooler in session mode.',
  quick: false,
  async run(stage) {
    const reached = await stage.database()
    if (reached.config.embedded) return ok('the embedded PostgreSQL is reached directly')
    const pooler = await hasPooler(reached.client)
    if (await isSplit(reached)) {
      const mode = await modeOf(reached.login)
      return fail(`a connection pooler in ${mode ?? 'transaction or statement'} mode stands before PostgreSQL`, direct)
    }
    return (
      (await losesOptions(reached)) ??
      ok(pooler ? 'a connection pooler in session mode stands before PostgreSQL' : 'PostgreSQL is reached directly')
    )
  },
}

const Greeting = z.object({ processID: z.number() })

/** A pooler greets with a process number of its own making, PostgreSQL with that of the server process. */
async function hasPooler(client: Client): Promise<boolean> {
  const greeting = Greeting.safeParse({ processID: Reflect.get(client, 'processID') })
  return greeting.success && greeting.data.processID !== (await pidOf(client))
}

/**
 * Returns true if two statements outside a transaction run in different server processes. A second client takes a server process inside a
 * transaction between them: a pooler that shares gives it the one that the first has just given back.
 */
async function isSplit({ client, login }: Reached): Promise<boolean> {
  const other = await connected(login)
  try {
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
  } finally {
    await other.end().catch(() => {})
  }
}

/** Returns the mode that pgbouncer's own console names; null when the console is not open to us. */
async function modeOf(login: ClientConfig): Promise<string | null> {
  const console = new Client({ ...login, database: 'pgbouncer' })
  console.on('error', () => {})
  try {
    await console.connect()
    const { rows } = await console.query<Record<string, unknown>>('SHOW CONFIG')
    const row = rows.find((entry) => entry['key'] === 'pool_mode')
    return typeof row?.['value'] === 'string' ? row['value'] : null
  } catch {
    return null
  } finally {
    await console.end().catch(() => {})
  }
}

/** The running process asks for its limits, and perhaps its role, when it connects; a pooler may refuse or drop that. */
async function losesOptions({ client, login }: Reached): Promise<Verdict | null> {
  const { rows } = await client.query<{ bypasses: boolean }>(
    'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
  )
  const runtime = runtimeOf(login, { bypasses: rows[0]?.bypasses ?? false })
  let session: Client | undefined
  try {
    session = await connected(runtime)
    const { rows: held } = await session.query<{ ms: number }>(
      `SELECT setting::int AS ms FROM pg_settings WHERE name = 'statement_timeout'`,
    )
    if (held[0]?.ms === limits.statement_timeout) return null
    return warn('a connection pooler drops the time limits that Gatehouse sets for its connections', direct)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (message.includes('does not exist'))
      throw new NotPossible('the role of the running process is not made yet: run "gatehouse migrate" first')
    return fail(`connections with the options of the running process are refused: ${message}`, direct)
  } finally {
    await session?.end().catch(() => {})
  }
}

async function connected(login: ClientConfig): Promise<Client> {
  const client = new Client(login)
  client.on('error', () => {})
  await client.connect()
  return client
}

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid ?? 0
}
