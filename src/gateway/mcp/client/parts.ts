import type { PipelineDeps } from '../../pipeline.ts'
import type { McpUpstream } from '../upstream/upstream.ts'
import type { HeldCalls } from './held-calls.ts'
import type { LocalSessions } from './local-sessions.ts'
import type { Sealer } from './sealed.ts'
import type { StandingStreams } from './standing.ts'

/** The parts of a process that all requests of MCP share. */
export interface McpParts {
  readonly deps: PipelineDeps
  readonly upstream: McpUpstream
  readonly sealer: Sealer
  readonly sessions: LocalSessions
  readonly standing: StandingStreams
  readonly held: HeldCalls
  /** Names this process, which alone has the calls that it holds. */
  readonly replica: string
}
