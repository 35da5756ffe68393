/**
 * The ports between the planes, in one place for the code outside. The data plane reaches the control plane only through them: Snapshot (in), Ledger
 * (both ways), Journal (out). Each port stands in the folder that needs it; no file below imports this one.
 */
import type { KeySource } from './callers/key.ts'
import type { GuardrailSource } from './checks/guardrail-source.ts'
import type { ConfigSource } from './config/config-source.ts'
import type { PolicySource } from './limits/policy.ts'
import type { McpRegistry } from './mcp/registry.ts'
import type { PromptSource } from './prompts/prompt-source.ts'
import type { ProviderSource } from './targets/provider-view.ts'

export type { KeySource, KeyType, KeyView, ProviderScope, RequestDefaults } from './callers/key.ts'
export type { TokenHolder, TokenIssuer, TokenSource, WantedHolder } from './callers/tokens/token-source.ts'
export type { ConfigView } from './config/config-source.ts'
export type { Usage } from './dialects/neutral/usage.ts'
export type {
  ExchangeBodies,
  ExchangeRecord,
  Journal,
  LoggedCharge,
  LoggedCost,
  LoggedCostLine,
  LoggedPrompt,
  Outcome,
} from './journal/log-record.ts'
export type { Ledger, RequestProgress, Reservation } from './limits/ledger.ts'
export type { McpRegistry, McpScope, McpServer } from './mcp/registry.ts'
export type { ListedModel, PriceSource } from './prices/price-source.ts'
export type { ListedProvider, ModelRules, ProviderSource, ProviderView } from './targets/provider-view.ts'

/**
 * Immutable views of the control plane, in memory. A hit is synchronous; a miss is one database read, shared by all concurrent callers. Throws (or
 * rejects with) ApiError `dependency_unavailable` when the database is away and no fresh enough view is held, `sealed` when the encryption key is
 * missing or wrong.
 */
export interface Snapshot extends KeySource, ProviderSource, ConfigSource, PromptSource, GuardrailSource, PolicySource, McpRegistry {}
