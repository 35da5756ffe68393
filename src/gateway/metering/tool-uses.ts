import type { Counts } from '../dialects/neutral/counts.ts'
import { soldTools } from '../dialects/openai-responses/sold-tools.ts'
import type { ToldAnswer } from '../dialects/told-answer.ts'

interface ToolUseQuery {
  readonly operation: string
  /** A row of the catalogue. */
  readonly provider: string
}

/** Adds the calls of tools that an answer shows outside its usage object. */
export function withTools(counts: Counts, told: ToldAnswer, { operation, provider }: ToolUseQuery): Counts {
  if (provider === 'google' || provider === 'vertex-ai') return withGrounding(counts, told)
  return operation !== 'createModelResponse' || provider === 'anthropic' || told.items.length === 0
    ? counts
    : { ...counts, ...soldTools(told.items) }
}

/** Google's answers name the searches and the places that they rest on. */
function withGrounding(counts: Counts, { searches, restsOnMaps }: ToldAnswer): Counts {
  const mapped = restsOnMaps ? { ...counts, maps: 1 } : counts
  return searches === 0 ? mapped : { ...mapped, web_search: searches }
}

/** Models that are billed for a prompt that rests on searches, and not for each search. */
const perPrompt = /gemini-(?:1|2)(?:\.|-)/

/** Returns counts with the searches that are billed: of Gemini up to 2.5 one for each prompt, of later models each. */
export const billedSearches = (counts: Counts, model: string | null): Counts =>
  (counts.web_search ?? 0) > 1 && model !== null && perPrompt.test(model) ? { ...counts, web_search: 1 } : counts
