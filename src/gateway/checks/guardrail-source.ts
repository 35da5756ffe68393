import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { ProviderScope } from '../callers/key.ts'
import type { StoredCredentials } from './check.ts'
import type { Guardrail } from './guardrail.ts'

/** The port to the stored guardrails. */
export interface GuardrailSource {
  /** The guardrail with this slug or id: the workspace's, or its organisation's. */
  guardrail(scope: ProviderScope, reference: string): MaybePromise<Guardrail | null>
  /** The credentials that are stored for a partner's checks: the workspace's, else its organisation's. */
  pluginCredentials(scope: ProviderScope, plugin: string): MaybePromise<StoredCredentials | null>
}
