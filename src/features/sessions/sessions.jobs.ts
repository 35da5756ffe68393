import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** Removes the sessions that are over: they are refused before that. */
export const pruneSessions: Job = {
  name: 'prune-sessions',
  every: '23 * * * *',
  irreversible: true,
  run: ({ orm, clock, config }) =>
    asSystem(
      orm,
      async (em) =>
        void (await em.execute('DELETE FROM sessions WHERE expires_at <= ? OR last_used_at <= ?', [
          new Date(clock.now()),
          new Date(clock.now() - config.sessions.idleMs),
        ])),
    ),
}
