import { isFields } from '../../../lib/json/fields.ts'
import { parseJson } from '../../../lib/json/json.ts'
import { rememberExact } from '../../../lib/json/exact-json.ts'
import { hasTooManyValues, mostValues } from '../../../lib/json/many-values.ts'
import { longTurns } from '../../../lib/shares/long-turns.ts'
import { clientGone, collect } from '../../wire/collect.ts'
import { isJsonType } from '../../wire/body.ts'
import { ApiError } from '../../../lib/errors.ts'
import { hasEnvelope, readEnvelope, unsupported } from '../protocol/envelope.ts'
import { mcpFault } from '../protocol/faults.ts'
import { isId, readMessage, type RpcId, type RpcMessage } from '../protocol/messages.ts'
import { checkNamedHeaders } from '../protocol/named-headers.ts'
import { isLegacy, isModern, namesModern, unnamedRevision } from '../protocol/revisions.ts'
import type { McpHead } from './caller.ts'
import { hearLegacy, serveLegacy } from './legacy-edge.ts'
import type { LegacyEar, LegacyTalk } from './legacy-talk.ts'
import { type LegacyClient, readSession, unknownSession } from './legacy-session-id.ts'
import { serveModern } from './modern-edge.ts'
import type { McpParts } from './parts.ts'
import { Reply } from './reply.ts'

/** A legacy client of 2025-03-26 may send so many messages at once. */
const mostInBatch = 50

/** The messages of a request, and the facts for their refusal. */
export interface PostedMessages {
  readonly bytes: Buffer
  readonly messages: readonly RpcMessage[]
  readonly isBatch: boolean
}

/** Reads the messages of a request. `noteId`: called with the id of the one request in it, so that a refusal can name it. */
export async function readPosted(parts: McpParts, head: McpHead, noteId: (id: RpcId) => void): Promise<PostedMessages> {
  const { exchange, headers, caller } = head
  if (!isJsonType(headers.contentType)) throw new ApiError('unsupported_media_type', 'The content-type must be application/json.')
  const bytes = await collect(exchange.body, { limit: parts.deps.settings.mcpRequestBytes, owner: caller.key.organisationId })
  await longTurns.before(caller.key.organisationId, bytes.length, { isWanted: () => !exchange.closed })
  if (exchange.closed) throw clientGone()
  const value = parsed(bytes)
  if (isFields(value) && isId(value['id']) && typeof value['method'] === 'string') noteId(value['id'])
  const isBatch = Array.isArray(value)
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (all.length === 0 || all.length > mostInBatch) throw mcpFault('invalidRequest', `A batch has 1 to ${mostInBatch} messages.`)
  const messages = all.map((one) => {
    const message = readMessage(one)
    if (message === null)
      throw mcpFault('invalidRequest', 'The body is no message of JSON-RPC 2.0 with an id, a method and params in an object.')
    return message
  })
  return { bytes, messages, isBatch }
}

function parsed(bytes: Buffer): unknown {
  // The letters that count are of ASCII.
  if (hasTooManyValues(bytes.toString('latin1'))) throw mcpFault('invalidRequest', `A request has ${mostValues} values at most.`)
  try {
    return parseJson(bytes, 128, rememberExact)
  } catch (thrown) {
    throw mcpFault('parse', thrown instanceof ApiError ? thrown.message : 'The body is not JSON.')
  }
}

const accepts = (head: McpHead, type: string): boolean => {
  const wanted = head.exchange.header('accept')?.toLowerCase()
  return wanted === undefined || wanted.includes(type) || wanted.includes('*/*')
}

/** Serves the messages of a request: of a modern client one, of a legacy client one or a batch. */
export async function servePosted(parts: McpParts, head: McpHead, posted: PostedMessages): Promise<void> {
  const [first] = posted.messages
  if (first !== undefined && !posted.isBatch && isOfModern(head, first))
    return postModern(parts, head, { message: first, bytes: posted.bytes })
  const talk = talkOf(parts, head, posted)
  if (posted.isBatch && talk.client.revision > unnamedRevision)
    throw mcpFault('invalidRequest', `There are no batches in the revision ${talk.client.revision}.`)
  await postLegacy(talk, posted)
}

const versionOf = ({ exchange }: McpHead): string | null => exchange.header('mcp-protocol-version')?.trim() ?? null

/** The body decides: a request with the envelope is modern. The header is checked against it later. */
function isOfModern(head: McpHead, message: RpcMessage): boolean {
  if (message.kind === 'answer') return false
  const version = versionOf(head)
  const isHandshake = message.method === 'initialize' && !hasEnvelope(message.params)
  if (isHandshake && version !== null && isModern(version)) throw mcpFault('headerMismatch', 'initialize is of no modern revision.')
  return !isHandshake && (hasEnvelope(message.params) || (version !== null && namesModern(version)))
}

