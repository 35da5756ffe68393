import type { Fields } from '../../../lib/json/fields.ts'
import { toldCounts } from '../neutral/counts.ts'
import { countOf, noUsage, sumOf, type TokenUsage } from '../neutral/token-usage.ts'
import { saidList, saidText } from '../reading.ts'
import { kindsOf } from './billed.ts'

/** Returns the tokens of one kind of content, of a list by kind. */
function audioIn(usage: Fields, field: string): number | null {
  const found = saidList(usage, field).find(({ modality }) => modality === 'AUDIO')
  return found === undefined ? null : countOf(found['tokenCount'])
}

/** Reads token counts. Thoughts are counted beside the candidates, and results of tools beside the prompt. */
export function readCounts(usage: Fields): TokenUsage {
  const reasoning = countOf(usage['thoughtsTokenCount'])
  return {
    ...noUsage,
    input: sumOf(countOf(usage['promptTokenCount']), countOf(usage['toolUsePromptTokenCount'])),
    cacheRead: countOf(usage['cachedContentTokenCount']),
    output: sumOf(countOf(usage['candidatesTokenCount']), reasoning),
    reasoning,
    audioInput: audioIn(usage, 'promptTokensDetails'),
    audioOutput: audioIn(usage, 'candidatesTokensDetails'),
    apart: toldCounts(kindsOf(usage)),
    own: usage,
  }
}

/** Gemini and Vertex AI name the tier that they served in their own words. */
const tiers: Readonly<Record<string, string>> = {
  standard: 'default',
  flex: 'flex',
  priority: 'priority',
  ON_DEMAND: 'default',
  ON_DEMAND_FLEX: 'flex',
  ON_DEMAND_PRIORITY: 'priority',
}

/** Returns the tier that was served, in OpenAI's words; null: the answer does not state it. */
export const tierOf = (usage: Fields): string | null =>
  tiers[saidText(usage, 'serviceTier') ?? saidText(usage, 'trafficType') ?? ''] ?? null

const audioDetail = (count: number): readonly object[] => [{ modality: 'AUDIO', tokenCount: count }]

/** Writes token counts. */
export function writeCounts({ input, cacheRead, output, reasoning, audioInput, audioOutput }: TokenUsage): object {
  return {
    promptTokenCount: input ?? 0,
    candidatesTokenCount: Math.max(0, (output ?? 0) - (reasoning ?? 0)),
    totalTokenCount: (input ?? 0) + (output ?? 0),
    ...(cacheRead !== null && { cachedContentTokenCount: cacheRead }),
    ...(reasoning !== null && { thoughtsTokenCount: reasoning }),
    ...(audioInput !== null && { promptTokensDetails: audioDetail(audioInput) }),
    ...(audioOutput !== null && { candidatesTokensDetails: audioDetail(audioOutput) }),
  }
}
