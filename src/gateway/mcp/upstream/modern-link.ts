import { ApiError } from '../../../lib/errors.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import type { HeaderList } from '../../wire/header-list.ts'
import { boundItems, listBounds } from '../protocol/capabilities.ts'
import { type Envelope, metaKeys, metaOf, withEnvelope } from '../protocol/envelope.ts'
import { type RpcAnswer, type RpcCall, rpcCodes, type RpcMessage, readMessage, requestText } from '../protocol/messages.ts'
import { checkParamHeaders, namedHeaders, writeParamHeaders } from '../protocol/named-headers.ts'
import { boundFacts } from './facts.ts'
import type { KnownParams } from './known-params.ts'
import { type HttpDeps, statusFault } from './post.ts'
import { exchangeWith } from './signed-in.ts'
import {
  anyLevel,
  type ChangeFilter,
  type ChangeListener,
  type ServerFacts,
  type UpstreamLink,
  type UpstreamPeer,
  type UpstreamRequest,
} from './upstream-request.ts'

/** A server may ask again after each answer, but not without end. */
const mostRounds = 16

const mostQuestions = 16

export interface ModernParts {
  readonly peer: UpstreamPeer
  readonly facts: ServerFacts
  readonly params: KnownParams
  /** Called when more, or less, is known of them. */
  noted(): void
}

/** Returns the link to a server of the modern revision: each request stands for itself. */
export function modernLink(deps: HttpDeps, parts: ModernParts): UpstreamLink {
  return {
    facts: parts.facts,
    async request(request) {
      const answer = await askRounds(deps, parts, request)
      noteParams(parts, request, answer)
      return answer
    },
    listen: (listener) => listenTo(deps, parts, listener),
  }
}

/** Asks until the server has a result; its questions go to the client in between. */
async function askRounds(deps: HttpDeps, parts: ModernParts, request: UpstreamRequest): Promise<RpcAnswer> {
  let { params } = request
  for (let round = 0; round < mostRounds; round += 1) {
    const answer = await askKnowing(deps, parts, { ...request, params })
    if (request.ask === null || !('result' in answer) || answer.result['resultType'] !== 'input_required') return answer
    const { inputRequests, requestState } = answer.result
    const inputResponses = await request.ask(questionsOf(inputRequests))
    params = { ...request.params, inputResponses, ...(requestState !== undefined && { requestState }) }
  }
  throw new ApiError('upstream_bad_response', `The MCP server asked more than ${mostRounds} times in one call.`)
}

function questionsOf(inputRequests: unknown): Record<string, RpcCall> {
  const questions: Record<string, RpcCall> = {}
  const asked = Object.entries(isFields(inputRequests) ? inputRequests : {})
  if (asked.length > mostQuestions)
    throw new ApiError('upstream_bad_response', `The MCP server asked more than ${mostQuestions} questions at once.`)
  for (const [key, question] of asked) {
    const method = isFields(question) ? question['method'] : undefined
    if (!isFields(question) || typeof method !== 'string')
      throw new ApiError('upstream_bad_response', 'The MCP server asked in no known form.')
    questions[key] = { method, params: isFields(question['params']) ? question['params'] : {} }
  }
  return questions
}

/** Sends a call; if the server misses headers of a tool that no list has shown yet, the list is read and the call made again. */
async function askKnowing(deps: HttpDeps, parts: ModernParts, request: UpstreamRequest): Promise<RpcAnswer> {
  const answer = await askOnce(deps, parts, request)
  const isMissing = 'error' in answer && answer.error.code === rpcCodes.headerMismatch && request.method === 'tools/call'
  if (!isMissing) return answer
  await readParams(deps, parts, request)
  return askOnce(deps, parts, request)
}

async function readParams(deps: HttpDeps, parts: ModernParts, request: UpstreamRequest): Promise<void> {
  let cursor: unknown = undefined
  for (let page = 0; page < listBounds.pages; page += 1) {
    // It is no part of the call.
    const asked = { ...request, method: 'tools/list', params: cursor === undefined ? {} : { cursor }, mark() {} }
    const answer = await askOnce(deps, parts, asked)
    noteParams(parts, asked, answer)
    cursor = 'result' in answer ? answer.result['nextCursor'] : undefined
    if (typeof cursor !== 'string') return
  }
}

function noteParams(parts: ModernParts, { method, params }: RpcCall, answer: RpcAnswer): void {
  if (method !== 'tools/list' || !('result' in answer)) return
  parts.params.note(boundItems('tools', answer.result, new Set()), params['cursor'] === undefined)
  parts.noted()
}

const envelopeOf = ({ peer, facts }: ModernParts, logLevel: string | null): Envelope => ({
  ...peer.client,
  version: facts.revision,
  logLevel: logLevel === anyLevel ? usualLevel : logLevel,
})

/** Modern servers send no log messages by themselves. */
const usualLevel = 'info'

