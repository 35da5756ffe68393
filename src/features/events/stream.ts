import type { Readable } from 'node:stream'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { EventFeed } from '../../app/events/event-feed.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { createTurns } from '../../lib/shares/turns.ts'
import type { Topic } from './events.schema.ts'
import { openOutlet, type Outlet } from './outlet.ts'
import { createPending, type PendingNotices } from './pending.ts'
import { topicScopes, visibleEvents, type EventViewer } from './visible.ts'

export interface StreamOptions extends Pick<EventViewer, 'workspaceId' | 'filter'> {
  readonly feed: EventFeed
  readonly deps: Pick<Deps, 'orm' | 'log'>
  readonly topics: readonly Topic[]
  readonly actor: Actor
  /** Finds the caller as things stand then; null: they may not listen any longer. */
  readonly again: () => Promise<Actor | null>
  readonly lastEventId: string | null
  readonly seconds: number | null
}

/** Streams of a process, of all organisations and of one. */
export const mostStreams = { most: 4000, mostOfOne: 500 }

const flushEveryMs = 250
const rightsEveryMs = 1_000
const heartbeatMs = 15_000
/** A client comes back after a pause within these bounds, so that not all come at once. */
const [soonestMs, latestMs] = [1_000, 30_000]

/** Questions that streams ask the database at a time. A stream asks one after the other, so that no more wait than there are streams. */
const inTurn = createTurns({
  most: 2,
  mostOfOne: 1,
  mostWaiting: mostStreams.mostOfOne,
  tooMany: () => new ApiError('AB06', 'Too many event streams wait for the database.'),
})

/**
 * Returns server-sent events. Waiting notices are sent every 250 ms, with the rights that the caller has by then. A client that does not keep up gets
 * fewer: the waiting notices are bounded.
 */
export function eventStream(options: StreamOptions): Readable {
  const { feed, actor, lastEventId, workspaceId, seconds } = options
  const topics = new Set(options.topics)
  const listening: EventListener = {
    ...options,
    topics,
    pending: createPending({ organisationId: actor.organisationId, workspaceId, topics }),
    outlet: openOutlet(() => {
      clearInterval(timer)
      clearTimeout(end)
      leave()
    }),
    isGap: false,
    rightsAt: performance.now(),
  }
  const { outlet, pending } = listening
  const leave = feed.listen({
    heard: (notice) => pending.add(notice),
    missed: () => void (listening.isGap = true),
    live: (live) => outlet.send('live', { live }),
    ended() {
      outlet.note(`retry: ${Math.round(soonestMs + Math.random() * (latestMs - soonestMs))}`)
      finish(outlet, 'the server stops')
    },
  })
  const timer = setInterval(
    alone(() => flush(listening), listening),
    flushEveryMs,
  )
  const end = seconds === null ? undefined : setTimeout(() => finish(outlet, 'the time is over'), seconds * 1000)
  outlet.send('live', { live: feed.isLive() })
  if (lastEventId !== null) resume(listening, lastEventId)
  return outlet.stream
}

interface EventListener extends Omit<StreamOptions, 'topics' | 'actor'> {
  readonly topics: Set<Topic>
  readonly pending: PendingNotices
  readonly outlet: Outlet
  /** The caller at the last look. */
  actor: Actor
  /** Events may have been missed. */
  isGap: boolean
  rightsAt: number
}

function finish(outlet: Outlet, reason: string): void {
  outlet.send('end', { reason })
  outlet.end()
}

function resume(listening: EventListener, lastEventId: string): void {
  const missed = listening.feed.since(lastEventId)
  listening.isGap = missed === null
  for (const notice of missed ?? []) listening.pending.add(notice)
}

/** Returns how to do something unless it is still being done. */
function alone(work: () => Promise<void>, listening: EventListener): () => void {
  let isBusy = false
  return () => {
    if (isBusy) return
    isBusy = true
    work()
      .catch((error: unknown) => {
        listening.deps.log.warn({ err: error }, 'events could not be read for a stream')
        listening.isGap = true
      })
      .finally(() => void (isBusy = false))
  }
}

async function flush(listening: EventListener): Promise<void> {
  const { outlet, pending, deps, topics, workspaceId, filter } = listening
  if (!outlet.takes()) return
  const taken = pending.take()
  const isDue = taken !== null || performance.now() - listening.rightsAt >= rightsEveryMs
  if (isDue && !(await isEntitled(listening))) return
  if (listening.isGap) {
    listening.isGap = false
    outlet.send('gap', {})
  } else if (taken !== null) {
    const { actor } = listening
    const look = () => inTenant(deps.orm, actor.organisationId, (em) => visibleEvents(em, taken, { actor, workspaceId, filter }))
    for (const { topic, data } of await inTurn(actor.organisationId, look)) if (topics.has(topic)) outlet.send(topic, data, taken.token)
  } else if (outlet.silentFor() >= heartbeatMs) outlet.note(':\n')
}

/** Looks at the rights once more; false: the stream has ended. */
async function isEntitled(listening: EventListener): Promise<boolean> {
  const { topics, outlet, again } = listening
  listening.rightsAt = performance.now()
  const actor = await inTurn(listening.actor.organisationId, again)
  for (const topic of topics) {
    const scope = topicScopes[topic]
    if (actor === null || (scope !== null && !actor.permissions.has(scope))) topics.delete(topic)
  }
  if (actor === null || topics.size === 0) {
    finish(outlet, 'the right to listen is gone')
    return false
  }
  listening.actor = actor
  return true
}
