import type { Fields } from '../../../lib/json/fields.ts'
import { toldCounts } from '../neutral/counts.ts'
import { countOf, noUsage, sumOf, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields } from '../reading.ts'
import { kindsOf } from './billed.ts'

const nothing: Fields = {}

/**
 * Reads token counts. Some servers count reasoning beside the completion, and tokens of a cache beside the prompt: then the parts are more than the
 * whole, or the total shows it.
 */
export function readCounts(usage: Fields): TokenUsage {
  const [prompt, completion] = [
    saidFields(usage, 'prompt_tokens_details') ?? nothing,
    saidFields(usage, 'completion_tokens_details') ?? nothing,
  ]
  const cacheRead = countOf(
    prompt['cached_tokens'] ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens'] ?? usage['cached_prompt_text_tokens'],
  )
  const reasoning = countOf(completion['reasoning_tokens'] ?? usage['reasoning_tokens'])
  return {
    ...noUsage,
    input: readInput(usage, cacheRead),
    cacheRead,
    cacheWrite: countOf(prompt['cache_write_tokens']),
    output: readOutput(usage, reasoning),
    reasoning,
    audioInput: countOf(prompt['audio_tokens']),
    audioOutput: countOf(completion['audio_tokens']),
    searches: countOf(usage['num_search_queries']) ?? countOf(usage['num_sources_used']),
    apart: toldCounts(kindsOf(usage)),
    own: usage,
  }
}

function readInput(usage: Fields, cacheRead: number | null): number | null {
  const input = countOf(usage['prompt_tokens'])
  return input !== null && cacheRead !== null && cacheRead > input ? input + cacheRead : input
}

function readOutput(usage: Fields, reasoning: number | null): number | null {
  const [output, total] = [countOf(usage['completion_tokens']), countOf(usage['total_tokens'])]
  if (output === null || reasoning === null || reasoning === 0) return output
  const isBeside = reasoning > output || total === (countOf(usage['prompt_tokens']) ?? 0) + output + reasoning
  return isBeside ? sumOf(output, reasoning) : output
}

/** Writes token counts; the prompt includes cache reads and cache writes. */
export function writeCounts({ input, cacheRead, cacheWrite, output, reasoning, audioInput, audioOutput }: TokenUsage): object {
  return {
    prompt_tokens: input ?? 0,
    completion_tokens: output ?? 0,
    total_tokens: (input ?? 0) + (output ?? 0),
    prompt_tokens_details: {
      cached_tokens: cacheRead ?? 0,
      ...(cacheWrite !== null && { cache_write_tokens: cacheWrite }),
      audio_tokens: audioInput ?? 0,
    },
    completion_tokens_details: { reasoning_tokens: reasoning ?? 0, audio_tokens: audioOutput ?? 0 },
  }
}