async function postModern(parts: McpParts, head: McpHead, { message, bytes }: { message: RpcMessage; bytes: Buffer }): Promise<void> {
  if (message.kind !== 'request') return accept(head)
  const version = versionOf(head)
  if (!hasEnvelope(message.params) && version !== null && !isModern(version)) throw unsupported(version)
  const envelope = readEnvelope(message.params)
  checkNamedHeaders(head.exchange.headers, message, envelope.version)
  if (!isModern(envelope.version)) throw unsupported(envelope.version)
  const { id, method, params } = message
  await serveModern(parts, head, { id, method, params, bytes, envelope, takesStream: accepts(head, 'text/event-stream') })
}

/** Takes messages that no answer belongs to. */
function accept(head: McpHead): void {
  new Reply({ exchange: head.exchange, headers: [], takesStream: false, hide: (text) => text }).finish(202, null)
}

function talkOf(parts: McpParts, head: McpHead, { messages }: PostedMessages): LegacyTalk {
  const [first] = messages
  const begins = first?.kind === 'request' && first.method === 'initialize'
  return begins ? { parts, head, client: { ...stateless, revision: unnamedRevision }, session: null } : readTalk(parts, head)
}

/** Returns the client of a request that belongs to a session, or to none. Throws for an unknown session. */
export function readTalk(parts: McpParts, head: McpHead): LegacyTalk {
  const { exchange } = head
  const version = versionOf(head)
  if (version !== null && !isLegacy(version)) throw unsupported(version)
  const sessionId = exchange.header('mcp-session-id')
  if (sessionId === undefined) return { parts, head, client: { ...stateless, revision: version ?? unnamedRevision }, session: null }
  return ofSession(parts, head, sessionId)
}

/** Returns the client of a session. */
export function ofSession(
  parts: McpParts,
  head: McpHead,
  sessionId: string,
): LegacyTalk & { readonly session: NonNullable<LegacyTalk['session']> } {
  const client = readSession(parts.sealer, head, sessionId)
  const session = parts.sessions.of(head.caller.key.organisationId, sessionId)
  if (session.isEnded) throw unknownSession()
  return { parts, head, client, session }
}

const stateless: Omit<LegacyClient, 'revision'> = { capabilities: {}, info: null, sessionId: null }

/** Serves the messages of a legacy client, whose answers come in the answer to its request. */
async function postLegacy(talk: LegacyTalk, { messages, bytes, isBatch }: PostedMessages): Promise<void> {
  const { head } = talk
  const { exchange } = head
  for (const message of messages) if (message.kind !== 'request') hearLegacy(talk, message)
  const requests = messages.filter((message) => message.kind === 'request')
  if (requests.length === 0) return accept(head)
  const takesStream = accepts(head, 'text/event-stream')
  const reply = new Reply({ exchange, headers: [], takesStream, hide: head.hide })
  if (requests.every(({ method }) => method === 'ping'))
    return ping(
      reply,
      requests.map(({ id }) => id),
      isBatch,
    )
  const leaving = new AbortController()
  exchange.onceClosed(() => leaving.abort())
  const gathered: BatchAnswers = { texts: [], left: requests.length, isBatch }
  await Promise.all(
    requests.map(({ id, method, params }, at) =>
      serveLegacy(talk, {
        id,
        method,
        params,
        bytes,
        isFirst: at === 0,
        ear: earOf({ reply, takesStream, gathered }),
        left: leaving.signal,
      }),
    ),
  )
}

function ping(reply: Reply, ids: readonly RpcId[], isBatch: boolean): void {
  const answers = ids.map((id) => ({ jsonrpc: '2.0', id, result: {} }))
  reply.finish(200, JSON.stringify(isBatch ? answers : answers[0]))
}

/** The answers of a batch, until all are there. */
interface BatchAnswers {
  readonly texts: string[]
  left: number
  readonly isBatch: boolean
}

interface EarParts {
  readonly reply: Reply
  readonly takesStream: boolean
  readonly gathered: BatchAnswers
}

const earOf = ({ reply, takesStream, gathered }: EarParts): LegacyEar => ({
  canHear: () => takesStream,
  say: (text) => reply.say(text),
  isLeft: () => reply.exchange.closed,
  isStream: () => reply.isStream,
  sent: () => reply,
  finish(status, text, headers) {
    gathered.left -= 1
    if (!gathered.isBatch) return reply.finish(status, text, headers)
    if (reply.isStream && gathered.left > 0) return reply.say(text)
    gathered.texts.push(text)
    if (gathered.left === 0) reply.finish(200, reply.isStream ? text : `[${gathered.texts.join(',')}]`, headers)
  },
})
