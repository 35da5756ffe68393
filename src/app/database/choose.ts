import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config, DatabaseConfig } from '../../config/config.ts'
import { Secret } from '../../lib/secret.ts'
import { startEmbedded, type EmbeddedDatabase } from './embedded/embedded.ts'

/** Returns true if a former start made the embedded PostgreSQL of these settings. */
export const hasEmbedded = ({ dataDir }: Pick<Config, 'dataDir'>): boolean => existsSync(join(dataDir, 'postgres'))

/** The database to use, with the embedded PostgreSQL started when there is no other. */
export async function chooseDatabase(
  config: Pick<Config, 'database' | 'dataDir'>,
  log: Logger,
): Promise<{ readonly database: DatabaseConfig; readonly embedded: EmbeddedDatabase | null }> {
  if (!config.database.embedded) return { database: config.database, embedded: null }
  const embedded = await startEmbedded({ dataDir: config.dataDir, log })
  const { host, port, user, name } = embedded
  return { database: { ...config.database, host, port, user, name, password: new Secret(embedded.password) }, embedded }
}
