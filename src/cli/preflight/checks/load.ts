import { besidesPool } from '../../../config/side-sessions.ts'
import { ok, warn, type Check } from '../check.ts'

interface Old {
  readonly what: string
  readonly seconds: number
}

/** Checks that no long transaction would hold up a migration. */
export const longTransactionsCheck: Check = {
  id: 'postgres-long-transactions',
  about: 'No transaction is open for long: it would hold up migrations, and keep PostgreSQL from cleaning up.',
  remedy: 'Wait for it, or end it with `SELECT pg_terminate_backend(pid)`; resolve a prepared transaction with `ROLLBACK PREPARED`.',
  quick: false,
  async run(stage) {
    const { client } = await stage.database()
    const limit = stage.circumstances.longestTransactionMs
    const { rows } = await client.query<Old>(openTransactions, [limit])
    const { rows: hidden } = await client.query<{ count: number }>(hiddenSessions)
    const unseen = hidden[0]?.count ?? 0
    const note = unseen > 0 ? ` (${unseen} sessions of others cannot be seen: GRANT pg_read_all_stats to the login)` : ''
    if (rows.length === 0) return ok(`no transaction is older than ${Math.round(limit / 1000)} s${note}`)
    const named = rows.map(({ what, seconds }) => `${what}, for ${seconds} s`).join('; ')
    return warn(`open transactions: ${named}${note}`, 'Wait for them, or end each with: SELECT pg_terminate_backend(<pid>)')
  },
}

const openTransactions = `
  SELECT format('%s of %s from %s, %s', pid, usename, coalesce(nullif(application_name, ''), 'an unnamed client'), state) AS what,
         extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds
    FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
     AND xact_start < clock_timestamp() - make_interval(secs => $1::float / 1000)
  UNION ALL
  SELECT format('prepared transaction %s of %s', gid, owner), extract(epoch FROM clock_timestamp() - prepared)::int
    FROM pg_prepared_xacts WHERE database = current_database() AND prepared < clock_timestamp() - make_interval(secs => $1::float / 1000)
  ORDER BY seconds DESC LIMIT 5`

const hiddenSessions = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type IS NULL AND pid <> pg_backend_pid()`

/** Checks that PostgreSQL has room for the pool of one process. */
export const connectionsCheck: Check = {
  id: 'postgres-connections',
  about: 'PostgreSQL has enough free connections for one more process, as it is there twice while an upgrade rolls out.',
  remedy: 'Raise `max_connections` of PostgreSQL, or lower `DB_POOL_SIZE`.',
  quick: false,
  async run(stage) {
    const { client, config } = await stage.database()
    const { rows } = await client.query<{ free: number; most: number }>(
      `SELECT current_setting('max_connections')::int AS most,
              current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                - (SELECT count(*)::int FROM pg_stat_activity WHERE coalesce(backend_type, 'client backend') = 'client backend') AS free`,
    )
    const { free, most } = rows[0] ?? { free: 0, most: 0 }
    const needed = config.poolSize + besidesPool
    if (free >= needed) return ok(`${free} of ${most} connections are free; one process takes up to ${needed}`)
    return warn(
      `only ${free} of ${most} connections are free, and one process takes up to ${needed}`,
      'Raise max_connections of PostgreSQL, or lower DB_POOL_SIZE.',
    )
  },
}
