import { ApiError } from '../../../lib/errors.ts'
import { createShares } from '../../../lib/shares/shares.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import { identifyCaller, type McpHead } from './caller.ts'

/** A stream that stays open for as long as its client wants. */
export interface StandingStream {
  readonly head: McpHead
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

/** A key that is revoked stops within a second. */
const lookMs = 1000

export function createStanding(deps: PipelineDeps): StandingStreams {
  const all = new Set<StandingStream>()
  const shares = createShares({ most: Infinity, mostOfOne: deps.settings.mcpSubscriptions })
  let timer: NodeJS.Timeout | null = null
  let isStopped = false

  function look(): void {
    for (const standing of all) void endIfRefused(deps, standing)
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
      all.add(standing)
      timer ??= setInterval(look, lookMs).unref()
      return () => {
        if (all.delete(standing)) shares.giveBack(principal)
      }
    },
    open: () => all.size,
    stop() {
      isStopped = true
      for (const standing of all) standing.end()
    },
  }
}

export const draining = () => new ApiError('draining', 'The gateway is shutting down. Try again: another replica will answer.')

/** Ends a stream whose key was revoked meanwhile, or whose server is gone or shut for it. */
async function endIfRefused(deps: PipelineDeps, { head, end }: StandingStream): Promise<void> {
  try {
    const { key } = await identifyCaller(deps, head.exchange, head.headers)
    const scope = { organisationId: key.organisationId, workspace: head.path.workspace ?? key.workspaceId }
    const server = await deps.snapshot.mcpServer(scope, head.path.server)
    if (server === null || !server.admits(key)) end()
  } catch (thrown) {
    if (thrown instanceof ApiError && (thrown.status === 401 || thrown.status === 403)) end()
  }
}
