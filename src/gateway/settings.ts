import type { DedicatedValidation } from './bounds/validate.ts'
import type { AllowedHosts } from './egress/allowed-hosts.ts'

/** The settings of the data plane. Durations are milliseconds, sizes bytes. */
export interface GatewaySettings {
  /** Extra header prefixes beside `service`. */
  readonly headerAliases: readonly string[]
  readonly requestTimeoutMs: number
  /** The most attempts of one request at all its targets. */
  readonly maxAttempts: number
  readonly streamIdleTimeoutMs: number
  /** The longest wait for the first content of a stream until its head goes on; 0: it waits. */
  readonly streamOpensAfterMs: number
  readonly maxJsonBytes: number
  readonly maxUploadBytes: number
  /** The most copies for mirrors that one process has under way at a time. */
  readonly mirrorConcurrency: number
  /** The most WebSockets that one process has open at a time; one organisation gets half of them. */
  readonly maxSockets: number
  /** A WebSocket without a turn ends after so long. */
  readonly socketIdleMs: number
  /** The longest life of a WebSocket. */
  readonly socketMaxMs: number
  /** The time between two signs of life that a client is asked for. */
  readonly socketPingMs: number
  /** The most bytes of a request to a server of MCP, and of a result of one. */
  readonly mcpRequestBytes: number
  readonly mcpResultBytes: number
  /** The longest silence of a server of MCP in a call, and the longest call. */
  readonly mcpIdleMs: number
  readonly mcpTotalMs: number
  /** The most sessions of legacy MCP in one process, of which one organisation gets half; one with a server ends after so long without use. */
  readonly mcpSessions: number
  readonly mcpSessionIdleMs: number
  /** The most streams of MCP that one caller has open at a time. */
  readonly mcpSubscriptions: number
  /** The origins of pages that may call; `*` is any. */
  readonly corsOrigins: readonly string[]
  /** The address of the installation as its clients see it; null: unknown. */
  readonly publicUrl: string | null
  /** The hosts that requests may name; null: all. */
  readonly allowedHosts: AllowedHosts | null
  /** Returns for each feature of requests whether it acts, by its flag and the level of the installation, which may rise. */
  readonly acts: Readonly<Record<'configs' | 'guardrails' | 'policies', () => boolean>>
  /** Returns whether the installation is at the level of a release, so that its additions act. */
  readonly atLeast: (release: string) => boolean
  /** The release whose fields requests may have. */
  readonly level: () => string
  readonly dedicatedValidation: DedicatedValidation
  /** Keys that the operator chose (INIT_*), which no shape gives away. */
  readonly chosenKeys: ReadonlySet<string>
  /** Null: no embedding provider is set, so that the cache compares no texts. */
  readonly semantic: SemanticSettings | null
}

/** How requests are compared by their meaning. */
export interface SemanticSettings {
  /** The stored provider that makes embeddings: `@slug`, in the workspace of the caller. */
  readonly provider: string
  readonly model: string
  /** Null: as many as the model makes. */
  readonly dimensions: number | null
  /** The least cosine of two texts that mean the same. */
  readonly threshold: number
  readonly maxTemperature: number
  /** The longest wait for an embedding. */
  readonly timeoutMs: number
}
