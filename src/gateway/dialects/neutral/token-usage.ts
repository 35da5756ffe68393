import type { Fields } from '../../../lib/json/fields.ts'
import { type Counts, sumCounts } from './counts.ts'
import type { Usage } from './usage.ts'
import type { DrawnImages } from './drawn.ts'

/** Tokens of one answer, summed in one way for all providers. Null: the provider did not state them. */
export interface TokenUsage {
  /** All input: with cache reads and cache writes. */
  readonly input: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  /** The part of `cacheWrite` that is cached for an hour. */
  readonly cacheWriteHour: number | null
  /** All that was written: with reasoning. */
  readonly output: number | null
  readonly reasoning: number | null
  readonly audioInput: number | null
  readonly audioOutput: number | null
  /** Searches in the web that the vendor ran. */
  readonly searches: number | null
  /** Counts that have rates of their own and no field here: kinds of tokens within `input`, `cacheRead` and `output`, and calls beside them. */
  readonly apart: Counts | null
  /** The provider's own usage object, which also holds facts without a field here: its own cost, and the runs of several models. Null: it has none. */
  readonly own: Fields | null
  /** The images that another model drew for it. Absent or null: there are none. */
  readonly drawn?: DrawnImages | null
  /** The usage of each of several answers that were joined, which are charged one by one; null: one did not state it. Absent: it is one answer. */
  readonly parts?: readonly (TokenUsage | null)[]
}

export const noUsage: TokenUsage = {
  input: null,
  cacheRead: null,
  cacheWrite: null,
  cacheWriteHour: null,
  output: null,
  reasoning: null,
  audioInput: null,
  audioOutput: null,
  searches: null,
  apart: null,
  own: null,
}

const said = <Value>(later: Value | null, before: Value | null): Value | null => later ?? before

/** Returns two counts of one answer together: the later one wins where it is set. Counts are totals, never differences. */
export const mergeUsage = (before: TokenUsage | null, later: TokenUsage): TokenUsage =>
  before === null
    ? later
    : {
        input: said(later.input, before.input),
        cacheRead: said(later.cacheRead, before.cacheRead),
        cacheWrite: said(later.cacheWrite, before.cacheWrite),
        cacheWriteHour: said(later.cacheWriteHour, before.cacheWriteHour),
        output: said(later.output, before.output),
        reasoning: said(later.reasoning, before.reasoning),
        audioInput: said(later.audioInput, before.audioInput),
        audioOutput: said(later.audioOutput, before.audioOutput),
        searches: said(later.searches, before.searches),
        apart: before.apart !== null && later.apart !== null ? { ...before.apart, ...later.apart } : said(later.apart, before.apart),
        own: said(later.own, before.own),
        drawn: said(later.drawn ?? null, before.drawn ?? null),
      }

type Figures = Omit<TokenUsage, 'apart' | 'own' | 'drawn' | 'parts'>

/** Returns the usage of several joined answers together; null when none stated any. */
export function sumUsages(parts: readonly (TokenUsage | null)[]): TokenUsage | null {
  if (parts.length === 1) return parts[0] ?? null
  const told = parts.filter((one) => one !== null)
  if (told.length === 0) return null
  const of = (name: keyof Figures): number | null => sumOf(...told.map((one) => one[name]))
  return {
    input: of('input'),
    cacheRead: of('cacheRead'),
    cacheWrite: of('cacheWrite'),
    cacheWriteHour: of('cacheWriteHour'),
    output: of('output'),
    reasoning: of('reasoning'),
    audioInput: of('audioInput'),
    audioOutput: of('audioOutput'),
    searches: of('searches'),
    apart: sumCounts(told.map(({ apart }) => apart)),
    own: null,
    parts,
  }
}

/** Returns a count of tokens; null for all that is none. */
export const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null

/** Returns the sum of those that are known; null when none is. */
export const sumOf = (...counts: readonly (number | null)[]): number | null =>
  counts.every((count) => count === null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)

/** Returns the figures that the log shows. */
export const plainUsage = ({ input, output, cacheRead, cacheWrite, reasoning }: TokenUsage): Usage => ({
  inputTokens: input,
  outputTokens: output,
  totalTokens: sumOf(input, output),
  cacheReadTokens: cacheRead,
  cacheWriteTokens: cacheWrite,
  reasoningTokens: reasoning,
})

/** Returns the figures of several answers together; null when none has any. */
export function sumFigures(parts: readonly (Usage | null)[]): Usage | null {
  const told = parts.filter((one) => one !== null)
  const of = (name: keyof Usage): number | null => sumOf(...told.map((one) => one[name]))
  return told.length === 0
    ? null
    : {
        inputTokens: of('inputTokens'),
        outputTokens: of('outputTokens'),
        totalTokens: of('totalTokens'),
        cacheReadTokens: of('cacheReadTokens'),
        cacheWriteTokens: of('cacheWriteTokens'),
        reasoningTokens: of('reasoningTokens'),
      }
}
