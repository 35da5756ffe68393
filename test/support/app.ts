import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, type App, type Overrides } from '../../src/app/start/app.ts'
import type { Deps } from '../../src/app/deps.ts'
import type { Feature } from '../../src/app/feature.ts'
import { noConsole } from '../../src/app/http/console-files.ts'
import { createLoggers } from '../../src/app/logging/log.ts'
import type { Snapshot } from '../../src/gateway/ports.ts'
import { loadConfig, type Config } from '../../src/config/index.ts'
import type { DatabaseConfig } from '../../src/config/config.ts'
import { features as allFeatures } from '../../src/features/index.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { LineCollector } from './log-lines.ts'

/** The real app on a free port, on a database of its own. */
export interface TestApp {
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  readonly baseUrl: string
  /** The port for probes and metrics, when there is one. */
  readonly managementUrl: string | null
  /** The first organisation-admin key and the first workspace key, with all their scopes. */
  readonly adminKey: string
  readonly workspaceKey: string
  readonly deps: Deps
  readonly snapshot: Snapshot
  readonly app: App
  readonly config: Config
  readonly database: TestDatabase
  /** Everything logged so far, one parsed line each. */
  readonly logged: readonly Readonly<Record<string, unknown>>[]
  stop(): Promise<void>
}

export interface TestAppOptions {
  /** Settings; loopback is trusted unless `TRUSTED_CUSTOM_HOSTS` is set. */
  readonly env?: Readonly<Record<string, string>>
  readonly features?: readonly Feature[]
  readonly overrides?: Overrides
  readonly database?: TestDatabase
  /** The release that it is built as, instead of this checkout's. */
  readonly release?: string
}

const adminKey = 'gh-test-first-organisation-admin-key-0001'
const workspaceKey = 'gh-test-first-workspace-key-000000000001'

/** Starts an app and waits until it runs. Call `stop` in `test.after.always`. */
export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await testDatabase())
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-app-'))
  const settings = testConfig(database, { DATA_DIR: dataDir, ...options.env })
  const config = options.release === undefined ? settings : { ...settings, version: options.release }
  const lines = new LineCollector()
  const app = await createApp(config, options.features ?? allFeatures, {
    loggers: createLoggers(config, lines),
    console: noConsole,
    ...options.overrides,
  })
  const stop = async () => {
    await app.drain({ now: true })
    await rm(dataDir, { recursive: true, force: true })
    if (options.database === undefined) await database.drop()
  }
  const { port, managementPort } = await app.listen()
  const { deps, snapshot } = await app.started.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return {
    adminKey,
    workspaceKey,
    deps,
    snapshot,
    app,
    config,
    database,
    baseUrl: `${config.tls === null ? 'http' : 'https'}://127.0.0.1:${port}`,
    managementUrl: managementPort === null ? null : `http://127.0.0.1:${managementPort}`,
    get logged() {
      return lines.parsed
    },
    stop,
  }
}

/** The settings of a test, as a process would read them, with the test's own database. */
export function testConfig(database: TestDatabase, env: Readonly<Record<string, string>>): Config {
  const settings = {
    DB_HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'debug',
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    INIT_ADMIN_API_KEY: adminKey,
    INIT_WORKSPACE_API_KEY: workspaceKey,
    DRAIN_DELAY: '0',
    FAILED_CREDENTIALS_PER_MINUTE: '0',
    ...env,
  }
  return { ...loadConfig(settings), database: patient(database.config) }
}

/** Waits for connections through the load of a whole test run; a database that refuses is known at once all the same. */
export const patient = (database: DatabaseConfig): DatabaseConfig => ({ ...database, connectTimeoutMs: 20_000 })
