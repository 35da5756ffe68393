import { rm } from 'node:fs/promises'
import pino from 'pino'
import { startEmbedded } from '../src/app/database/embedded/embedded.ts'
import { makeRunFolder } from './memory-folder.ts'

/** A PostgreSQL of one run's own. */
export interface DatabaseServer {
  /** How `test/support/database.ts` learns of it, in every process of the run. */
  readonly variables: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Starts one server for a whole run. It does without `fsync`: tests on it kill processes, never the machine. */
export async function startDatabaseServer(): Promise<DatabaseServer> {
  const dataDir = await makeRunFolder('gatehouse-tests-')
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' }
  const database = await startEmbedded({ dataDir, log: pino({ level: 'error' }), settings })
  return {
    variables: {
      GATEHOUSE_TEST_DB_HOST: database.host,
      GATEHOUSE_TEST_DB_PORT: String(database.port),
      GATEHOUSE_TEST_DB_USER: database.superuser.user,
      GATEHOUSE_TEST_DB_PASS: database.superuser.password,
    },
    async stop() {
      await database.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
