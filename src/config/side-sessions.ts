interface SideSession {
  /** The most connections that one process opens for it. */
  readonly most: number
  /** True if it is one connection of its own; the others share the side pool, each with so many of its connections at most. */
  readonly own?: true
  /** The work that they are used for. */
  readonly work: string
}

/** Each use of the database beside the pool of the ORM. */
export const sideSessions = {
  lookups: { most: 2, work: 'read keys, providers and configs that requests name' },
  strangers: { most: 1, work: 'look up credentials and slugs that are unknown so far, so that a flood of them delays no others' },
  limits: { most: 3, work: 'reserve and settle budgets and rate limits' },
  answers: { most: 4, work: 'read and write cached answers' },
  responses: { most: 4, work: 'read and write stored responses' },
  files: { most: 4, work: 'read and write files and batches' },
  batches: { most: 4, work: 'run the lines of batches' },
  breakers: { most: 1, work: 'share circuit breakers with other processes' },
  secrets: { most: 1, work: 'record the outcomes of reading secret references' },
  vault: { most: 2, work: 'read the data keys of organisations' },
  snapshot: { most: 1, own: true, work: 'follow the changes of the control plane' },
  events: { most: 1, own: true, work: 'listen to events for event streams' },
  journal: { most: 1, own: true, work: 'write logs' },
  'log-store': { most: 1, own: true, work: 'move bodies of logs to the log store' },
  jobs: { most: 1, own: true, work: 'hold the locks of the jobs that run' },
  backfills: { most: 1, own: true, work: 'fill new columns after an upgrade' },
  prices: { most: 1, own: true, work: 'find at the start which price lists are needed' },
} as const satisfies Readonly<Record<string, SideSession>>

/** A use with a connection of its own. */
export type OwnUse = {
  [Use in keyof typeof sideSessions]: (typeof sideSessions)[Use] extends { own: true } ? Use : never
}[keyof typeof sideSessions]

/** A use that shares the side pool. */
export type SharedUse = Exclude<keyof typeof sideSessions, OwnUse>

const sessions: readonly (readonly [use: string, SideSession])[] = Object.entries(sideSessions)
const sum = (counted: typeof sessions): number => counted.reduce((total, [, { most }]) => total + most, 0)

/** The connections of the side pool: as many as its uses may take together, so that none waits for another. */
export const sidePoolSize = sum(sessions.filter(([, { own }]) => own !== true))

/** The most connections that one process opens beside the pool of the ORM. */
export const besidesPool = sum(sessions)

/** The name that PostgreSQL shows for the connections of the side pool. */
export const sidePoolName = 'gatehouse-side'

/** Returns the name that PostgreSQL shows for the connection of a use. */
export const ownName = (use: OwnUse): string => nameOf(use)

const nameOf = (use: string): string => `gatehouse-${use}`

/** Each use of the database, with the name of its connections. */
export const namedSessions: readonly (Pick<SideSession, 'most' | 'work'> & { readonly name: string })[] = sessions.map(
  ([use, session]) => ({
    name: session.own === true ? nameOf(use) : sidePoolName,
    most: session.most,
    work: session.work,
  }),
)
