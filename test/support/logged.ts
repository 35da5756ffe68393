import type { Client, ClientConfig } from 'pg'
import { inDatabase } from './database.ts'
import { eventually } from './eventually.ts'

/** The rows of `logs` and `log_bodies`, read past row-level security. */
export interface Logged {
  readonly rows: number
  /** Ids with more than one row, in either table. */
  readonly doubled: readonly string[]
  /** Those of the ids asked for that have no row, in either table. */
  readonly missing: readonly string[]
  /** Those of the requested ids whose row does not mark the exchange as complete. */
  readonly unfinished: readonly string[]
}

/** Looks for the exchanges with these ids. */
export const readLogged = (database: ClientConfig, ids: readonly string[]): Promise<Logged> =>
  inDatabase(database, async (client) => {
    const { rows } = await client.query<{ rows: number }>('SELECT count(*)::int AS rows FROM logs')
    return {
      rows: rows[0]?.rows ?? 0,
      doubled: [...(await doubled(client, 'logs')), ...(await doubled(client, 'log_bodies'))],
      missing: [...(await absent(client, 'logs', ids)), ...(await absent(client, 'log_bodies', ids))],
      unfinished: await idsOf(client, `SELECT id FROM logs WHERE id = ANY ($1::uuid[]) AND outcome <> 'complete'`, [ids]),
    }
  })

/** Resolves with the milliseconds it took until all of them were there. */
export const untilLogged = (database: ClientConfig, ids: readonly string[], withinMs: number): Promise<number> =>
  inDatabase(database, (client) =>
    eventually(async () => (await absent(client, 'logs', ids)).length === 0, withinMs, `${ids.length} exchanges to be logged`),
  )

const doubled = (client: Client, table: 'logs' | 'log_bodies') =>
  idsOf(client, `SELECT id FROM ${table} GROUP BY id HAVING count(*) > 1`, [])

const absent = (client: Client, table: 'logs' | 'log_bodies', ids: readonly string[]) =>
  idsOf(client, `SELECT id FROM unnest($1::uuid[]) AS id EXCEPT SELECT id FROM ${table}`, [ids])

async function idsOf(client: Client, query: string, values: unknown[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(query, values)
  return rows.map(({ id }) => id)
}
