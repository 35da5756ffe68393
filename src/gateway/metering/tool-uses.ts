import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { Counts } from '../dialects/neutral/counts.ts'

/** The first and the last bytes of an answer. */
export interface Bytes {
  readonly head: Buffer
  readonly tail: Buffer
}

interface Asked {
  readonly operation: string
  /** A row of the catalogue. */
  readonly provider: string
}

/** The calls of tools that the items of a response show; no usage object counts them. */
const toolItems: Readonly<Record<string, 'web_search' | 'file_search'>> = { web_search_call: 'web_search', file_search_call: 'file_search' }

/** Adds the calls of tools that an answer shows outside its usage object. */
export function withTools(counts: Counts, bytes: Bytes, request: Asked): Counts {
  return request.provider === 'google' || request.provider === 'vertex-ai'
    ? withGrounding(counts, bytes)
    : withItems(counts, bytes, request)
}

const queriesKey = '"webSearchQueries"'

/** Google's answers name the searches that they rest on; of a stream the last chunk does. */
function withGrounding(counts: Counts, { tail }: Bytes): Counts {
  const at = tail.lastIndexOf(queriesKey)
  if (at === -1) return counts
  const [, list] = /^\s*:\s*(\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])/.exec(tail.toString('utf8', at + queriesKey.length)) ?? []
  const queries: unknown = list === undefined ? null : jsonOrUndefined(list)
  return Array.isArray(queries) && queries.length > 0 ? { ...counts, web_search: queries.length } : counts
}

/** Models that are billed for a prompt that rests on searches, and not for each search. */
const perPrompt = /gemini-(?:1|2)(?:\.|-)/

/** Returns counts with the searches that are billed: of Gemini up to 2.5 one for each prompt, of later models each. */
export const billedSearches = (counts: Counts, model: string | null): Counts =>
  (counts.web_search ?? 0) > 1 && model !== null && perPrompt.test(model) ? { ...counts, web_search: 1 } : counts

function withItems(counts: Counts, { head }: Bytes, { operation, provider }: Asked): Counts {
  if (operation !== 'createModelResponse' || provider === 'anthropic' || !head.includes('search_call')) return counts
  const found = { ...counts }
  const answer = head.toString('latin1')
  for (const [item, dimension] of Object.entries(toolItems)) {
    const ids = new Set(
      [...answer.matchAll(new RegExp(`"id"\\s*:\\s*"([^"]+)"\\s*,\\s*"type"\\s*:\\s*"${item}"`, 'g'))].map(([, id]) => id),
    )
    if (ids.size > 0) found[dimension] = ids.size
  }
  return found
}
