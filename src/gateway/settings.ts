/** What the data plane reads of the configuration. Durations are milliseconds, sizes bytes. */
export interface GatewaySettings {
  /** Extra header prefixes beside `service`. */
  readonly headerAliases: readonly string[]
  readonly requestTimeoutMs: number
  readonly streamIdleTimeoutMs: number
  readonly maxJsonBytes: number
  readonly maxUploadBytes: number
  /** Off: no request passes through a guardrail. */
  readonly guardrailsEnabled: boolean
  /** Keys that the operator chose (INIT_*), which no shape gives away. */
  readonly chosenKeys: ReadonlySet<string>
}
