import type { ClientConfig, Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import type { Logger } from 'pino'
import { sidePoolName, sidePoolSize, sideSessions, type SharedUse } from '../../config/side-sessions.ts'
import { createTurns } from '../../lib/shares/turns.ts'
import { sessionPool } from './session.ts'
import { systemSession } from './side-sessions.ts'

/** The one pool beside that of the ORM. Its sessions see all organisations, and hang for two seconds at most. */
export interface SidePool {
  /** Returns the connections of one use: no more than its bound at a time, however much the other uses ask for. */
  of(use: SharedUse): SideConnections
  end(): Promise<void>
}

/** The connections of one use. */
export interface SideConnections {
  query<Row extends QueryResultRow>(statement: string | QueryConfig, values?: readonly unknown[]): Promise<QueryResult<Row>>
  /** Runs work in one transaction that sees the rows of one organisation and no other. An organisation has three quarters of the connections at most. */
  inOrganisation<T>(organisationId: string, work: (client: PoolClient) => Promise<T>): Promise<T>
}

/** Work waits so long for a connection of its use, and so much of one organisation. */
const [mostWaitMs, mostWaiting] = [2000, 1000]
/** The work of Gatehouse itself is many requests of all organisations. */
const ownWork = { mostWaiting: Infinity } as const
const idleMs = 30_000

/** Makes the pool. Its connections are opened when they are needed, and do not keep the process alive. */
export function openSidePool(client: ClientConfig, log?: Logger): SidePool {
  const config = { ...systemSession(client), application_name: sidePoolName, max: sidePoolSize }
  const pool = sessionPool({ ...config, idleTimeoutMillis: idleMs, allowExitOnIdle: true })
  pool.on('error', (error) => log?.debug({ err: error }, 'an idle connection to the database was lost'))
  const uses = new Map<SharedUse, SideConnections>()
  let ended: Promise<void> | null = null
  return {
    of(use) {
      const known = uses.get(use) ?? connectionsOf(pool, sideSessions[use].most)
      uses.set(use, known)
      return known
    },
    end: () => (ended ??= pool.end()),
  }
}

function connectionsOf(pool: Pool, most: number): SideConnections {
  const inTurn = createTurns({ most, mostOfOne: Math.max(1, Math.floor((most * 3) / 4)), mostWaiting, mostWaitMs, tooMany })
  return {
    query: (statement, values) =>
      inTurn(null, () => (values === undefined ? pool.query(statement) : pool.query(statement, [...values])), ownWork),
    inOrganisation: (organisationId, work) => inTurn(organisationId, () => transact(pool, organisationId, work)),
  }
}

async function transact<T>(pool: Pool, organisationId: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    await client.query('BEGIN')
    await client.query("SELECT set_config('app.organisation_id', $1, true), set_config('app.scope', '', true)", [organisationId])
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    // A connection whose transaction failed is closed, which rolls it back.
    client.release(failure)
  }
}

const tooMany = (): Error =>
  Object.assign(new Error(`no connection to the database was free for ${mostWaitMs} ms, or too much waits for one`), { code: 'ETIMEDOUT' })
