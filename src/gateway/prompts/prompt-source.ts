import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { ProviderScope } from '../callers/key.ts'
import type { Prompt } from './prompt.ts'

/** The port to the stored prompts. */
export interface PromptSource {
  /** The version of a prompt that `id`, `id@latest`, `id@12` or `id@label` names; null when there is none. */
  prompt(scope: ProviderScope, reference: string): MaybePromise<Prompt | null>
}
