import { spawn } from 'node:child_process'
import { closeSync, openSync, renameSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import { runAs } from './account.ts'
import type { Cluster } from './cluster.ts'
import { freePort } from './port.ts'
import { findPostmaster, type Postmaster } from './process.ts'

/** A server that answers, and a connection that stays open as long as it does. */
export interface Server extends Postmaster {
  readonly client: Client
}

/** Held shared by every process that uses the server, so that the last one to leave can see that it may stop it. */
export const usersLock = 4_283_716

const startLimitMs = 300_000
const mostAttempts = 5
const largestLogBytes = 10 * 1024 * 1024

/** Gives the cluster's server: the one that runs already, or a new one. Waits through crash recovery. */
export async function raiseServer(cluster: Cluster, settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const end = performance.now() + startLimitMs
  let child: Child | null = null
  for (let attempts = 0; performance.now() < end; await delay(25)) {
    const found = await findPostmaster(cluster.dataFolder)
    const client = found && (await tryConnect(cluster, found.port))
    if (client) return { ...found, client }
    if (found || child?.runs()) continue
    if (child) await delay(200 * attempts)
    if (attempts++ === mostAttempts) break
    child = launch(cluster, { port: String(await freePort(cluster.port)), ...settings })
  }
  throw new Error(`The embedded PostgreSQL does not start. The end of ${cluster.logFile}:\n${await logTail(cluster.logFile)}`)
}

interface Child {
  runs(): boolean
}

/** Detached, so that neither Ctrl-C nor our own crash takes the database down in the middle of the drain. */
function launch(cluster: Cluster, settings: Readonly<Record<string, string>>): Child {
  const flags = Object.entries({ ...serverSettings, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const postgres = { file: cluster.binaries.postgres, args: ['-D', cluster.dataFolder, ...flags] }
  const command = runAs(cluster.account, postgres, [cluster.binaries.folder, cluster.dataFolder])
  const log = openLog(cluster.logFile)
  const child = spawn(command.file, command.args, { ...command.options, env: {}, cwd: '/', detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  child.unref()
  let failed = false
  child.once('error', () => (failed = true))
  return { runs: () => !failed && child.exitCode === null && child.signalCode === null }
}

const serverSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  wal_level: 'minimal',
  max_wal_senders: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  jit: 'off',
}

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > largestLogBytes) renameSync(file, `${file}.1`)
  return openSync(file, 'a', 0o600)
}

/** Null while the server starts, recovers or goes down; a refusal that waiting cannot mend is thrown. */
async function tryConnect(cluster: Cluster, port: number): Promise<Client | null> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password: cluster.superuserPassword,
    database: 'postgres',
    connectionTimeoutMillis: 5_000,
    application_name: 'gatehouse keeper',
  })
  // A lost connection also shows as `end`, which the owner watches.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT pg_advisory_lock_shared($1)', [usersLock])
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    if (error instanceof DatabaseError && error.code?.startsWith('28')) throw error
    return null
  }
}

async function logTail(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-8).join('\n')
}

/** Resolves when the server's connection is lost or closed. */
export const lost = ({ client }: Server): Promise<void> => new Promise((resolve) => client.once('end', resolve))
