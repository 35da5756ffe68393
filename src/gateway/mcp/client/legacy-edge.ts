import { isFields } from '../../../lib/json/fields.ts'
import { longTurns } from '../../../lib/shares/long-turns.ts'
import { isLogLevel } from '../protocol/envelope.ts'
import { type McpFault, mcpFault } from '../protocol/faults.ts'
import { callText, type RpcAnswer, type RpcCall, type RpcId, type RpcMessage } from '../protocol/messages.ts'
import { anyLevel, type UpstreamLink } from '../upstream/upstream-request.ts'
import type { LegacyEar, LegacyTalk } from './legacy-talk.ts'
import { askLegacy } from './ask-legacy.ts'
import { legacyFault } from './ask-to-connect.ts'
import { beginSession, type LegacyClient, unknownSession } from './legacy-session-id.ts'
import { type CallNotes, noteSent } from './call-notes.ts'
import { type LocalSession, watchBounds } from './local-sessions.ts'
import { guardOf } from './guard.ts'
import { demandShort } from './modern-listen.ts'
import { demandThing } from './rights.ts'
import { meantCall } from './search.ts'
import { runCall } from './run-call.ts'
import { demandMethod, openLink, serveCall, toldCapabilities, toLegacy } from './serve.ts'

/** Takes a message that no answer belongs to. */
export function hearLegacy({ session }: LegacyTalk, message: Exclude<RpcMessage, { kind: 'request' }>): void {
  if (session === null) return
  if (message.kind === 'answer') {
    if (typeof message.id === 'string') session.questions.get(message.id)?.(message.answer)
  } else if (message.method === 'notifications/cancelled') {
    const { requestId } = message.params
    if (typeof requestId === 'string' || typeof requestId === 'number') session.calls.get(requestId)?.abort()
  }
}

/** A request of a legacy client, and how its answer comes to it. */
export interface LegacyRequest extends RpcCall {
  readonly id: RpcId
  readonly bytes: Buffer
  readonly isFirst: boolean
  readonly ear: LegacyEar
  /** Aborted when the client has left. */
  readonly left: AbortSignal
}

/** Serves one request of a legacy client. */
export async function serveLegacy(talk: LegacyTalk, asked: LegacyRequest): Promise<void> {
  const { parts, head, client, session } = talk
  const { id, bytes, isFirst, ear, left } = asked
  const cancelling = new AbortController()
  const call = meantCall(head, { method: asked.method, params: asked.params })
  session?.calls.set(id, cancelling)
  const signal = AbortSignal.any([left, cancelling.signal])
  let began: LegacyClient | null = null
  await runCall(parts, head, {
    id,
    call,
    bytes,
    revision: client.revision,
    isFirst,
    work: async (noted) => {
      try {
        if (call.method !== 'initialize') return await work(talk, { ...asked, ...call, signal, noted })
        began = beginSession(parts.sealer, head, call.params)
        const link = await openLink(parts, head, { ...began, signal, noted })
        noted.serverRevision = link.facts.revision
        return { result: greeting(link, began) }
      } catch (thrown) {
        throw legacyFault(thrown, began ?? client)
      }
    },
    statusOf,
    isLeft: () => ear.isLeft(),
    isStream: () => ear.isStream(),
    sent: () => ear.sent(),
    give: (status, text, headers) => ear.finish(status, text, [...headers, ...sessionHeader(began, status)]),
  })
  session?.calls.delete(id)
}

const sessionHeader = (began: LegacyClient | null, status: number): readonly string[] =>
  began?.sessionId === undefined || began.sessionId === null || status !== 200 ? [] : ['mcp-session-id', began.sessionId]

/** Errors of the protocol and of servers are answers as any other. */
const statusOf = ({ status, cause }: McpFault): number => (cause === null || (status >= 502 && status <= 504) ? 200 : status)

const greeting = ({ facts }: UpstreamLink, { revision }: LegacyClient) => ({
  protocolVersion: revision,
  capabilities: toldCapabilities(facts),
  serverInfo: facts.serverInfo,
  ...(facts.instructions !== null && { instructions: facts.instructions }),
})

interface LegacyWork extends LegacyRequest {
  readonly signal: AbortSignal
  readonly noted: CallNotes
}

