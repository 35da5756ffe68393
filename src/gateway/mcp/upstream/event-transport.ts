import { ApiError, toApiError } from '../../../lib/errors.ts'
import { callText, readMessage, requestText, type RpcAnswer } from '../protocol/messages.ts'
import { createLegacySession, factsOfInitialize, initializeCall, type LegacySession, type PendingCall } from './legacy-session.ts'
import { type HttpDeps, statusFault } from './post.ts'
import { exchangeWith } from './signed-in.ts'
import type { UpstreamPeer } from './upstream-request.ts'

/** Opens a session by the transport of 2024-11-05: one stream with all messages of the server, and an address that takes messages. */
export async function openEvents(deps: HttpDeps, peer: UpstreamPeer, signal: AbortSignal): Promise<LegacySession> {
  const { server } = peer
  const closing = new AbortController()
  const { promise: endpoint, resolve: found, reject: failed } = Promise.withResolvers<string>()
  const { promise: greeted, resolve: greet, reject: refuse } = Promise.withResolvers<RpcAnswer>()
  greeted.catch(() => {})
  let session: LegacySession | null = null
  const onAbort = (): void => closing.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })

  const heard = exchangeWith(
    deps,
    { server, method: 'GET', headers: [], body: null, signal: closing.signal, isStanding: true },
    {
      head(status) {
        if (status !== 200) throw statusFault(status)
      },
      message(value, event) {
        if (event?.name === 'endpoint') return found(endpointOf(server.url, event.data))
        const message = readMessage(value)
        if (message === null) throw new ApiError('upstream_bad_response', 'The MCP server sent a message that is not JSON-RPC.')
        if (session !== null) session.take(message, null)
        else if (message.kind === 'answer') greet(message.answer)
      },
    },
  )
  const over = (error: ApiError): void => {
    failed(error)
    refuse(error)
    session?.end(error)
  }
  heard.then(
    () => over(new ApiError('upstream_bad_response', 'The MCP server ended its stream of events.')),
    (thrown: unknown) => over(toApiError(thrown)),
  )

  // A handshake that fails ends the stream, which would stand as long as the server keeps it.
  try {
    return await handshake()
  } catch (thrown) {
    closing.abort()
    throw thrown
  } finally {
    signal.removeEventListener('abort', onAbort)
  }

  async function handshake(): Promise<LegacySession> {
    const url = await endpoint
    async function send(text: string, call: PendingCall | null): Promise<void> {
      const inTime = { signal: AbortSignal.timeout(deps.bounds.idleMs), mark: call?.request.mark }
      const ask = { server, method: 'POST', url, headers: [], body: text, ...inTime } as const
      const { status } = await exchangeWith(deps, ask, { message() {} })
      if (status < 200 || status > 299) throw statusFault(status)
    }
    await send(requestText(0, initializeCall(peer)), null)
    const answer = await greeted
    if ('error' in answer) throw new ApiError('upstream_bad_response', 'The MCP server refused the handshake of the protocol.')
    session = createLegacySession(factsOfInitialize(answer.result), { send, close: () => closing.abort(), totalMs: deps.bounds.totalMs })
    await send(callText({ method: 'notifications/initialized', params: {} }), null)
    return session
  }
}

/** Returns the address that takes messages. The credential of a server goes to no other origin. */
function endpointOf(base: string, told: string): string {
  const url = URL.canParse(told, base) ? new URL(told, base) : null
  if (url === null || url.origin !== new URL(base).origin)
    throw new ApiError('upstream_bad_response', 'The MCP server named an address of another host for its messages.')
  return url.href
}
