import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { DatabaseConfig } from '../../src/config/config.ts'
import { testDatabase } from './database.ts'

export const adminKey = 'gh-admin-key-of-the-tests-0000000000000'
export const workspaceKey = 'gh-workspace-key-of-the-tests-000000000'

/** A whole Gatehouse as an operator runs it: a process of its own, with a real database. */
export interface Gatehouse {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly process: ChildProcess
  readonly database: DatabaseConfig
  readonly dataDir: string
  /** All that it has printed so far. */
  output(): string
  /** Starts it again on the same data, after it has ended. */
  restart(): Promise<void>
  /** Resolves with the exit code. */
  signal(name: NodeJS.Signals): Promise<number | null>
  stop(): Promise<void>
}

export interface GatehouseOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Another process's database and data, to run beside it. */
  readonly beside?: Gatehouse
}

/** Starts a process and waits until it is ready. */
export async function startGatehouse({ env = {}, beside }: GatehouseOptions = {}): Promise<Gatehouse> {
  const database = beside === undefined ? await testDatabase() : { config: beside.database, drop: async () => {} }
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gatehouse-'))
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const settings = { ...environment(database.config), PORT: String(port), DATA_DIR: dataDir, ...env }
  const state: { child: ChildProcess; output: string } = { child: run(settings), output: '' }
  const collect = () => {
    for (const stream of [state.child.stdout, state.child.stderr]) stream?.on('data', (chunk: Buffer) => (state.output += chunk.toString()))
  }
  const end = async (name: NodeJS.Signals) => {
    if (state.child.exitCode !== null || state.child.signalCode !== null) return state.child.exitCode
    const exited = once(state.child, 'exit')
    state.child.kill(name)
    await exited
    return state.child.exitCode
  }
  collect()
  await ready(origin, state)
  return {
    origin,
    get process() {
      return state.child
    },
    database: database.config,
    dataDir,
    output: () => state.output,
    async restart() {
      state.child = run(settings)
      collect()
      await ready(origin, state)
    },
    signal: end,
    async stop() {
      await end('SIGTERM')
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const encryptionKey = Buffer.alloc(32, 7).toString('base64')

/** The settings that every process of the tests has. */
export function environment(database: DatabaseConfig): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    NODE_NO_WARNINGS: '1',
    DB_HOST: database.host,
    DB_PORT: String(database.port),
    DB_USER: database.user,
    DB_PASS: database.password?.reveal() ?? '',
    DB_NAME: database.name,
    DB_SSL: 'DISABLED',
    ENCRYPTION_KEY: encryptionKey,
    INIT_ADMIN_API_KEY: adminKey,
    INIT_WORKSPACE_API_KEY: workspaceKey,
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    HEADER_ALIASES: 'portkey',
    DRAIN_DELAY: '0',
  }
}

function run(env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, ['src/main.ts'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function ready(origin: string, state: { readonly child: ChildProcess; readonly output: string }): Promise<void> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    if (state.child.exitCode !== null) throw new Error(`the process ended with ${state.child.exitCode}:\n${state.output}`)
    const answer = await fetch(`${origin}/readyz`).catch(() => null)
    if (answer?.status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the process was not ready in a minute:\n${state.output}`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