async function work(talk: LegacyTalk, asked: LegacyWork): Promise<RpcAnswer> {
  const { parts, head, client, session } = talk
  const { method, signal, noted, ear } = asked
  // Legacy clients have no such members: a modern server would take those of one for the state of another client.
  const { requestState: _, inputResponses: _given, ...params } = asked.params
  const isOfSession = ofSession.has(method)
  if (!isOfSession) demandMethod(method)
  const link = await openLink(parts, head, { ...client, signal, noted })
  noted.serverRevision = link.facts.revision
  // The messages of a batch go out one after the other.
  await longTurns.before(head.caller.key.organisationId, asked.isFirst ? asked.bytes.length : 0, { isWanted: () => !signal.aborted })
  if (isOfSession) return atSession(talk, link, asked)
  const request = {
    method,
    params,
    logLevel: session?.logLevel ?? anyLevel,
    paramHeaders: [],
    signal,
    isHeard: ear.canHear(),
    notify: (told: RpcCall) => ear.say(callText(told)),
    ask: ear.canHear() ? askLegacy(talk, { ear, signal }) : null,
  }
  const answer = await serveCall(head, link, { deps: parts.deps, request, noted })
  return toLegacy(method, isQuestion(answer) ? unanswered(method) : answer, link.facts.era)
}

const isQuestion = (answer: RpcAnswer): boolean => 'result' in answer && answer.result['resultType'] === 'input_required'

/** The client reads no streams, so that it cannot be asked. */
function unanswered(method: string): RpcAnswer {
  const text =
    'The MCP server asks the user in the middle of this call, and the client cannot be asked: it must accept text/event-stream in a session.'
  if (method !== 'tools/call') throw mcpFault('missingCapability', text)
  return { result: { content: [{ type: 'text', text }], isError: true } }
}

/** Requests that change the session alone. */
const ofSession: ReadonlySet<string> = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])

async function atSession(talk: LegacyTalk, link: UpstreamLink, asked: LegacyWork): Promise<RpcAnswer> {
  return asked.method === 'logging/setLevel' ? setLevel(talk, link, asked) : watch(talk, link, asked)
}

const unsupported = (method: string) => mcpFault('methodNotFound', `The MCP server has no ${method}.`)

async function setLevel({ parts, head, session }: LegacyTalk, link: UpstreamLink, asked: LegacyWork): Promise<RpcAnswer> {
  const { params, signal, noted, method } = asked
  const { level } = params
  if (link.facts.capabilities['logging'] === undefined) throw unsupported(method)
  if (typeof level !== 'string' || !isLogLevel(level)) throw mcpFault('invalidParams', 'params.level is no level of log messages.')
  if (session !== null) session.logLevel = level
  if (link.facts.era === 'modern') return { result: {} }
  return serveCall(head, link, {
    deps: parts.deps,
    request: { method, params: { level }, logLevel: null, paramHeaders: [], signal, notify() {}, ask: null },
    noted,
  })
}

async function watch(
  { parts, head, session, client: { sessionId } }: LegacyTalk,
  { facts }: UpstreamLink,
  { method, params, noted }: LegacyWork,
): Promise<RpcAnswer> {
  const { resources } = facts.capabilities
  if (!isFields(resources) || resources['subscribe'] !== true) throw unsupported(method)
  const thing = demandThing(head, { method, params })
  if (thing !== null && method === 'resources/subscribe')
    await (await guardOf(parts.deps, head, { call: { method, params }, noted }))?.look({ uri: thing.name })
  if (session === null || sessionId === null || thing === null) return { result: {} }
  if (session.isEnded) throw unknownSession()
  demandShort(thing.name)
  const owner = { organisationId: head.caller.key.organisationId, sessionId }
  if (method === 'resources/unsubscribe') parts.sessions.unwatch(owner, session, thing.name)
  else if (!parts.sessions.watch(owner, session, thing.name)) throw mcpFault('refusedParams', tooMany, { reason: 'too_many_subscriptions' })
  await listenAnew(session, noted)
  return { result: {} }
}

async function listenAnew({ stream }: LocalSession, noted: CallNotes): Promise<void> {
  if (stream === null) return
  noteSent(noted)
  await stream.listen()
}

const tooMany = `The session has ${watchBounds.uris} subscriptions, or ${watchBounds.bytes / 1024} KiB of their addresses: the most of one session.`
