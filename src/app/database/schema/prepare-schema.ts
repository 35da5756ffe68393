import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../../../config/config.ts'
import type { Connection } from '../connect.ts'
import { withClient } from './migration-client.ts'
import { readMigrations } from './migration-files.ts'
import { migrate, pendingOf } from './migrate.ts'
import { assertAccepted, readReleaseState, type Deployment, type ReleaseState } from './release-state.ts'
import type { Metrics } from '../../metrics/metrics.ts'

export interface SchemaOptions {
  readonly config: Config
  readonly log: Logger
  /** `migrate`: this process brings the schema up; `wait`: it waits until another process did; `given`: its primary process did. */
  readonly schema: 'migrate' | 'wait' | 'given'
  /** Another folder than the installation's `migrations`. */
  readonly migrations?: string | undefined
  readonly signal: AbortSignal
  /** Called with the reason of each wait, for /readyz. */
  readonly onPhase?: (waitingFor: string) => void
  readonly metrics: Metrics
}

const pollMs = 1000

/** Returns the deployment that migrates, according to the settings. */
export const deploymentOf = ({
  version: release,
  releaseLevel,
  deployment,
}: Pick<Config, 'version' | 'releaseLevel' | 'deployment'>): Deployment => ({
  release,
  releaseLevel,
  ...deployment,
})

/** Returns when the schema is that of this build, with the state of the database. Throws BootRefusal when it accepts only later releases. */
export async function bringUpToDate(connection: Connection, options: SchemaOptions): Promise<ReleaseState | null> {
  const { schema, metrics, config, onPhase = () => {} } = options
  const found = await look(connection, options)
  assertAccepted(found.state, config.version)
  let pending = found.pending.length
  metrics.measure('gateway_migrations_pending', () => pending)
  if (schema === 'migrate') {
    onPhase('migrating the database')
    await migrateNow(connection, options)
  }
  if (schema === 'wait') await waitForSchema(connection, options, (count) => (pending = count))
  pending = 0
  return schema === 'given' ? found.state : withClient(connection.login, readReleaseState)
}

/** Reads the state of the database, and the migrations of this build that it lacks. */
async function look({ login }: Connection, { migrations }: SchemaOptions) {
  const files = await readMigrations(migrations)
  return withClient(login, async (client) => ({
    state: await readReleaseState(client),
    pending: (await pendingOf('expand', client, files)).map(({ id }) => id),
  }))
}

async function migrateNow(connection: Connection, { config, log, signal, migrations: directory }: SchemaOptions): Promise<void> {
  const { login, serverVersion, encrypted } = connection
  const deployment = deploymentOf(config)
  const applied = await migrate(login, log, { signal, deployment, ...(directory !== undefined && { directory }) })
  log.info(
    { postgresql: serverVersion, tls: encrypted, migrations: applied },
    applied.length === 0 ? 'database is up to date' : 'database was migrated',
  )
}

async function waitForSchema(connection: Connection, options: SchemaOptions, onCount: (count: number) => void): Promise<void> {
  const { log, signal, onPhase = () => {} } = options
  for (let told = false; ; told = true) {
    const { state, pending } = await look(connection, options)
    onCount(pending.length)
    if (pending.length === 0 && state !== null) return
    const waitingFor = `waiting for "gatehouse migrate": the schema lacks ${pending.length === 0 ? 'its end' : pending.join(', ')}`
    onPhase(waitingFor)
    if (!told) log.warn({ pending }, waitingFor)
    await sleep(pollMs, undefined, { signal })
  }
}
