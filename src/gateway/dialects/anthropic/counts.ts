import type { Fields } from '../../../lib/json/fields.ts'
import { countOf, mergeUsage, noUsage, sumOf, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields } from '../reading.ts'

/** Counts as they stand in one place. The input stands beside the counts of cache reads and cache writes. */
interface OwnCounts {
  readonly input: number | null
  readonly usage: TokenUsage
}

function readOwn(usage: Fields): OwnCounts {
  const written = saidFields(usage, 'cache_creation')
  const searches = saidFields(usage, 'server_tool_use')
  const details = saidFields(usage, 'output_tokens_details')
  return {
    input: countOf(usage['input_tokens']),
    usage: {
      ...noUsage,
      cacheRead: countOf(usage['cache_read_input_tokens']),
      cacheWrite: countOf(usage['cache_creation_input_tokens']),
      cacheWriteHour: written === null ? null : countOf(written['ephemeral_1h_input_tokens']),
      output: countOf(usage['output_tokens']),
      reasoning: details === null ? null : countOf(details['thinking_tokens']),
      searches: searches === null ? null : countOf(searches['web_search_requests']),
    },
  }
}

/** Adds up the counts of one answer, of which a later place repeats, corrects or leaves out those of an earlier one. */
export class CountReader {
  #input: number | null = null
  #usage: TokenUsage | null = null
  #own: Fields | null = null

  read(counts: Fields): TokenUsage {
    const { input, usage } = readOwn(counts)
    this.#input = input ?? this.#input
    const merged = (this.#usage = mergeUsage(this.#usage, usage))
    this.#own = this.#own === null ? counts : said(this.#own, counts)
    return { ...merged, own: this.#own, input: this.#input === null ? null : sumOf(this.#input, merged.cacheRead, merged.cacheWrite) }
  }
}

/** Returns fields, overridden by the set ones of a later place. */
function said(before: Fields, later: Fields): Fields {
  const all: Record<string, unknown> = { ...before }
  for (const name in later) if (later[name] !== null) all[name] = later[name]
  return all
}

/** Writes counts, all of them with a value, as the type asks for. */
export function writeCounts(usage: TokenUsage | null): object {
  const { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning, searches } = usage ?? noUsage
  return {
    input_tokens: Math.max(0, (input ?? 0) - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    cache_creation_input_tokens: cacheWrite ?? 0,
    cache_read_input_tokens: cacheRead ?? 0,
    ...(cacheWriteHour !== null && {
      cache_creation: { ephemeral_5m_input_tokens: (cacheWrite ?? 0) - cacheWriteHour, ephemeral_1h_input_tokens: cacheWriteHour },
    }),
    output_tokens: output ?? 0,
    ...(reasoning !== null && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(searches !== null && { server_tool_use: { web_search_requests: searches } }),
  }
}

/** Writes the tier that served a request; Anthropic's clients support these of the tiers of others. */
export const writeTier = (tier: string | null): string => (tier === 'priority' || tier === 'batch' ? tier : 'standard')
