import { ApiError, toApiError } from '../../lib/errors.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { PipelineDeps } from '../pipeline.ts'
import { type McpHead, readMcpHead } from './client/caller.ts'
import { openEventStream, takeEventMessage } from './client/events-edge.ts'
import { createHeldCalls } from './client/held-calls.ts'
import { openSessionStream } from './client/legacy-stream.ts'
import { createLocalSessions } from './client/local-sessions.ts'
import { demandOrigin } from './client/origin.ts'
import type { McpParts } from './client/parts.ts'
import type { McpPath } from './client/paths.ts'
import { ofSession, readPosted, servePosted } from './client/post.ts'
import { refuseRequest } from './client/refuse.ts'
import { Reply } from './client/reply.ts'
import { createSealer } from './client/sealed.ts'
import { createStanding, draining } from './client/standing.ts'
import { McpFault } from './protocol/faults.ts'
import type { RpcId } from './protocol/messages.ts'
import { createUpstream, type McpUpstream } from './upstream/upstream.ts'

/** The traffic with servers of MCP in one process. */
export interface Mcp {
  /** Takes one request over. Never rejects. */
  handle(exchange: Exchange, path: McpPath): Promise<void>
  readonly upstream: McpUpstream
  /** The open streams, and the open sessions with legacy servers. */
  streams(): number
  sessions(): number
  /** Ends the streams; from now on no request is taken. */
  stop(): void
  /** Ends all else. */
  end(): Promise<void>
}

/** `secret`: the key under which tokens are sealed, the same in every replica; asked for when the first request comes. */
export function createMcp(deps: PipelineDeps, secret: () => Uint8Array): Mcp {
  const { settings } = deps
  const upstream = createUpstream({
    egress: deps.egress,
    bounds: { idleMs: settings.mcpIdleMs, totalMs: settings.mcpTotalMs, resultBytes: settings.mcpResultBytes },
    sessions: { most: settings.mcpSessions, idleMs: settings.mcpSessionIdleMs },
    now: Date.now,
  })
  const own = {
    deps,
    upstream,
    sessions: createLocalSessions(settings.mcpSessions),
    standing: createStanding(deps),
    held: createHeldCalls(),
    replica: uuidv7(),
  }
  let parts: McpParts | null = null
  let isStopped = false

  async function handle(exchange: Exchange, path: McpPath): Promise<void> {
    let id: RpcId | null = null
    try {
      if (isStopped) throw draining()
      parts ??= { ...own, sealer: createSealer(secret(), Date.now) }
      demandOrigin(exchange, settings)
      const head = await readMcpHead(deps, exchange, path)
      await serve(parts, head, (found) => (id = found))
    } catch (thrown) {
      const error = thrown instanceof McpFault ? thrown.cause : toApiError(thrown)
      if (error !== null && error.status >= 500) deps.report(error, exchange.requestId)
      if (error !== null && (error.status === 401 || error.status === 403)) deps.refused?.(error, exchange)
      refuseRequest({ exchange, path, publicUrl: settings.publicUrl, id }, thrown)
    }
  }

  return {
    handle,
    upstream,
    streams: () => own.standing.open(),
    sessions: () => upstream.open(),
    stop() {
      isStopped = true
      own.standing.stop()
      own.held.stop()
    },
    end: () => upstream.close(),
  }
}

async function serve(parts: McpParts, head: McpHead, noteId: (id: RpcId) => void): Promise<void> {
  const { method } = head.exchange
  const served = `${method} ${head.path.kind}`
  if (served === 'POST mcp') return servePosted(parts, head, await readPosted(parts, head, noteId))
  if (served === 'GET sse') return openEventStream(parts, head)
  if (served === 'POST messages') return takeEventMessage(parts, head)
  const sessionId = head.exchange.header('mcp-session-id')
  if (head.path.kind !== 'mcp' || sessionId === undefined || !(method === 'GET' || method === 'DELETE')) throw notAllowed(head)
  const talk = ofSession(parts, head, sessionId)
  const reply = new Reply({ exchange: head.exchange, headers: [], takesStream: method === 'GET', hide: head.hide })
  if (method === 'GET') {
    await openSessionStream(talk, reply)
    return
  }
  parts.sessions.end({ organisationId: head.caller.key.organisationId, sessionId }, talk.session)
  reply.finish(200, null)
}

const notAllowed = ({ path: { kind }, exchange }: McpHead) => {
  const allowed = kind === 'mcp' ? 'POST' : kind === 'sse' ? 'GET' : 'POST'
  return new ApiError('method_not_allowed', `${exchange.method} needs a session here: this address takes ${allowed}.`, {
    headers: ['allow', allowed],
  })
}
