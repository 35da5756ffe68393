import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Logger } from 'pino'
import { openCluster, ownName, type Cluster } from './cluster.ts'
import { findPostmaster, waitForExit, type Postmaster } from './process.ts'
import { lost, raiseServer, usersLock, type Server } from './server.ts'

export interface EmbeddedOptions {
  /** Holds `postgres/` (data and passwords) and `postgres.log`. */
  readonly dataDir: string
  readonly log: Logger
  /** PostgreSQL settings that differ from the product's, e.g. `{ fsync: 'off' }` in tests. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A PostgreSQL of our own on 127.0.0.1, with a plain login that owns one database. */
export interface EmbeddedDatabase {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly name: string
  readonly superuser: { readonly user: string; readonly password: string }
  /** Fast shutdown, awaited; when other processes use the same data, the server stays and the last of them stops it. */
  stop(): Promise<void>
}

const host = '127.0.0.1'
const fastLimitMs = 30_000
const immediateLimitMs = 10_000

/** Starts the embedded PostgreSQL, or adopts the one that a killed process left running, and restarts it when it dies. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const cluster = await openCluster(options.dataDir)
  const server = await raiseServer(cluster, options.settings)
  await provide(server.client, cluster.password)
  options.log.info({ host, port: server.port, postmaster: server.pid, data: cluster.dataFolder }, 'embedded PostgreSQL is up')
  const keeper = keep(cluster, server, options)
  const superuser = { user: 'postgres', password: cluster.superuserPassword }
  return {
    host,
    port: server.port,
    user: ownName,
    password: cluster.password,
    name: ownName,
    superuser,
    stop: keeper.stop,
  }
}

/** The role and the database of the product; several starters may come here at once. */
async function provide(client: Client, password: string): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [usersLock + 1])
  const roles = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [ownName])
  if (roles.rowCount === 0) await client.query(`CREATE ROLE ${ownName} LOGIN PASSWORD ${client.escapeLiteral(password)}`)
  const databases = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [ownName])
  if (databases.rowCount === 0) await client.query(`CREATE DATABASE ${ownName} OWNER ${ownName} STRATEGY FILE_COPY`)
  await client.query('SELECT pg_advisory_unlock($1)', [usersLock + 1])
}

/** Watches the server until it is stopped. */
function keep(cluster: Cluster, first: Server, { log, settings }: EmbeddedOptions) {
  let server: Server = first
  let stopped: Promise<void> | null = null

  const watch = async () => {
    for (;;) {
      await lost(server)
      if (stopped) return
      log.error({ postmaster: server.pid, log: cluster.logFile }, 'embedded PostgreSQL is gone, starting it again')
      server = await revive(() => stopped !== null, server)
    }
  }

  const revive = async (given: () => boolean, last: Server): Promise<Server> => {
    while (!given()) {
      try {
        // The same port, because every pool of the process points there.
        return await raiseServer(cluster, { ...settings, port: String(last.port) })
      } catch (error) {
        log.error({ err: error }, 'embedded PostgreSQL does not come back, trying again')
        await delay(1_000)
      }
    }
    return last
  }

  const shutDown = async () => {
    const alone = await isLastUser(server.client)
    const postmaster = alone ? await findPostmaster(cluster.dataFolder) : null
    if (!alone) log.info('embedded PostgreSQL stays up: another process uses it')
    if (postmaster) await terminate(postmaster, log)
    await server.client.end().catch(() => undefined)
  }

  void watch()
  return { stop: () => (stopped ??= shutDown()) }
}

/** Gives the shared lock back before it asks for all of it, so that of two that leave together exactly one stops the server. */
async function isLastUser(client: Client): Promise<boolean> {
  try {
    const answer = await client.query<{ alone: boolean }>(
      'WITH given AS MATERIALIZED (SELECT pg_advisory_unlock_shared($1) AS done) SELECT pg_try_advisory_lock($1) AS alone FROM given WHERE done',
      [usersLock],
    )
    return answer.rows[0]?.alone ?? true
  } catch {
    // No connection: the server is down or going down, and has no other user.
    return true
  }
}

async function terminate({ pid }: Postmaster, log: Logger): Promise<void> {
  process.kill(pid, 'SIGINT')
  if (await waitForExit(pid, fastLimitMs)) return
  log.warn({ postmaster: pid }, 'embedded PostgreSQL does not stop fast, stopping it immediately')
  process.kill(pid, 'SIGQUIT')
  if (!(await waitForExit(pid, immediateLimitMs))) throw new Error(`The embedded PostgreSQL (process ${pid}) does not stop.`)
}
