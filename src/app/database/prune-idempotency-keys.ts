import type { Job } from '../feature.ts'
import { asSystem } from './orm.ts'

/** An organisation has so many answers; the oldest are removed beyond it. */
const mostKept = 100_000

const beyond = `DELETE FROM idempotency_keys WHERE id IN (
  SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY organisation_id ORDER BY expires_at DESC) AS place FROM idempotency_keys) k
   WHERE place > ${mostKept})`

/** Removes the answers whose idempotency key has expired, and those of an organisation that has too many. */
export const pruneIdempotencyKeys: Job = {
  name: 'prune-idempotency-keys',
  every: '17 * * * *',
  irreversible: true,
  run: ({ orm, clock }) =>
    asSystem(orm, async (em) => {
      await em.execute('DELETE FROM idempotency_keys WHERE expires_at <= ?', [new Date(clock.now())])
      await em.execute(beyond)
    }),
}
