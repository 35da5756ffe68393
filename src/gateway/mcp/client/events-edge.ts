import { ApiError } from '../../../lib/errors.ts'
import type { McpHead } from './caller.ts'
import { hearLegacy, serveLegacy } from './legacy-edge.ts'
import type { LegacyEar } from './legacy-talk.ts'
import { beginSession, unknownSession } from './legacy-session-id.ts'
import { openSessionStream } from './legacy-stream.ts'
import type { McpParts } from './parts.ts'
import { basePathOf } from './paths.ts'
import { ofSession, readPosted } from './post.ts'
import { Reply } from './reply.ts'

/** Opens the stream of the transport of 2024-11-05, which first names the address for messages. */
export async function openEventStream(parts: McpParts, head: McpHead): Promise<void> {
  const { exchange, path } = head
  // Its client states its capabilities in a message that comes later.
  const facts = { protocolVersion: '2024-11-05', capabilities: anyCapabilities }
  const { sessionId } = beginSession(parts.sealer, head, facts)
  const talk = ofSession(parts, head, sessionId ?? '')
  const reply = new Reply({ exchange, headers: [], takesStream: true, hide: head.hide })
  // No later stream is of this session.
  const owner = { organisationId: head.caller.key.organisationId, sessionId: sessionId ?? '' }
  exchange.onceClosed(() => parts.sessions.end(owner, talk.session))
  reply.sayEvent('endpoint', `${basePathOf(path)}/messages?sessionId=${encodeURIComponent(sessionId ?? '')}`)
  await openSessionStream(talk, reply)
}

/** The questions that a client of that transport may be asked; it refuses the others by itself. */
const anyCapabilities = { sampling: {}, roots: {}, elicitation: {} }

/** Takes a message of a client of that transport. Its answer comes on the stream, which is in one process alone. */
export async function takeEventMessage(parts: McpParts, head: McpHead): Promise<void> {
  const { exchange } = head
  const sessionId = new URL(exchange.url, 'http://gatehouse').searchParams.get('sessionId')
  if (sessionId === null) throw new ApiError('invalid_request', 'The address lacks sessionId.', { param: 'sessionId' })
  const talk = ofSession(parts, head, sessionId)
  const { stream } = talk.session
  if (stream === null) throw unknownSession()
  const { bytes, messages } = await readPosted(parts, head, () => {})
  const left = new AbortController().signal
  new Reply({ exchange, headers: [], takesStream: false, hide: head.hide }).finish(202, null)
  for (const message of messages) if (message.kind !== 'request') hearLegacy(talk, message)
  const requests = messages.filter((message) => message.kind === 'request')
  const ear: LegacyEar = {
    canHear: () => true,
    say: (text) => stream.say(text),
    finish: (_, text) => stream.say(text),
    isLeft: () => talk.session.stream === null,
    isStream: () => true,
    sent: () => ({ bytes: 0, firstByteAt: null }),
  }
  await Promise.all(
    requests.map(async ({ id, method, params }, at) => {
      if (method === 'ping') stream.say(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
      else await serveLegacy(talk, { id, method, params, bytes, isFirst: at === 0, ear, left })
    }),
  )
}
