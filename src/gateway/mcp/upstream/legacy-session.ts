import { ApiError } from '../../../lib/errors.ts'
import { exactJson, parseExact } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { isWanted, metaOf, withMeta } from '../protocol/envelope.ts'
import {
  answerText,
  callText,
  isId,
  type RpcAnswer,
  type RpcCall,
  rpcCodes,
  type RpcId,
  type RpcMessage,
  requestText,
} from '../protocol/messages.ts'
import { legacyRevisions } from '../protocol/revisions.ts'
import { toFault } from '../protocol/faults.ts'
import { boundFacts } from './facts.ts'
import { tooLong } from './post.ts'
import { anyLevel, type ChangeListener, type ServerFacts, type UpstreamPeer, type UpstreamRequest } from './upstream-request.ts'

/** The way on which the messages of one session go. */
export interface LegacyTransport {
  /** Sends the text of a message. Resolves when its answer has been read, as far as it comes on the same exchange. `call`: the request in it. */
  send(text: string, call: PendingCall | null): Promise<void>
  close(): void
  /** The longest time for one request, however many exchanges it takes. */
  readonly totalMs: number
}

/** A request that waits for its answer. */
export interface PendingCall {
  readonly id: RpcId
  readonly request: UpstreamRequest
  /** Its own token for progress; null: it wants none. */
  readonly progressToken: unknown
  /** Aborted when it has its end. */
  readonly over: AbortSignal
  finish: (answer: RpcAnswer) => void
  fail(error: unknown): void
}

/** One session with a legacy server. */
export interface LegacySession {
  readonly facts: ServerFacts
  request(request: UpstreamRequest): Promise<RpcAnswer>
  listen(listener: ChangeListener): Promise<() => void>
  /** Takes a message of the server's; `call`: the one on whose stream it came. */
  take(message: RpcMessage, call: PendingCall | null): void
  /** The running calls, and the listeners. */
  users(): number
  isOver(): boolean
  /** Ends its running calls. */
  end(error: ApiError): void
}

/** The requests of the server that the gateway answers itself, and those for the client. */
const asksClient: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list'])

const serverName = { name: 'gatehouse', version: '1' }

/** Returns the first request of a session. */
export const initializeCall = ({ client }: UpstreamPeer): RpcCall => ({
  method: 'initialize',
  params: { protocolVersion: legacyRevisions[0], capabilities: client.capabilities, clientInfo: client.info ?? serverName },
})

/** Returns the facts in the result of `initialize`. Throws for a revision that is not spoken. */
export function factsOfInitialize(result: Fields): ServerFacts {
  const { protocolVersion, serverInfo } = result
  if (typeof protocolVersion !== 'string' || !legacyRevisions.includes(protocolVersion))
    throw new ApiError('upstream_bad_response', 'The MCP server speaks no revision of the protocol that is spoken here.')
  return {
    era: 'legacy',
    revision: protocolVersion,
    ...boundFacts(result, serverInfo),
  }
}

/** Follows one session on its transport. */
export const createLegacySession = (facts: ServerFacts, transport: LegacyTransport): LegacySession => new Session(facts, transport)

/** A class, because it keeps the running calls. */
class Session implements LegacySession {
  readonly facts: ServerFacts
  readonly #transport: LegacyTransport
  readonly #pending = new Map<RpcId, PendingCall>()
  readonly #listeners = new Set<ChangeListener>()
  /** The listeners of each resource. */
  readonly #watched = new Map<string, number>()
  #count = 0
  /** The requests of the server that have no answer yet, and those among them that wait for a client. */
  #asking = 0
  readonly #questions = { count: 0, bytes: 0 }
  #level: string | null = null
  #over: ApiError | null = null

  constructor(facts: ServerFacts, transport: LegacyTransport) {
    this.facts = facts
    this.#transport = transport
  }

