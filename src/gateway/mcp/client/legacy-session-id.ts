import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { ClientFacts } from '../protocol/envelope.ts'
import { mcpFault, McpFault } from '../protocol/faults.ts'
import { isLegacy, legacyRevisions } from '../protocol/revisions.ts'
import type { McpHead } from './caller.ts'
import type { Sealer } from './sealed.ts'

/** The facts of a legacy client, which it states once, in the handshake. */
export interface LegacyClient extends ClientFacts {
  readonly revision: string
  /** Null: it keeps no session. */
  readonly sessionId: string | null
}

const lifeMs = 24 * 60 * 60 * 1000
/** A session id is a header, and more than this is read by no server. */
const longestFacts = 4096

/** Returns the client that a handshake describes, with a session id that any replica can read. Throws for one that states too much. */
export function beginSession(sealer: Sealer, head: Pick<McpHead, 'principal' | 'server'>, params: Fields): LegacyClient {
  const { protocolVersion, capabilities, clientInfo } = params
  if (typeof protocolVersion !== 'string') throw mcpFault('invalidParams', 'params.protocolVersion must be a text.')
  if (!isFields(capabilities)) throw mcpFault('invalidParams', 'params.capabilities must be an object.')
  if (clientInfo !== undefined && !isFields(clientInfo)) throw mcpFault('invalidParams', 'params.clientInfo must be an object.')
  const revision = isLegacy(protocolVersion) ? protocolVersion : legacyRevisions[0]
  const info = clientInfo === undefined ? null : { name: clientInfo['name'] ?? 'unknown', version: clientInfo['version'] ?? '0' }
  if (JSON.stringify([capabilities, info]).length > longestFacts)
    throw mcpFault('invalidParams', `params.capabilities and params.clientInfo may have ${longestFacts} letters together.`)
  const facts = { principal: head.principal, server: head.server.id, revision, capabilities, info }
  return { revision, capabilities, info, sessionId: sealer.seal('session', facts, lifeMs) }
}

/** Returns the client of a session. Throws for a session of another principal or server as for one that is unknown. */
export function readSession(sealer: Sealer, { principal, server }: Pick<McpHead, 'principal' | 'server'>, sessionId: string): LegacyClient {
  const facts = sealer.open('session', sessionId)
  const revision = facts?.['revision']
  if (facts === null || facts['principal'] !== principal || facts['server'] !== server.id || typeof revision !== 'string')
    throw unknownSession()
  const { capabilities, info } = facts
  return { revision, capabilities: isFields(capabilities) ? capabilities : {}, info: isFields(info) ? info : null, sessionId }
}

/** The refusal by which a client begins anew. */
export const unknownSession = () =>
  new McpFault({ status: 404, error: { code: -32001, message: 'The session is not known here. Begin a new one.' }, code: 'not_found' })
