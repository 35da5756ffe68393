import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** Deletes breakers whose targets were not asked for since: a day after one request could have tried them. */
export const dropForgottenBreakers: Job = {
  name: 'breakers.drop-forgotten',
  every: '41 * * * *',
  irreversible: true,
  run: ({ orm }) => asSystem(orm, async (em) => void (await em.execute("DELETE FROM breakers WHERE until < now() - interval '1 day'"))),
}
