import { hash } from 'node:crypto'
import { ApiError } from '../../../lib/errors.ts'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { longTurns } from '../../../lib/shares/long-turns.ts'
import { withoutEnvelope } from '../protocol/envelope.ts'
import { type McpFault, mcpFault } from '../protocol/faults.ts'
import { callText, type RpcAnswer, type RpcCall, rpcCodes } from '../protocol/messages.ts'
import { paramHeadersOf } from '../protocol/named-headers.ts'
import { modernRevisions } from '../protocol/revisions.ts'
import type { QuestionResults, UpstreamLink, UpstreamRequest } from '../upstream/upstream-request.ts'
import type { ModernRequest, ModernWork } from './modern-work.ts'
import { askingToConnect, withoutConnected } from './ask-to-connect.ts'
import { demandCapability } from './ask-legacy.ts'
import type { McpHead } from './caller.ts'
import { listenAsModern } from './modern-listen.ts'
import { noteSent } from './call-notes.ts'
import type { HeldCall } from './held-calls.ts'
import { meantCall } from './search.ts'
import type { McpParts } from './parts.ts'
import { Reply } from './reply.ts'
import { runCall } from './run-call.ts'
import { demandMethod, openLink, serveCall, toldCapabilities, toModern } from './serve.ts'

/** A modern server keeps no state of its own for longer in the hands of a client. */
const stateLifeMs = 60 * 60 * 1000

/** Serves one request of a modern client, which stands for itself. */
export async function serveModern(parts: McpParts, head: McpHead, asked: ModernRequest): Promise<void> {
  const { exchange } = head
  const { id, method, bytes, envelope, takesStream } = asked
  const reply = new Reply({ exchange, headers: [], takesStream, hide: head.hide })
  const leaving = new AbortController()
  exchange.onceClosed(() => leaving.abort())
  const asking = { method, params: withoutEnvelope(asked.params) }
  const call = meantCall(head, withoutConnected(asking))
  await runCall(parts, head, {
    id,
    call,
    bytes,
    revision: envelope.version,
    isFirst: true,
    isPaid: isOfHeld(parts, head, call),
    work: (noted) =>
      askingToConnect(asking, envelope.capabilities, () => work({ parts, head, asked, call, reply, signal: leaving.signal, noted })),
    statusOf,
    isLeft: () => exchange.closed,
    isStream: () => reply.isStream,
    sent: () => reply,
    give: (status, text, headers) => reply.finish(status, text, headers),
  })
}

/** Errors of a server are within the protocol, but for those that HTTP must show. */
function statusOf({ status, error: { code } }: McpFault): number {
  if (code === rpcCodes.methodNotFound) return 404
  if (shown.has(code)) return 400
  return status >= 502 && status <= 504 ? 200 : status
}

const shown: ReadonlySet<number> = new Set([rpcCodes.headerMismatch, rpcCodes.missingCapability, rpcCodes.unsupportedVersion])

async function work(making: ModernWork): Promise<RpcAnswer> {
  const { parts, head, asked, signal, noted, call } = making
  const { method } = call
  if (method !== 'server/discover' && method !== 'subscriptions/listen') demandMethod(method)
  const link = await openLink(parts, head, { ...asked.envelope, signal, noted })
  noted.serverRevision = link.facts.revision
  await longTurns.before(head.caller.key.organisationId, asked.bytes.length, { isWanted: () => !signal.aborted })
  if (method === 'server/discover') return toModern(call, { result: discovery(link) }, link.facts)
  if (method === 'subscriptions/listen') return listenAsModern(making, link)
  const answer = link.facts.era === 'legacy' ? await atLegacy(making, link) : await atModern(making, link)
  return toModern(call, answer, link.facts)
}

const discovery = ({ facts }: UpstreamLink): Fields => ({
  supportedVersions: modernRevisions,
  capabilities: toldCapabilities(facts),
  serverInfo: facts.serverInfo,
  ...(facts.instructions !== null && { instructions: facts.instructions }),
})

function upstreamRequest({ asked, reply, signal, head, call }: ModernWork, params: Fields): UpstreamRequest {
  return {
    method: call.method,
    params,
    logLevel: asked.envelope.logLevel,
    paramHeaders: paramHeadersOf(head.exchange.headers),
    signal,
    isHeard: asked.takesStream,
    notify: (told) => reply.say(callText(told)),
    ask: null,
  }
}

