import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../../lib/errors.ts'
import { type HeaderList, headerValue } from '../../wire/header-list.ts'
import { callText, readMessage, requestText, type RpcAnswer } from '../protocol/messages.ts'
import { createLegacySession, factsOfInitialize, initializeCall, type LegacySession, type PendingCall } from './legacy-session.ts'
import { type HttpAsk, type HttpDeps, type HttpEnd, statusFault } from './post.ts'
import { exchangeWith } from './signed-in.ts'
import type { UpstreamPeer } from './upstream-request.ts'

/** A server may end a stream early and have it asked for again so often in one call. */
const mostResumes = 100
const usualRetryMs = 1000
const longestRetryMs = 10_000

/** The server has forgotten the session: the call did not run. */
export class SessionGone extends Error {
  override readonly name = 'SessionGone'
}

/** The endpoint is none of streamable HTTP; an older transport may be there. */
export class NoStreamableHttp extends Error {
  override readonly name = 'NoStreamableHttp'
  readonly status: number
  constructor(status: number) {
    super(`the endpoint answered ${status} to a POST`)
    this.status = status
  }
}

/** Opens a session by streamable HTTP. Rejects with `NoStreamableHttp` where no such endpoint is. */
export async function openStreamable(deps: HttpDeps, peer: UpstreamPeer, signal: AbortSignal): Promise<LegacySession> {
  const { server } = peer
  const { answer, end } = await handshake(deps, peer, signal)
  const facts = factsOfInitialize(answer)
  const sessionId = headerValue(end.headers, 'mcp-session-id') ?? null
  const own = [
    ...(facts.revision < '2025-06-18' ? [] : ['mcp-protocol-version', facts.revision]),
    ...(sessionId === null ? [] : ['mcp-session-id', sessionId]),
  ]
  const closing = new AbortController()
  const session = createLegacySession(facts, {
    totalMs: deps.bounds.totalMs,
    send: (text, call) => post({ deps, peer, own, take: (value, from) => take(value, from), isSession: sessionId !== null }, text, call),
    close() {
      closing.abort()
      if (sessionId === null) return
      const gone = AbortSignal.timeout(deps.bounds.idleMs)
      exchangeWith(deps, { server, method: 'DELETE', headers: own, body: null, signal: gone }, { message() {} }).catch(() => {})
    },
  })
  function take(value: unknown, from: PendingCall | null): void {
    const message = readMessage(value)
    if (message === null) throw new ApiError('upstream_bad_response', 'The MCP server sent a message that is not JSON-RPC.')
    session.take(message, from)
  }
  const posting = { deps, peer, own, take, isSession: sessionId !== null }
  await post(posting, callText({ method: 'notifications/initialized', params: {} }), null)
  void hear(posting, closing.signal)
  return session
}

async function handshake(deps: HttpDeps, peer: UpstreamPeer, signal: AbortSignal) {
  let found: RpcAnswer | null = null
  const body = requestText(0, initializeCall(peer))
  const ask: HttpAsk = { server: peer.server, method: 'POST', headers: [], body, signal }
  const end = await exchangeWith(deps, ask, {
    message(value) {
      const message = readMessage(value)
      if (message?.kind === 'answer') found ??= message.answer
    },
  })
  const answer = answerOf(found)
  if (answer !== null && 'result' in answer) return { answer: answer.result, end }
  if (end.status >= 400 && end.status < 500 && ![401, 403, 429].includes(end.status)) throw new NoStreamableHttp(end.status)
  if (end.status > 299) throw statusFault(end.status)
  throw new ApiError('upstream_bad_response', 'The MCP server refused the handshake of the protocol.')
}

/** It is set by a callback, which the compiler does not follow. */
const answerOf = (found: RpcAnswer | null): RpcAnswer | null => found

interface PostMeans {
  readonly deps: HttpDeps
  readonly peer: UpstreamPeer
  /** The headers of the session. */
  readonly own: HeaderList
  readonly isSession: boolean
  readonly take: (value: unknown, from: PendingCall | null) => void
}

/** Sends one message and reads the stream that answers it, until the call has its answer. */
async function post(posting: PostMeans, text: string, call: PendingCall | null): Promise<void> {
  const { deps, peer, own, take } = posting
  const signal = call?.request.signal ?? AbortSignal.timeout(deps.bounds.idleMs)
  const mark = call?.request.mark
  const ears = {
    head(status: number) {
      if (status === 404 && posting.isSession) throw new SessionGone()
    },
    message: (value: unknown) => take(value, call),
  }
  const answered = followed(call)
  const end = await exchangeWith(deps, { server: peer.server, method: 'POST', headers: own, body: text, signal, mark }, ears)
  if (answered.isOver()) return
  if (end.status < 200 || end.status > 299) throw statusFault(end.status)
  if (call !== null) await resume(posting, { call, end, isOver: answered.isOver })
}

/** Notes whether a call has its end. */
function followed(call: PendingCall | null): { readonly isOver: () => boolean } {
  let isOver = false
  if (call !== null) {
    const { finish } = call
    call.finish = (answer) => {
      isOver = true
      finish(answer)
    }
  }
  return { isOver: () => isOver }
}

interface BrokenStream {
  readonly call: PendingCall
  readonly end: HttpEnd
  readonly isOver: () => boolean
}

/** Asks for the rest of a stream that ended before its answer. */
async function resume({ deps, peer, own, take }: PostMeans, { call, end, isOver }: BrokenStream): Promise<void> {
  let last = end
  let lastEventId = end.lastEventId
  const { signal } = call.request
  for (let tries = 0; lastEventId !== null && tries < mostResumes; tries += 1) {
    await sleep(Math.min(last.retryMs ?? usualRetryMs, longestRetryMs), undefined, { signal })
    const headers = [...own, 'last-event-id', lastEventId]
    last = await exchangeWith(
      deps,
      { server: peer.server, method: 'GET', headers, body: null, signal },
      { message: (value) => take(value, call) },
    )
    if (isOver()) return
    if (last.status < 200 || last.status > 299) throw statusFault(last.status)
    lastEventId = last.lastEventId ?? lastEventId
  }
  throw new ApiError('upstream_bad_response', 'The MCP server ended its answer before the result.')
}

/** Reads the messages that the server sends by itself, as long as the session lasts. A server without such a stream sends them with its answers alone. */
async function hear({ deps, peer, own, take }: PostMeans, signal: AbortSignal): Promise<void> {
  let lastEventId: string | null = null
  while (!signal.aborted) {
    const headers: HeaderList = lastEventId === null ? own : [...own, 'last-event-id', lastEventId]
    let waitMs = usualRetryMs
    try {
      const ask: HttpAsk = { server: peer.server, method: 'GET', headers, body: null, signal, isStanding: true }
      const end: HttpEnd = await exchangeWith(deps, ask, { message: (value) => take(value, null) })
      if (end.status !== 200 || !end.isStream) return
      lastEventId = end.lastEventId ?? lastEventId
      waitMs = Math.min(end.retryMs ?? usualRetryMs, longestRetryMs)
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.code === 'client_closed') return
      waitMs = longestRetryMs
    }
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {})
  }
}