  async request(request: UpstreamRequest): Promise<RpcAnswer> {
    await this.#wantLevel(request.logLevel)
    const answer = await this.#ask(request)
    const set = request.method === 'logging/setLevel' ? request.params['level'] : null
    if (typeof set === 'string' && 'result' in answer) this.#level = set
    return answer
  }

  async #ask(request: UpstreamRequest): Promise<RpcAnswer> {
    if (this.#over !== null) throw this.#over
    const id = (this.#count += 1)
    const token = metaOf(request.params)['progressToken']
    const params = token === undefined ? request.params : withMeta(request.params, { progressToken: id })
    const { promise, resolve, reject } = Promise.withResolvers<RpcAnswer>()
    const ending = new AbortController()
    const call: PendingCall = { id, request, progressToken: token ?? null, over: ending.signal, finish: resolve, fail: reject }
    this.#pending.set(id, call)
    const cancel = (reason: string, error: ApiError): void => {
      this.#tell({ method: 'notifications/cancelled', params: { requestId: id, reason } })
      reject(error)
    }
    const onAbort = (): void => cancel('The client left.', new ApiError('client_closed', 'The call was cancelled.'))
    request.signal.addEventListener('abort', onAbort, { once: true })
    const { totalMs } = this.#transport
    const timer = setTimeout(() => cancel('It took too long.', tooLong(totalMs)), totalMs)
    try {
      this.#transport.send(requestText(id, { method: request.method, params }), call).catch(reject)
      return await promise
    } finally {
      clearTimeout(timer)
      this.#pending.delete(id)
      ending.abort()
      request.signal.removeEventListener('abort', onAbort)
    }
  }

  #tell(call: RpcCall): void {
    this.#transport.send(callText(call), null).catch(() => {})
  }

