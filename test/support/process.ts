import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ClientConfig } from 'pg'
import type { DatabaseConfig } from '../../src/config/config.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { freePort } from '../../src/app/database/embedded/port.ts'
import { nodeEnvironment } from './node-environment.ts'
import { programFile } from './program.ts'

export const adminKey = 'gh-admin-key-of-the-tests-0000000000000'
export const workspaceKey = 'gh-workspace-key-of-the-tests-000000000'

/** A whole Gatehouse as an operator runs it: a process of its own, with a real database. */
export interface Gatehouse {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly process: ChildProcess
  readonly database: DatabaseConfig
  /** For looking past row-level security. */
  readonly superuser: ClientConfig
  readonly dataDir: string
  /** All that it has printed so far. */
  output(): string
  /** Resolves when it has printed this since its latest start; rejects when it ends before. */
  printed(text: string): Promise<void>
  /** Resolves when /readyz is good. */
  ready(): Promise<void>
  /** Starts it again on the same data, after it has ended, with other settings where some are given. */
  restart(options?: Pick<GatehouseOptions, 'env' | 'untilReady'>): Promise<void>
  /** Resolves with the exit code. */
  signal(name: NodeJS.Signals): Promise<number | null>
  stop(): Promise<void>
}

export interface GatehouseOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Another process's database and data, to run beside it. */
  readonly beside?: Pick<Gatehouse, 'database' | 'superuser'>
  /** A database that its maker drops. */
  readonly on?: TestDatabase
  /** False: returns as soon as the process runs. */
  readonly untilReady?: boolean
  /** How long it may take to be ready; a minute when absent. */
  readonly readyWithinMs?: number
  /** How it is started: arguments of Node, and the folder they are read in; absent: as `npm start`. */
  readonly program?: Program
}

/** A program that Node runs. */
export interface Program {
  readonly folder: string
  readonly args: readonly string[]
  /** With a process group of its own, which signals can be sent to. */
  readonly leads?: boolean
}

/** Starts a process and waits until it is ready. */
export async function startGatehouse({
  env = {},
  beside,
  on,
  untilReady = true,
  readyWithinMs = startWithinMs,
  program,
}: GatehouseOptions = {}): Promise<Gatehouse> {
  const database =
    beside !== undefined
      ? notOurs(beside.database, beside.superuser)
      : on !== undefined
        ? notOurs(on.config, on.superuser)
        : await testDatabase()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gatehouse-'))
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const settings = { ...environment(database.config), PORT: String(port), DATA_DIR: dataDir, ...env }
  const state = { child: run(settings, program), output: '', from: 0 }
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
  if (untilReady) {
    await ready(origin, state, readyWithinMs).catch(async (error: unknown) => {
      state.child.kill('SIGKILL')
      await database.drop()
      throw error
    })
  }
  return {
    origin,
    get process() {
      return state.child
    },
    database: database.config,
    superuser: database.superuser,
    dataDir,
    output: () => state.output,
    async printed(text) {
      const from = state.from
      await eventually(() => state.output.includes(text, from) || assertRuns(state), startWithinMs, JSON.stringify(text))
    },
    ready: () => ready(origin, state, readyWithinMs),
    async restart(again = {}) {
      state.from = state.output.length
      state.child = run({ ...settings, ...again.env }, program)
      collect()
      if (again.untilReady !== false) await ready(origin, state, readyWithinMs)
    },
    signal: end,
    async stop() {
      await end('SIGTERM')
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const notOurs = (config: DatabaseConfig, superuser: ClientConfig): TestDatabase => ({ config, superuser, drop: async () => {} })

const startWithinMs = 60_000

const encryptionKey = Buffer.alloc(32, 7).toString('base64')

/** The settings that every process of the tests has. */
export function environment(database: DatabaseConfig): Record<string, string> {
  return {
    ...nodeEnvironment,
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
    FAILED_CREDENTIALS_PER_MINUTE: '0',
  }
}

/** Ends each process that runs, its group with it. */
const running = new Map<ChildProcess, () => void>()

function run(
  env: Record<string, string>,
  { folder, args, leads = false }: Program = { folder: '.', args: [programFile('main')] },
): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: leads })
  running.set(child, () => (leads && child.pid !== undefined ? process.kill(-child.pid, 'SIGKILL') : child.kill('SIGKILL')))
  child.once('exit', () => running.delete(child))
  return child
}

// A test that fails or runs out of time leaves no process behind.
process.once('exit', () => running.forEach((kill) => kill()))

async function ready(origin: string, state: { readonly child: ChildProcess; readonly output: string }, withinMs: number): Promise<void> {
  const answersReady = async () => assertRuns(state) || (await fetch(`${origin}/readyz`).catch(() => null))?.status === 200
  await eventually(answersReady, withinMs, 'readiness').catch((error: unknown) => {
    throw new Error(`not ready:\n${state.output.slice(-4000)}`, { cause: error })
  })
}

function assertRuns({ child: { exitCode, signalCode }, output }: { readonly child: ChildProcess; readonly output: string }): false {
  if (exitCode === null && signalCode === null) return false
  throw new Error(`the process ended with ${exitCode ?? signalCode}:\n${output.slice(-4000)}`)
}
