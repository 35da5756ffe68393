import type { IncomingHttpHeaders } from 'node:http'
import { LaterAnswer, route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { eventsQuery, eventText } from './events.schema.ts'
import { eventStream } from './stream.ts'
import { topicScopes } from './visible.ts'

/** Streams that a process holds, of everybody and of one key. */
const [mostStreams, mostOfKey] = [500, 20]
const ofKeys = new Map<string, number>()

/** Counts a stream of a key; returns how to take it back. */
function admit(keyId: string, streams: number): () => void {
  const own = ofKeys.get(keyId) ?? 0
  if (own >= mostOfKey || streams >= mostStreams)
    throw new ApiError('AB06', `There are too many event streams: a key has at most ${mostOfKey} in each process.`, { retryAfter: 10 })
  ofKeys.set(keyId, own + 1)
  return () => {
    const left = (ofKeys.get(keyId) ?? 1) - 1
    if (left === 0) ofKeys.delete(keyId)
    else ofKeys.set(keyId, left)
  }
}

export const streamEvents = route({
  method: 'GET',
  path: '/events',
  summary: 'Hear of new logs, changes and exports as they happen',
  permission: ['logs.list', 'logs.export', 'workspaces.read', 'virtual_keys.list', 'configs.list', 'prompts.list'],
  query: eventsQuery,
  raw: ['text/event-stream'],
  response: eventText,
})(async ({ em, actor, query, deps, again, headers }) => {
  const { topics, workspace_id: reference, seconds, ...filter } = query
  for (const topic of topics) {
    const scope = topicScopes[topic]
    if (scope !== null && !actor.permissions.has(scope))
      throw new ApiError('AB03', `The topic ${topic} needs the scope ${scope}, which this API key lacks.`, { param: 'topics' })
  }
  const { events: feed } = deps
  if (feed === null) throw new ApiError('AB01', 'This process hears no events: ROLES has no control.')
  const workspaceId = await workspaceFilter(em, actor, reference)
  const release = admit(actor.id, feed.listeners())
  return new LaterAnswer(async (signal) => {
    await feed.ready()
    const body = eventStream({
      feed,
      deps,
      topics,
      actor,
      again,
      workspaceId,
      filter,
      lastEventId: lastOf(headers),
      seconds: seconds ?? null,
    })
    body.once('close', release)
    if (signal.aborted) body.destroy()
    const sent = ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-store', 'x-accel-buffering', 'no']
    return { status: 200, headers: sent, body }
  })
})

function lastOf({ 'last-event-id': given }: IncomingHttpHeaders): string | null {
  return typeof given === 'string' && given !== '' ? given : null
}
