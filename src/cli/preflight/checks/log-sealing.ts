import type { Client } from 'pg'
import { ok, warn, type Check } from '../check.ts'

/** Reports whether request logs are sealed, and since when. */
export const logSealingCheck: Check = {
  id: 'log-sealing',
  about: 'Whether bodies and headers of request logs are sealed: `LOG_SEALING`, and the logs that are there.',
  remedy: 'Set `LOG_SEALING=on` in every process. Logs that were written before stay in the clear until `LOG_RETENTION_DAYS` deletes them.',
  quick: false,
  async run(stage) {
    const { logSealing, logRetentionDays } = stage.settings()
    const { client } = await stage.database()
    const { oldest, newest } = await storedEnds(client)
    if (!logSealing && newest === 'sealed')
      return warn(
        'LOG_SEALING is off here, and the newest request log is sealed: some processes seal, or did until now',
        'Set LOG_SEALING to the same value in every process.',
      )
    if (!logSealing) return ok('LOG_SEALING is off: bodies and headers of request logs lie in the clear, on disk and in the database')
    if (newest === 'clear')
      return warn(
        'LOG_SEALING is on here, and the newest request log is in the clear: some processes do not seal, or none has begun to',
        'Set LOG_SEALING to the same value in every process.',
      )
    if (oldest === 'clear') return ok(`LOG_SEALING is on; logs from before it was lie in the clear for ${logRetentionDays} days at most`)
    return ok('LOG_SEALING is on, and stored logs are sealed')
  },
}

type LogForm = 'sealed' | 'clear' | null

/** Reads how the first and the last log are stored; null where there is none. Both are found by the index. */
async function storedEnds(client: Client): Promise<{ readonly oldest: LogForm; readonly newest: LogForm }> {
  if (!(await hasColumn(client))) return { oldest: null, newest: null }
  await client.query(`BEGIN READ ONLY; SET LOCAL app.scope = 'system'`)
  try {
    const { rows } = await client.query<{ oldest: LogForm; newest: LogForm }>(`SELECT ${end('ASC')} AS oldest, ${end('DESC')} AS newest`)
    return rows[0] ?? { oldest: null, newest: null }
  } finally {
    await client.query('ROLLBACK')
  }
}

const end = (direction: 'ASC' | 'DESC') =>
  `(SELECT CASE WHEN sealed IS NULL THEN 'clear' ELSE 'sealed' END FROM log_bodies ORDER BY created_at ${direction} LIMIT 1)`

/** Returns whether the column is there; it is not before the migration that brings it. */
async function hasColumn(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_attribute WHERE attrelid = to_regclass('log_bodies') AND attname = 'sealed' AND NOT attisdropped`,
  )
  return rowCount === 1
}
