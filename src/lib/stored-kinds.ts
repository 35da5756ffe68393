/** A kind of things that people store, and how many of them an owner may have. */
export interface StoredKind {
  /** The usual bound. */
  readonly most: number
  /** In words, for messages and documents. */
  readonly words: string
  /** Absent: each organisation has so many. */
  readonly per?: 'workspace'
  /** The rows that count, in SQL; absent: all. */
  readonly live?: string
  /** A job deletes the oldest beyond the bound, and none is refused. */
  readonly isEvicted?: true
}

const active = `status = 'active'`
const kept = `status <> 'archived'`

/** The bounds of the rows that organisations store, by table. `STORED_ITEMS_MAX` sets others. */
export const storedKinds = {
  alert_webhooks: { most: 20, words: 'alert webhooks', per: 'workspace', live: active },
  api_keys: { most: 50_000, words: 'API keys', live: kept },
  collections: { most: 10_000, words: 'collections', live: active },
  config_versions: { most: 200_000, words: 'versions of configs' },
  configs: { most: 20_000, words: 'configs', live: active },
  feedbacks: { most: 1_000_000, words: 'feedbacks', isEvicted: true },
  guardrails: { most: 5000, words: 'guardrails', live: active },
  integration_models: { most: 500_000, words: 'models of integrations' },
  integrations: { most: 10_000, words: 'integrations', live: active },
  invites: { most: 10_000, words: 'open invitations', live: `status = 'pending'` },
  labels: { most: 1000, words: 'labels', live: active },
  log_exports: { most: 100, words: 'exports that have not ended', live: `status IN ('draft', 'in_progress')` },
  mcp_integrations: { most: 2000, words: 'MCP integrations', live: active },
  mcp_sign_ins: { most: 50_000, words: 'sign-ins of programs at MCP servers' },
  mcp_servers: { most: 10_000, words: 'MCP servers', live: active },
  plugins: { most: 1000, words: 'plugins', live: active },
  prompt_partial_versions: { most: 200_000, words: 'versions of prompt partials' },
  prompt_partials: { most: 20_000, words: 'prompt partials', live: active },
  prompt_versions: { most: 200_000, words: 'versions of prompts' },
  prompts: { most: 20_000, words: 'prompts', live: active },
  providers: { most: 20_000, words: 'providers', live: kept },
  rate_limit_policies: { most: 5000, words: 'rate limit policies', live: active },
  saved_filters: { most: 5000, words: 'saved filters', live: active },
  scim_groups: { most: 20_000, words: 'SCIM groups' },
  scim_tokens: { most: 100, words: 'SCIM tokens', live: active },
  scim_workspace_groups: { most: 20_000, words: 'groups of workspaces' },
  secret_references: { most: 5000, words: 'secret references', live: active },
  usage_limit_policies: { most: 5000, words: 'usage limit policies', live: active },
  users: { most: 200_000, words: 'users', live: active },
  workspaces: { most: 5000, words: 'workspaces', live: active },
} as const satisfies Readonly<Record<string, StoredKind>>

export type StoredKindName = keyof typeof storedKinds

/** Returns whether a table holds a kind of rows that is bounded. */
export const isStoredKind = (table: string): table is StoredKindName => Object.hasOwn(storedKinds, table)

/** How many things of each kind an owner may have. */
export type StoredBounds = Readonly<Record<StoredKindName, number>>