/** Its own state goes to the client sealed: the server sees one credential for all, so that it could not find out whose state comes back. */
async function atModern(making: ModernWork, link: UpstreamLink): Promise<RpcAnswer> {
  const { head, noted, parts, call } = making
  const { requestState } = call.params
  const facts = ownerOf(head, call)
  const opened = typeof requestState === 'string' ? parts.sealer.open('state', requestState) : null
  if (requestState !== undefined && !isOf(opened, facts)) throw unknownState()
  const params = opened === null ? call.params : { ...call.params, requestState: opened['state'] }
  const answer = await serveCall(head, link, { deps: parts.deps, request: upstreamRequest(making, params), noted })
  if ('error' in answer || typeof answer.result['requestState'] !== 'string') return answer
  const sealed = parts.sealer.seal('state', { ...facts, state: answer.result['requestState'] }, stateLifeMs)
  return { result: { ...answer.result, requestState: sealed } }
}

/** The principal that may come back with a state, and the call that it belongs to. */
const ownerOf = ({ principal, server }: McpHead, { method, params }: RpcCall): Fields => {
  const { inputResponses: _, requestState: _state, _meta, ...rest } = params
  return { principal, server: server.id, digest: hash('sha256', canonicalJson([method, rest])) }
}

const isOf = (opened: Fields | null, facts: Fields): boolean =>
  opened !== null && Object.entries(facts).every(([key, value]) => opened[key] === value)

const unknownState = () =>
  mcpFault('refusedParams', 'params.requestState is none that was given here for this call, or its time is over.', {
    param: 'requestState',
  })

/** A legacy server asks in the middle of a call, which is held until the next request of the client brings the answer. */
async function atLegacy(making: ModernWork, link: UpstreamLink): Promise<RpcAnswer> {
  const { head, noted, parts, signal, reply, call } = making
  const { requestState } = call.params
  const held = requestState === undefined ? begin(making, link) : resume(making, requestState)
  noted.serverRevision = link.facts.revision
  held.hear((told) => reply.say(callText(told)))
  const onLeft = (): void => held.abort()
  signal.addEventListener('abort', onLeft, { once: true })
  try {
    const step = await held.next()
    noted.hooks = held.notes.hooks
    noted.isDenied = held.notes.isDenied
    if ('answer' in step) return step.answer
    if (signal.aborted) throw new ApiError('client_closed', 'The call was cancelled.')
    parts.held.park(held, head.principal)
    const state = parts.sealer.seal('held', { ...ownerOf(head, call), call: held.id, replica: parts.replica }, stateLifeMs)
    return { result: { resultType: 'input_required', inputRequests: step.questions, requestState: state } }
  } finally {
    signal.removeEventListener('abort', onLeft)
  }
}

function begin(making: ModernWork, link: UpstreamLink): HeldCall {
  const { asked, head, noted, parts, call } = making
  return parts.held.begin(({ signal, notify, ask }) => {
    const { promise: refused, reject } = Promise.withResolvers<never>()
    const askAble: UpstreamRequest['ask'] = async (questions) => {
      try {
        for (const question of Object.values(questions)) demandCapability(question, asked.envelope.capabilities)
      } catch (thrown) {
        reject(thrown)
        throw thrown
      }
      return ask(questions)
    }
    const request = { ...upstreamRequest(making, call.params), signal, notify, ask: askAble }
    return Promise.race([serveCall(head, link, { deps: parts.deps, request, noted }), refused])
  }, noted)
}

/** A server of before goes on with a call after its question, whether the answer comes or not: the price falls due with the first question. */
const isOfHeld = ({ sealer }: McpParts, head: McpHead, call: RpcCall): boolean => {
  const { requestState } = call.params
  const opened = typeof requestState === 'string' ? sealer.open('held', requestState) : null
  return opened !== null && isOf(opened, ownerOf(head, call))
}

function resume({ parts, head, call, noted }: ModernWork, requestState: unknown): HeldCall {
  const opened = typeof requestState === 'string' ? parts.sealer.open('held', requestState) : null
  if (opened === null || !isOf(opened, ownerOf(head, call))) throw unknownState()
  const held = opened['replica'] === parts.replica && typeof opened['call'] === 'string' ? parts.held.take(opened['call']) : null
  if (held === null)
    throw mcpFault('refusedParams', 'The call that asked waits no longer, or waits in another replica. Make it again.', {
      reason: 'call_again',
    })
  held.answer(resultsOf(call.params['inputResponses']))
  noteSent(noted)
  return held
}

function resultsOf(inputResponses: unknown): QuestionResults {
  const results: Record<string, Fields> = {}
  for (const [key, value] of Object.entries(isFields(inputResponses) ? inputResponses : {})) if (isFields(value)) results[key] = value
  return results
}
