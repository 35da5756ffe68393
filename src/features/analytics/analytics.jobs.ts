import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'
import { settledTraits } from './usage-source.ts'

const logsAtOnce = 5000
const slicesOfARun = 200

/** Counts the logs that were there before roll-ups were, the youngest first: some thousand in each transaction, for at most about a minute. */
export const fillUsage: Job = {
  name: 'analytics.fill',
  every: '* * * * *',
  irreversible: false,
  async run({ orm }) {
    for (let slice = 0; slice < slicesOfARun; slice++) {
      const [row] = await asSystem(orm, (em) => em.execute<{ more: boolean }[]>('SELECT fill_usage(?) AS more', [logsAtOnce]))
      if (row?.more !== true) return
    }
  },
}

/** Merges the latencies and the users of days that are over, one day in each transaction, the youngest first; again when a late log came. */
export const settleUsage: Job = {
  name: 'analytics.settle',
  every: '3-59/10 * * * *',
  irreversible: false,
  async run({ orm, config }) {
    const days = await asSystem(orm, (em) => em.execute<{ day: Date }[]>(unsettled, [config.metricsRetentionDays]))
    for (const { day } of days)
      await asSystem(orm, async (em) => {
        await em.execute('SELECT begin_settling(?)', [day])
        for (const trait of ['all', ...settledTraits]) await em.execute('SELECT settle_latencies(?, ?)', [day, trait])
        await em.execute('SELECT settle_users(?)', [day])
        await em.execute('INSERT INTO usage_settled_days VALUES (?) ON CONFLICT DO NOTHING', [day])
      })
  },
}

const unsettled = `
  SELECT day FROM usage_state s,
         generate_series(date_trunc('day', now(), 'UTC') - interval '1 day', greatest(s.complete_from, now() - ? * interval '1 day'), interval '-1 day') day
   WHERE NOT (EXISTS (SELECT FROM usage_settled_days d WHERE d.bucket = day) AND EXISTS (SELECT FROM usage_settled_user_days d WHERE d.bucket = day))
     AND EXISTS (SELECT FROM usage_days u WHERE u.bucket = day)
   ORDER BY day DESC`

/** Forgets figures older than METRICS_RETENTION_DAYS, and those that name users with their logs. */
export const forgetUsage: Job = {
  name: 'analytics.forget',
  every: '41 3 * * *',
  irreversible: true,
  async run({ orm, config }) {
    await asSystem(orm, async (em) => {
      for (const table of ['usage_hours', 'usage_days', 'usage_day_latencies', 'usage_day_users', 'usage_user_hours', 'usage_user_days'])
        await em.execute(`DELETE FROM ${table} WHERE bucket < now() - ? * interval '1 day'`, [config.metricsRetentionDays])
    })
    for (let gone = sumsAtOnce; gone === sumsAtOnce;)
      gone = await asSystem(orm, async (em) => (await em.execute<{ n: number }[]>(oldSums, [config.logRetentionDays]))[0]?.n ?? 0)
  },
}

/** A day can have millions: as many go in a transaction as do within a second. */
const sumsAtOnce = 20_000
const oldSums = `
  WITH gone AS (DELETE FROM usage_user_sums u WHERE u.ctid = ANY (ARRAY(
    SELECT s.ctid FROM usage_user_sums s WHERE s.bucket < date_trunc('day', now(), 'UTC') - ? * interval '1 day' LIMIT ${sumsAtOnce})) RETURNING 1)
  SELECT count(*)::float8 AS n FROM gone`
