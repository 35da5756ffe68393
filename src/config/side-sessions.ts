/** Each use of the database beside the pool of the ORM: the most connections that one process opens for it, and the work that they are used for. */
export const sideSessions = {
  lookups: { most: 2, work: 'read keys, providers and configs that requests name' },
  strangers: { most: 1, work: 'look up credentials and slugs that are unknown so far, so that a flood of them delays no others' },
  snapshot: { most: 1, work: 'follow the changes of the control plane' },
  events: { most: 1, work: 'listen to events for event streams' },
  limits: { most: 3, work: 'reserve and settle budgets and rate limits' },
  answers: { most: 4, work: 'read and write cached answers' },
  responses: { most: 4, work: 'read and write stored responses' },
  breakers: { most: 1, work: 'share circuit breakers with other processes' },
  secrets: { most: 1, work: 'record the outcomes of reading secret references' },
  vault: { most: 2, work: 'read the data keys of organisations' },
  journal: { most: 1, work: 'write logs' },
  'log-store': { most: 1, work: 'move bodies of logs to the log store' },
  jobs: { most: 1, work: 'hold the locks of the jobs that run' },
  backfills: { most: 1, work: 'fill new columns after an upgrade' },
  prices: { most: 1, work: 'find at the start which price lists are needed' },
} as const

/** The name of one use of the database beside the pool of the ORM. */
export type SideUse = keyof typeof sideSessions

/** The most connections that one process opens beside the pool of the ORM. */
export const besidesPool = Object.values(sideSessions).reduce((sum: number, { most }) => sum + most, 0)
