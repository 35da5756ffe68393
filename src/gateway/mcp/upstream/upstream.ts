import { hash } from 'node:crypto'
import { ApiError } from '../../../lib/errors.ts'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import type { Fields } from '../../../lib/json/fields.ts'
import type { Egress } from '../../egress/egress.ts'
import { boundItems, type ListKind, listBounds, lists } from '../protocol/capabilities.ts'
import type { ClientFacts } from '../protocol/envelope.ts'
import { resultOf } from '../protocol/faults.ts'
import { openEvents } from './event-transport.ts'
import { createEras, type CredentialOwner, type Eras, type EraVerdict, findEra } from './eras.ts'
import type { LegacySession } from './legacy-session.ts'
import { modernLink } from './modern-link.ts'
import { createSessionPool, type SessionPool } from './session-pool.ts'
import { NoStreamableHttp, openStreamable, SessionGone } from './streamable.ts'
import type { ServerFacts, UpstreamBounds, UpstreamLink, UpstreamPeer, UpstreamRequest, UpstreamServer } from './upstream-request.ts'

export interface UpstreamOptions {
  readonly egress: Egress
  readonly bounds: UpstreamBounds
  /** The most open sessions with legacy servers, and the time after which an unused one is closed. */
  readonly sessions: { readonly most: number; readonly idleMs: number }
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** The client of all servers of MCP. */
export interface McpUpstream {
  /** Finds the era of a server, and gives the link to it. Rejects with `upstream_*`, `blocked_host` or `credential_failed`. */
  link(peer: UpstreamPeer, signal: AbortSignal): Promise<UpstreamLink>
  /** Asks a server anew about itself, in place of an earlier finding. */
  discover(server: UpstreamServer, signal: AbortSignal): Promise<ServerFacts>
  /** Returns all items of a list, within the bounds of lists; empty for a server without such. */
  listAll(server: UpstreamServer, kind: ListKind, signal: AbortSignal): Promise<readonly Fields[]>
  /** The number of open sessions with legacy servers. */
  open(): number
  /** Ends all sessions. */
  close(): Promise<void>
}

/** The gateway as a client of its own. */
const ownClient: ClientFacts = { capabilities: {}, info: { name: 'gatehouse', version: '1' } }
const ownPeer = (server: UpstreamServer): UpstreamPeer => ({ server, principal: 'gatehouse', client: ownClient })

/** Makes the client of all servers. */
export function createUpstream(options: UpstreamOptions): McpUpstream {
  const state: UpstreamState = {
    ...options,
    eras: createEras(options.now),
    pool: createSessionPool(options.sessions),
  }
  const link = (peer: UpstreamPeer, signal: AbortSignal): Promise<UpstreamLink> => linkTo(state, peer, signal)
  return {
    link,
    async discover(server, signal) {
      state.eras.forget(ownerOf(server))
      return (await link(ownPeer(server), signal)).facts
    },
    listAll: async (server, kind, signal) => listAll(await link(ownPeer(server), signal), kind, signal),
    open: () => state.pool.size(),
    close: () => state.pool.close(),
  }
}

interface UpstreamState extends UpstreamOptions {
  readonly eras: Eras
  readonly pool: SessionPool
}

/** Names a server with its credential. */
const credentialOf = ({ id, url, headers, signIn }: UpstreamServer): string =>
  hash('sha256', JSON.stringify([id, url, headers, ...(signIn === undefined ? [] : [signIn.name])]))

const ownerOf = (server: UpstreamServer): CredentialOwner => ({ organisationId: server.organisationId, credential: credentialOf(server) })

/** Names all owners of a session; capabilities are among them, because a legacy client states them once. */
const sessionKey = ({ server, principal, client }: UpstreamPeer): string =>
  hash('sha256', JSON.stringify([credentialOf(server), principal, canonicalJson(client.capabilities)]))

async function linkTo(state: UpstreamState, peer: UpstreamPeer, signal: AbortSignal): Promise<UpstreamLink> {
  const { server } = peer
  const owner = ownerOf(server)
  const known = server.transport === 'sse' ? legacyVerdict : (state.eras.get(owner) ?? (await askEra(state, peer, signal)))
  if (known.era === 'legacy') {
    const link = await legacyLink(state, peer)
    // A server that only failed for a moment is not taken for a legacy one.
    if (server.transport !== 'sse') state.eras.set(owner, known)
    return link
  }
  state.eras.set(owner, known)
  return modernLink(state, { peer, facts: known.facts, params: known.params, noted: () => state.eras.weigh(owner, known) })
}

function askEra(state: UpstreamState, peer: UpstreamPeer, signal: AbortSignal): Promise<EraVerdict> {
  peer.noteAsked?.()
  return findEra(state, peer, signal)
}

const legacyVerdict = { era: 'legacy' } as const

/** Returns a link on a pooled session. A session that the server has forgotten is opened anew: the call did not run on it. */
async function legacyLink(state: UpstreamState, peer: UpstreamPeer): Promise<UpstreamLink> {
  const key = sessionKey(peer)
  const { organisationId } = peer.server
  const bytes = JSON.stringify([peer.server.url, peer.server.headers, peer.client]).length
  // Others wait for the same session: it is opened also when its first caller leaves.
  const session = () =>
    state.pool.get({ key, organisationId, bytes }, () => {
      peer.noteAsked?.()
      return openSession(state, peer, AbortSignal.timeout(state.bounds.totalMs))
    })
  const { facts } = await session()
  return {
    facts,
    async request(request: UpstreamRequest) {
      const first = await session()
      try {
        return await first.request(request)
      } catch (thrown) {
        if (!(thrown instanceof SessionGone)) throw thrown
        state.pool.drop(key, first)
      }
      const second = await session()
      return second.request(request).catch((thrown: unknown) => {
        throw thrown instanceof SessionGone ? new ApiError('upstream_bad_response', 'The MCP server forgets its sessions at once.') : thrown
      })
    },
    listen: async (listener) => (await session()).listen(listener),
  }
}

async function openSession(state: UpstreamState, peer: UpstreamPeer, signal: AbortSignal): Promise<LegacySession> {
  if (peer.server.transport === 'sse') return openEvents(state, peer, signal)
  try {
    return await openStreamable(state, peer, signal)
  } catch (thrown) {
    if (!(thrown instanceof NoStreamableHttp)) throw thrown
    return openEvents(state, peer, signal).catch(() => {
      throw new ApiError('upstream_bad_response', `The MCP server took no handshake of the protocol (HTTP ${thrown.status}).`)
    })
  }
}

/** Reads a whole list of a server, within the bounds of lists. */
export async function listAll(link: UpstreamLink, kind: ListKind, signal: AbortSignal): Promise<readonly Fields[]> {
  const capability = kind === 'resourceTemplates' ? 'resources' : kind
  if (link.facts.capabilities[capability] === undefined) return []
  const seen = new Set<string>()
  const all: Fields[] = []
  let cursor: unknown = undefined
  for (let page = 0; page < listBounds.pages && seen.size < listBounds.items; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const { method } = lists[kind]
    const result = resultOf(
      await link.request({ method, params, logLevel: null, paramHeaders: [], signal, isHeard: false, notify() {}, ask: null }),
    )
    all.push(...boundItems(kind, result, seen))
    cursor = result['nextCursor']
    if (typeof cursor !== 'string') break
  }
  return all
}
