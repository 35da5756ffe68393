import type { Job } from '../feature.ts'
import { asSystem } from './orm.ts'

/** Removes the answers whose idempotency key has expired. */
export const pruneIdempotencyKeys: Job = {
  name: 'prune-idempotency-keys',
  every: '17 * * * *',
  irreversible: true,
  run: ({ orm, clock }) =>
    asSystem(orm, async (em) => void (await em.execute('DELETE FROM idempotency_keys WHERE expires_at <= ?', [new Date(clock.now())]))),
}