  /** Makes a request of the gateway's own. */
  #plain(method: string, params: Fields): Promise<RpcAnswer> {
    const signal = AbortSignal.timeout(quickMs)
    return this.#ask({ method, params, logLevel: null, paramHeaders: [], signal, notify() {}, ask: null })
  }

  /** Servers send log messages of one level to a whole session: it is the most talkative that a call wants. */
  async #wantLevel(wanted: string | null): Promise<void> {
    const level = this.#level
    if (wanted === null || wanted === anyLevel || this.facts.capabilities['logging'] === undefined) return
    if (level !== null && isWanted(wanted, level)) return
    this.#level = wanted
    await this.#plain('logging/setLevel', { level: wanted })
  }

  async listen(listener: ChangeListener): Promise<() => void> {
    if (this.#over !== null) throw this.#over
    this.#listeners.add(listener)
    const begun: string[] = []
    try {
      for (const uri of listener.filter.resourceSubscriptions) {
        const users = this.#watched.get(uri) ?? 0
        this.#watched.set(uri, users + 1)
        begun.push(uri)
        if (users === 0) await this.#plain('resources/subscribe', { uri })
      }
    } catch (thrown) {
      this.#leave(listener, begun)
      throw thrown
    }
    return () => this.#leave(listener, begun)
  }

  #leave(listener: ChangeListener, uris: readonly string[]): void {
    if (!this.#listeners.delete(listener)) return
    for (const uri of uris) {
      const users = (this.#watched.get(uri) ?? 1) - 1
      if (users > 0) this.#watched.set(uri, users)
      else this.#watched.delete(uri)
      if (users === 0 && this.#over === null) this.#plain('resources/unsubscribe', { uri }).catch(() => {})
    }
  }

  take(message: RpcMessage, from: PendingCall | null): void {
    // It ends the stream on which the message came.
    if (this.#over !== null) throw this.#over
    if (message.kind === 'notification') this.#notified(message, from)
    else if (message.kind === 'request') this.#asked(message, from).catch(() => {})
    else if (message.id !== null) this.#pending.get(message.id)?.finish(message.answer)
    else from?.finish(message.answer)
  }

  #notified(call: RpcCall, from: PendingCall | null): void {
    const { method, params } = call
    if (method === 'notifications/progress') this.#progressed(params)
    else if (method === 'notifications/message') this.#logged(call, from ?? this.#lastCall())
    else if (changes.has(method)) this.#tellListeners(call)
    else if (method !== 'notifications/cancelled') from?.request.notify(call)
  }

  #progressed(params: Fields): void {
    const token = params['progressToken']
    const owner = isId(token) ? this.#pending.get(token) : undefined
    if (owner === undefined || owner.progressToken === null) return
    owner.request.notify({ method: 'notifications/progress', params: { ...params, progressToken: owner.progressToken } })
  }

  #logged(call: RpcCall, owner: PendingCall | null): void {
    const wanted = owner?.request.logLevel ?? null
    if (owner === null || wanted === null) this.#tellListeners(call)
    else if (wanted === anyLevel || isWanted(call.params['level'], wanted)) owner.request.notify(call)
  }

  #tellListeners(call: RpcCall): void {
    for (const listener of this.#listeners) listener.notify(call)
  }

  /** A message that names no call is of the one that runs, or of the last of several. */
  #lastCall(): PendingCall | null {
    return [...this.#pending.values()].at(-1) ?? null
  }

  /** A server that asks on while its requests are refused would have one more answer sent for each. */
  async #asked(message: RpcCall & { readonly id: RpcId }, from: PendingCall | null): Promise<void> {
    if (this.#asking >= askBounds.most) return this.end(tooMany())
    this.#asking += 1
    try {
      const answer = await this.#answerTo(message, from ?? this.#lastCall())
      if (this.#over === null) await this.#transport.send(answerText(message.id, answer), null)
    } finally {
      this.#asking -= 1
    }
  }

  /** Answers a request of the server's: by the client of the call, where it asks for one. */
  async #answerTo({ method, params }: RpcCall, call: PendingCall | null): Promise<RpcAnswer> {
    if (method === 'ping') return { result: {} }
    if (!asksClient.has(method)) return refusal('Clients have no such method.', rpcCodes.methodNotFound)
    const ask = call?.request.ask ?? null
    if (call === null || ask === null || call.over.aborted) return refusal('No client is there to be asked.')
    const text = exactJson(params)
    if (this.#questions.count >= askBounds.questions || this.#questions.bytes + text.length > askBounds.bytes)
      return refusal('Too many questions wait for their answers, or they are too long.')
    this.#questions.count += 1
    this.#questions.bytes += text.length
    try {
      // It waits for long: the text that it was read from, which may be much longer, does not wait with it.
      const question = { method, params: fieldsOf(parseExact(text)) }
      return { result: (await Promise.race([ask({ question }), endOf(call)]))['question'] ?? {} }
    } catch (thrown) {
      return { error: toFault(thrown).error }
    } finally {
      this.#questions.count -= 1
      this.#questions.bytes -= text.length
    }
  }

  users(): number {
    return this.#pending.size + this.#listeners.size
  }

  isOver(): boolean {
    return this.#over !== null
  }

  end(error: ApiError): void {
    if (this.#over !== null) return
    this.#over = error
    this.#transport.close()
    for (const call of this.#pending.values()) call.fail(error)
    for (const listener of this.#listeners) listener.ended()
  }
}

/** The bounds of the requests of a server in one session that are open at a time: of all, and of the questions to its client. */
const askBounds = { most: 64, questions: 16, bytes: 1024 * 1024 } as const

const tooMany = () =>
  new ApiError('upstream_bad_response', `The MCP server had more than ${askBounds.most} requests of its own open in one session.`)

/** A request of the gateway's own takes no longer. */
const quickMs = 30_000

const changes: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
])

/** A server may answer a call although it has asked in it: its question ends then. Rejects at the end of a call. */
const endOf = ({ over }: PendingCall): Promise<never> =>
  new Promise((_, reject) => {
    over.addEventListener('abort', () => reject(new ApiError('client_closed', 'The call has ended.')), { once: true })
  })

const refusal = (message: string, code: number = rpcCodes.invalidRequest): RpcAnswer => ({ error: { code, message } })

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
