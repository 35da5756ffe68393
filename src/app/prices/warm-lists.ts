import type { ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { systemSession, withSideClient } from '../database/side-sessions.ts'
import type { ModelCatalogue } from './model-catalogue.ts'

export interface WarmOptions {
  /** `Connection.runtime`. */
  readonly client: ClientConfig
  readonly log: Logger
  readonly catalogue: ModelCatalogue
}

/** So many lists are read at a time. */
const atOnce = 4

/**
 * Reads the price lists of all stored providers, so that no request has to wait for them. Does not reject: a list that was not read is read on
 * demand.
 */
export async function warmPriceLists({ client, log, catalogue }: WarmOptions): Promise<void> {
  if (catalogue.layers().every(({ name }) => name === 'built_in')) return
  try {
    const providers = await storedProviders(client)
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let next = providers.pop(); next !== undefined; next = providers.pop()) await catalogue.ready('pricing', next)
      }),
    )
  } catch (error) {
    log.debug({ err: error }, 'the price lists of the stored providers are read when they are asked for')
  }
}

async function storedProviders(client: ClientConfig): Promise<string[]> {
  const active = `SELECT DISTINCT ai_provider_id AS id FROM integrations WHERE status = 'active' ORDER BY 1 DESC`
  const { rows } = await withSideClient('prices', systemSession(client), (connection) => connection.query<{ id: string }>(active))
  return rows.map(({ id }) => id)
}
