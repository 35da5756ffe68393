import test from 'ava'
import { inDatabase, testDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
test.before(async () => void (database = await testDatabase()))
test.after.always(() => database?.drop())

/** The plans that PostgreSQL chooses between as a database grows. */
const plans: readonly (readonly [what: string, settings: readonly string[]])[] = [
  ['as an empty database is read', []],
  ['every name before its parent', ['enable_nestloop', 'enable_indexscan', 'enable_bitmapscan']],
]

for (const [what, off] of plans)
  test.serial(`old partitions of logs and of cached answers are dropped, and no others: ${what}`, async (t) => {
    await inDatabase(database.superuser, async (client) => {
      for (const setting of off) await client.query(`SET ${setting} = off`)
      for (const days of [0, 40, 41]) {
        await client.query(`SELECT ensure_log_partitions((now() - $1 * interval '1 day')::date)`, [days])
        await client.query(`SELECT ensure_answer_partition(now() - $1 * interval '1 day')`, [days])
      }
      const logs = await client.query<{ n: number }>(`SELECT drop_log_partitions((now() - interval '30 days')::date) AS n`)
      t.is(logs.rows[0]?.n, 6)
      const answers = await client.query<{ n: number }>('SELECT drop_answer_partitions() AS n')
      t.true((answers.rows[0]?.n ?? 0) > 0)
      const again = await client.query<{ n: number }>(`SELECT drop_log_partitions((now() - interval '30 days')::date) AS n`)
      t.is(again.rows[0]?.n, 0)
    })
  })