async function askOnce(deps: HttpDeps, parts: ModernParts, request: UpstreamRequest): Promise<RpcAnswer> {
  const { method, signal } = request
  const call = { method, params: withEnvelope(request.params, envelopeOf(parts, request.logLevel)) }
  return askModern(deps, parts.peer, {
    call,
    headers: [...namedHeaders(call, parts.facts.revision), ...paramsOf(parts.params, request)],
    signal,
    isHeard: request.isHeard ?? true,
    mark: request.mark,
    notify: (told) => request.notify(told),
  })
}

/** They are written from the arguments, which alone are judged: those of the client must agree. Throws for others. */
function paramsOf(known: KnownParams, { method, params, paramHeaders }: UpstreamRequest): HeaderList {
  const { name } = params
  const wanted = method === 'tools/call' && typeof name === 'string' ? known.get(name) : undefined
  if (wanted === undefined) return []
  const written = writeParamHeaders(wanted, params['arguments'])
  checkParamHeaders(paramHeaders, written)
  return written
}

interface ModernAsk {
  readonly call: RpcCall
  readonly headers: HeaderList
  readonly signal: AbortSignal
  readonly isStanding?: boolean
  /** False: `notify` has no effect. */
  readonly isHeard: boolean
  readonly mark?: UpstreamRequest['mark']
  notify(call: RpcCall): void
}

/** Sends one modern request. Rejects with the fault of an answer that holds no answer to it. */
export async function askModern({ egress, bounds }: HttpDeps, { server }: UpstreamPeer, asked: ModernAsk): Promise<RpcAnswer> {
  const { call, headers, signal, isStanding = false } = asked
  const id = uuidv7()
  let found: RpcAnswer | null = null
  const take = (message: RpcMessage | null): void => {
    if (message === null) throw new ApiError('upstream_bad_response', 'The MCP server sent a message that is not JSON-RPC.')
    if (message.kind === 'notification') {
      if (found === null) asked.notify(message)
    } else if (message.kind === 'answer' && (message.id === id || (message.id === null && 'error' in message.answer)))
      found ??= message.answer
    else throw new ApiError('upstream_bad_response', 'The MCP server answered another request than the one that was made.')
  }
  const body = requestText(id, call)
  const end = await exchangeWith(
    { egress, bounds },
    { server, method: 'POST', headers, body, signal, isStanding, mark: asked.mark },
    {
      // A long message that is no answer need not be read where it is dropped.
      wants: (text) => (asked.isHeard && found === null) || text.includes(id) || text.includes('"error"'),
      message: (value) => take(readMessage(value)),
    },
  )
  if (found !== null) return found
  if (end.status < 200 || end.status > 299) throw statusFault(end.status)
  throw new ApiError('upstream_bad_response', 'The MCP server ended its answer before the result.')
}

/** Asks a server about itself, by the modern revision. */
export async function discoverModern(
  deps: HttpDeps,
  peer: UpstreamPeer,
  asked: { revision: string; signal: AbortSignal },
): Promise<RpcAnswer> {
  const { revision, signal } = asked
  const call = { method: 'server/discover', params: withEnvelope({}, { ...peer.client, version: revision, logLevel: null }) }
  return askModern(deps, peer, { call, headers: namedHeaders(call, revision), signal, isHeard: false, notify() {} })
}

/** Returns the facts in the result of `server/discover`. */
export const factsOfDiscovery = (result: Fields, revision: string): ServerFacts => ({
  era: 'modern',
  revision,
  ...boundFacts(result, metaOf(result)[metaKeys.server] ?? result['serverInfo']),
})

/** Returns the filter as a request has it: the wanted changes alone. */
const wireFilter = ({ resourceSubscriptions, ...flags }: ChangeFilter): Fields => ({
  ...Object.fromEntries(Object.entries(flags).filter(([, wanted]) => wanted)),
  ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }),
})

async function listenTo(deps: HttpDeps, parts: ModernParts, listener: ChangeListener): Promise<() => void> {
  const stopping = new AbortController()
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>()
  const call = {
    method: 'subscriptions/listen',
    params: withEnvelope({ notifications: wireFilter(listener.filter) }, envelopeOf(parts, null)),
  }
  const notify = (told: RpcCall): void => {
    if (told.method === 'notifications/subscriptions/acknowledged') resolve()
    else listener.notify(told)
  }
  async function hear(): Promise<void> {
    const headers = namedHeaders(call, parts.facts.revision)
    try {
      const answer = await askModern(deps, parts.peer, { call, headers, signal: stopping.signal, isStanding: true, isHeard: true, notify })
      if ('error' in answer) reject(new ApiError('upstream_bad_response', 'The MCP server does not tell of changes.'))
      else resolve()
    } catch (thrown) {
      reject(thrown)
    }
    if (!stopping.signal.aborted) listener.ended()
  }
  void hear()
  const timer = setTimeout(() => {
    reject(new ApiError('upstream_timeout', 'The MCP server did not confirm a subscription in time.'))
    stopping.abort()
  }, deps.bounds.idleMs)
  await begun.finally(() => clearTimeout(timer))
  return () => stopping.abort()
}
