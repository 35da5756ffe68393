import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** A process that was killed is started again and has shipped its logs by then. */
const doubtFor = '2 minutes'

/** Ends periods that no request has ended, settles leases of dead processes, and deletes unused counters. */
export const keepLimits: Job = {
  name: 'limits.keep',
  every: '* * * * *',
  irreversible: false,
  async run({ orm }) {
    await asSystem(orm, (em) => em.execute(`SELECT resolve_doubts('${doubtFor}', extract(minute FROM now())::integer % 10 = 0)`))
    await asSystem(orm, (em) => em.execute('SELECT keep_limits()'))
  },
}
