import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { ProviderScope } from '../callers/key.ts'
import type { Guardrail } from './guardrail.ts'

/** The port to the stored guardrails. */
export interface GuardrailSource {
  /** The guardrail with this slug or id: the workspace's, or its organisation's. */
  guardrail(scope: ProviderScope, reference: string): MaybePromise<Guardrail | null>
}
