import { ApiError } from '../../../lib/errors.ts'
import { createShares } from '../../../lib/shares/shares.ts'
import type { KeyView } from '../../callers/key.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import type { McpServer } from '../registry.ts'
import { demandOwnServer, identifyCaller, type McpHead } from './caller.ts'
import { inTurns } from './rights.ts'

/** A stream that stays open for as long as its client wants. */
export interface StandingStream {
  readonly head: McpHead
  /** The addresses of the resources whose changes it passes on. */
  readonly watched: () => readonly string[]
  /** Takes addresses out of it that its caller may no longer use. */
  readonly withdraw: (uris: readonly string[]) => void
  /** Ends it in order. */
  readonly end: () => void
}

/** The open streams of a process. */
export interface StandingStreams {
  /** Throws when the process is about to end, or the caller has as many as it may. Returns the means to take it away. */
  add(standing: StandingStream): () => void
  open(): number
  /** Ends them all; from now on none begins. */
  stop(): void
}

/** An open stream with the last decisions on its addresses. */
interface CheckedStream extends StandingStream {
  /** Null: none was made. */
  decided: Decided | null
  isDeciding: boolean
}

/** A stored view is replaced when a row that it was made of changes: decisions hold for as long as both views are the same objects. */
interface Views {
  readonly server: McpServer
  readonly key: KeyView
}

interface Decided extends Views {
  readonly allowed: ReadonlySet<string>
}

/** A key that is revoked, or a right that is withdrawn, counts within a second. */
const lookMs = 1000

export function createStanding(deps: PipelineDeps): StandingStreams {
  const all = new Set<CheckedStream>()
  const shares = createShares({ most: Infinity, mostOfOne: deps.settings.mcpSubscriptions })
  let timer: NodeJS.Timeout | null = null
  let isStopped = false

  function look(): void {
    for (const stream of all) void checkRights(deps, stream, () => all.has(stream))
    if (all.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  return {
    add(standing) {
      const { principal } = standing.head
      if (isStopped) throw draining()
      if (!shares.take(principal))
        throw new ApiError(
          'rate_limited',
          `You have ${shares.heldBy(principal)} open streams of MCP, the most for one caller (MCP_SUBSCRIPTIONS).`,
          {
            retryAfter: 5,
          },
        )
      const stream = { ...standing, decided: null, isDeciding: false }
      all.add(stream)
      timer ??= setInterval(look, lookMs).unref()
      return () => {
        if (all.delete(stream)) shares.giveBack(principal)
      }
    },
    open: () => all.size,
    stop() {
      isStopped = true
      for (const stream of all) stream.end()
    },
  }
}

export const draining = () => new ApiError('draining', 'The gateway is shutting down. Try again: another replica will answer.')

/** Ends a stream whose key was revoked meanwhile, or whose server is gone or shut for it, and takes out of it the things that its caller may no longer use. */
async function checkRights(deps: PipelineDeps, stream: CheckedStream, isOpen: () => boolean): Promise<void> {
  const { head, end } = stream
  try {
    const caller = await identifyCaller(deps, head.exchange, head.headers)
    const { key } = caller
    const scope = { organisationId: key.organisationId, workspace: head.path.workspace ?? key.workspaceId }
    const server = await deps.snapshot.mcpServer(scope, head.path.server)
    if (server === null || !server.admits(key)) return end()
    demandOwnServer(caller, server)
    if (!stream.isDeciding) await withdrawRefused(stream, { server, key }, isOpen)
  } catch (thrown) {
    if (thrown instanceof ApiError && (thrown.status === 401 || thrown.status === 403)) end()
  }
}

/** Decides on the addresses that were not decided on by these views. */
async function withdrawRefused(stream: CheckedStream, { server, key }: Views, isOpen: () => boolean): Promise<void> {
  const { decided, watched, withdraw } = stream
  const uris = watched()
  const isSame = decided?.server === server && decided.key === key
  const open = isSame ? uris.filter((uri) => !decided.allowed.has(uri)) : uris
  if (open.length === 0) return
  stream.isDeciding = true
  try {
    const refused = new Set<string>()
    for await (const step of inTurns(key.organisationId, open, isOpen))
      for (const uri of step) if (server.decide('resource', uri, key) !== 'allowed') refused.add(uri)
    if (!isOpen()) return
    stream.decided = { server, key, allowed: new Set(uris.filter((uri) => !refused.has(uri))) }
    if (refused.size > 0) withdraw([...refused])
  } finally {
    stream.isDeciding = false
  }
}
