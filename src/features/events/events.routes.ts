import type { IncomingHttpHeaders } from 'node:http'
import { stream } from '../../app/answer-shapes.ts'
import { type Actor, LaterAnswer, route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { createShares } from '../../lib/shares/shares.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { eventsQuery, eventText } from './events.schema.ts'
import { eventStream, mostStreams } from './stream.ts'
import { topicScopes } from './visible.ts'

const mostOfKey = 20
const streams = createShares(mostStreams)
const ofKeys = createShares({ most: Infinity, mostOfOne: mostOfKey })

/** Counts a stream of a key; returns how to take it back. */
function admit({ id, organisationId }: Actor): () => void {
  if (!ofKeys.take(id)) throw tooMany(`a key has at most ${mostOfKey} in each process`)
  if (!streams.take(organisationId)) {
    ofKeys.giveBack(id)
    throw tooMany(`an organisation has at most ${mostStreams.mostOfOne} in each process, and all together ${mostStreams.most}`)
  }
  return () => {
    ofKeys.giveBack(id)
    streams.giveBack(organisationId)
  }
}

const tooMany = (bound: string): ApiError => new ApiError('AB06', `There are too many event streams: ${bound}.`, { retryAfter: 10 })

export const streamEvents = route({
  method: 'GET',
  path: '/events',
  summary: 'Stream new logs, changes and exports as they happen',
  permission: ['logs.list', 'logs.export', 'workspaces.read', 'virtual_keys.list', 'configs.list', 'prompts.list'],
  query: eventsQuery,
  answers: stream(['text/event-stream']),
  response: eventText,
})(async ({ em, actor, query, deps, again, headers }) => {
  const { topics, workspace_id: reference, seconds, ...filter } = query
  for (const topic of topics) {
    const scope = topicScopes[topic]
    if (scope !== null && !actor.permissions.has(scope))
      throw new ApiError('AB03', `The topic ${topic} needs the scope ${scope}, which this API key lacks.`, { param: 'topics' })
  }
  const { events: feed } = deps
  if (feed === null) throw new ApiError('AB01', 'This process receives no events: ROLES has no control.')
  const workspaceId = await workspaceFilter(em, actor, reference)
  const release = admit(actor)
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
