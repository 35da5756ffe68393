import { ApiError } from '../../lib/errors.ts'
import type { Guardrail } from './guardrail.ts'
import type { HookResults } from './hook-results.ts'

/** The refusal of a guardrail, with the results of all of them. */
export function denial({ name, message }: Guardrail, hooks: HookResults): ApiError {
  const said = message ?? `The guardrail ${JSON.stringify(name)} does not let this through. The results of its checks are in hook_results.`
  return new ApiError('hooks_failed', said, { beside: { hook_results: hooks } })
}
