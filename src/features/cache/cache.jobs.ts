import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** Drops the partitions in which every answer has expired. */
export const dropExpiredAnswers: Job = {
  name: 'cache.drop-expired',
  every: '17 * * * *',
  run: ({ orm }) => asSystem(orm, async (em) => void (await em.execute('SELECT drop_answer_partitions()'))),
}
