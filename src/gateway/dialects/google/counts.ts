import type { Fields } from '../../../lib/json/fields.ts'
import { countOf, noUsage, sumOf, type TokenUsage } from '../neutral/token-usage.ts'
import { saidList } from '../reading.ts'

/** Returns the tokens of one kind of content, of a list by kind. */
function audioIn(usage: Fields, field: string): number | null {
  const found = saidList(usage, field).find(({ modality }) => modality === 'AUDIO')
  return found === undefined ? null : countOf(found['tokenCount'])
}

/** Reads token counts. Thoughts are counted beside the candidates, and what tools brought beside the prompt. */
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
  }
}

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
