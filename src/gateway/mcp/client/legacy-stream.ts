import { callText, type RpcCall } from '../protocol/messages.ts'
import type { UpstreamLink } from '../upstream/upstream-request.ts'
import { servedChanges, wantsAny, wantsChange } from './changes.ts'
import type { LegacyTalk } from './legacy-talk.ts'
import type { LocalSession, SessionStream } from './local-sessions.ts'
import type { Reply } from './reply.ts'
import { unaskedFilter } from './guard.ts'
import { openLink } from './serve.ts'

/** Opens the stream with the messages that a server sends a legacy client by itself. Rejects when it may have no more streams. */
export async function openSessionStream(talk: LegacyTalk & { readonly session: LocalSession }, reply: Reply): Promise<SessionStream> {
  const { parts, head, client, session } = talk
  const { exchange } = head
  const leaving = new AbortController()
  let stopListening: (() => void) | null = null
  let last: Promise<void> = Promise.resolve()
  const stream: SessionStream = { say: (text) => reply.say(text), listen, end }
  const remove = parts.standing.add({ head, watched: () => [...session.uris], withdraw, end })
  session.stream?.end()
  session.stream = stream
  exchange.onceClosed(leave)
  reply.begin()

  function leave(): void {
    leaving.abort()
    remove()
    stopListening?.()
    if (session.stream === stream) session.stream = null
  }
  function end(): void {
    reply.finish(200, null)
    leave()
  }

  function withdraw(uris: readonly string[]): void {
    const { sessionId } = client
    if (sessionId === null) return
    for (const uri of uris) parts.sessions.unwatch({ organisationId: head.caller.key.organisationId, sessionId }, session, uri)
    listen().catch(end)
  }

  /** Two at once would leave one listening that is never ended. */
  function listen(): Promise<void> {
    const next = last.then(listenAnew)
    last = next.catch(() => {})
    return next
  }

  async function listenAnew(): Promise<void> {
    if (leaving.signal.aborted) return
    const link: UpstreamLink = await openLink(parts, head, { ...client, signal: leaving.signal })
    const wanted = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: [...session.uris],
    }
    const filter = servedChanges(link.facts, wanted)
    const passed = await unaskedFilter(parts.deps, head)
    const former = stopListening
    const notify = (told: RpcCall): void => {
      const isLog = told.method === 'notifications/message'
      const shown = passed(told)
      if (shown !== null && (isLog || wantsChange(filter, told.method, told.params))) reply.say(callText(shown))
    }
    // A legacy server sends log messages here, too.
    const hears = wantsAny(filter) || link.facts.era === 'legacy'
    const stop = hears ? await link.listen({ filter, notify, ended: end }) : null
    former?.()
    if (leaving.signal.aborted) stop?.()
    else stopListening = stop
  }

  // The stream stays open without a server, and the client is none the worse for it.
  await listen().catch(() => {})
  return stream
}
