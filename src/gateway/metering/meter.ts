import { isFields, type Fields } from '../../lib/json/fields.ts'
import type { RelayResult } from '../answers/relay.ts'
import type { UnusedAnswer } from '../answers/unused-answer.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { type Counts, isDimension, sumCounts } from '../dialects/neutral/counts.ts'
import { disjointCounts, outputTokens, promptTokens } from '../dialects/neutral/disjoint.ts'
import type { DrawnImages } from '../dialects/neutral/drawn.ts'
import { noUsage, plainUsage, type TokenUsage } from '../dialects/neutral/token-usage.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import { readCounts, tellsNone } from '../dialects/read-counts.ts'
import { reportedCost, type ServedFacts, servedFacts } from '../dialects/served-facts.ts'
import { readToldAnswer } from '../dialects/answer-reader.ts'
import { type ToldAnswer, toldNothing } from '../dialects/told-answer.ts'
import { usageFigures } from '../dialects/usage-figures.ts'
import type { WatchedForm } from '../wire/form-watch.ts'
import type { HeaderList } from '../wire/header-list.ts'
import { type Run, runsOf } from './runs.ts'
import { billedSearches, withTools } from './tool-uses.ts'
import { soundCounts } from './unseen.ts'
import { unitsOf } from './units.ts'

/** The request behind an answer, as far as metering looks at it. */
export interface MeteredRequest {
  readonly operation: string
  readonly method: string
  /** A row of the catalogue. */
  readonly provider: string
  /** The parsed body; undefined: it is no JSON. */
  readonly json: unknown
  /** The form that was sent; null: it is none, or no reader reads it. */
  readonly upload: WatchedForm | null
  /** As they were sent; absent: there are none of its own. */
  readonly headers?: HeaderList | undefined
}

/** The usage in an answer. */
export interface MeteredUsage extends ServedFacts {
  /** Null: the provider did not state it. */
  readonly usage: Usage | null
  readonly counts: Counts
  /** The provider's own usage object. */
  readonly raw: Fields | null
  /** The cost that the provider named, in pico-US-dollars. */
  readonly reported: bigint | null
  /** True: the counts are not the provider's. */
  readonly estimated: boolean
  /** True if nobody saw the end of its answer, so that its output is a guess; absent: it is none. */
  readonly isGuess?: true
  /** True: the provider's figures contradict each other. */
  readonly inconsistent: boolean
  readonly promptTokens: number
  readonly hasTokens: boolean
  /** True if the provider stated that no tokens were used. */
  readonly toldNone: boolean
  readonly size: string | null
  readonly quality: string | null
  /** The images that another model drew for it; null: there are none. */
  readonly drawn: DrawnImages | null
}

/** Reads the usage of an answer of any status: some failures are charged. Never throws: metering may fail, the exchange may not. */
export const meter = ({ capture, counted, told }: MeteredAnswer, request: MeteredRequest): MeteredUsage =>
  meterTold({ told: told(), counted, tail: () => capture.tail() }, request)

/** Reads the usage of an answer that came in a file with others. */
export const meterJson = (json: Buffer, dialect: DialectId | null, request: MeteredRequest): MeteredUsage =>
  meterTold({ told: readToldAnswer(dialect, json), counted: null, tail: () => json }, request)

/** Reads the usage of an answer that the caller did not get. */
export const meterUnused = ({ written, usage }: UnusedAnswer, request: MeteredRequest): MeteredUsage =>
  meterTold(
    {
      told: written === null ? toldNothing : readToldAnswer(written.dialect, written.bytes),
      counted: usage,
      tail: () => written?.bytes ?? nothing,
    },
    request,
  )

const nothing = Buffer.alloc(0)

interface MeteredFacts extends Pick<MeteredAnswer, 'counted'> {
  readonly told: ToldAnswer
  /** The last bytes. */
  readonly tail: () => Buffer
}

function meterTold(answer: MeteredFacts, request: MeteredRequest): MeteredUsage {
  const { told, counted } = answer
  const json = isFields(request.json) ? request.json : noFields
  const raw = counted?.own ?? told.usage
  const used = counted === null ? countsOf(request, { ...answer, raw, json }) : translatedCounts(counted)
  const { size, quality } = madeFacts(used.counts, told, json)
  const served = servedFacts(told, raw, { json, headers: request.headers })
  const shown = raw && withTotals(usageFigures(raw), used.counts)
  // Each by its name, because an object that is spread from others grows step by step.
  return {
    model: served.model ?? request.upload?.model ?? null,
    mode: served.mode,
    geo: served.geo,
    estimated: used.estimated,
    inconsistent: used.inconsistent,
    hasTokens: used.hasTokens,
    toldNone: used.toldNone,
    counts: billedSearches(soundCounts(used.counts, raw, json), served.model ?? modelOf(json)),
    usage: counted === null ? shown : plainUsage(counted),
    raw,
    reported: raw && reportedCost(raw, request.provider),
    promptTokens: promptTokens(used.counts),
    size,
    quality,
    drawn: drawnBy(answer),
  }
}

const drawnBy = ({ told, counted }: MeteredFacts): DrawnImages | null => (counted === null ? told.drawn : (counted.drawn ?? null))

/** Returns the size and the quality of the result. Images that are sold by the piece are those of the answer, which chooses them where a request has `auto`. */
function madeFacts({ image = 0 }: Counts, told: ToldAnswer, json: Fields): Pick<MeteredUsage, 'size' | 'quality'> {
  const made = image > 0 ? told : null
  return { size: made?.size ?? text(json['size']), quality: made?.quality ?? text(json['quality']) }
}

/** The part of an answer that is metered. */
export type MeteredAnswer = Pick<RelayResult, 'capture' | 'told' | 'counted'>

function translatedCounts(counted: TokenUsage): ReturnType<typeof countsOf> {
  const { counts, inconsistent } = disjointCounts(counted)
  const runs = runsOf(counted.own)
  const hasTokens = promptTokens(counts) + outputTokens(counts) > 0
  const toldNone = !hasAny(counts) && tellsNone(counted.own)
  return { counts: runs === null ? counts : sumOfRuns(runs), inconsistent, estimated: false, hasTokens, toldNone }
}

/** Returns true if an answer states its usage or its cost. */
export const tellsUse = ({ raw, counts, reported }: MeteredUsage): boolean => (raw !== null && hasAny(counts)) || (reported ?? 0n) > 0n

/** Returns the usage of an answer with counts that an estimate filled. */
export function withCounts(told: MeteredUsage, counts: Counts): MeteredUsage {
  const input = promptTokens(counts)
  const output = outputTokens(counts)
  const usage = { ...(told.usage ?? noFigures), inputTokens: input, outputTokens: output, totalTokens: input + output }
  return { ...told, usage, counts, promptTokens: input, hasTokens: true, toldNone: false, estimated: true }
}

const noFigures = plainUsage(noUsage)

interface Answer extends Pick<MeteredFacts, 'told' | 'tail'> {
  readonly raw: Fields | null
  /** The body of the request. */
  readonly json: Fields
}

/** Counts by the provider's own usage object, or else by the pieces of the answer. */
function countsOf(
  request: MeteredRequest,
  answer: Answer,
): Pick<MeteredUsage, 'counts' | 'estimated' | 'inconsistent' | 'hasTokens' | 'toldNone'> {
  const read = answer.raw === null || answer.raw['estimated'] === true ? null : readCounts(answer.raw, request)
  if (read === null || !hasAny(read.counts)) {
    const { operation, upload } = request
    const { counts, estimated } = unitsOf({ operation, upload, json: answer.json, told: answer.told, tail: answer.tail })
    return { counts, estimated, inconsistent: false, hasTokens: false, toldNone: !hasAny(counts) && tellsNone(answer.raw) }
  }
  const runs = runsOf(answer.raw)
  const counts =
    runs === null ? withTools(annotated(read.counts, answer.json, request), answer.told, { ...request, raw: answer.raw }) : sumOfRuns(runs)
  const hasTokens = promptTokens(counts) + outputTokens(counts) > 0
  return { counts, estimated: false, inconsistent: read.inconsistent, hasTokens, toldNone: false }
}

/** Pages that Mistral annotates cost more, which only the request shows. */
function annotated(counts: Counts, json: Fields, { provider }: MeteredRequest): Counts {
  if (counts.page === undefined || provider !== 'mistral-ai') return counts
  const asked = json['document_annotation_format'] ?? json['bbox_annotation_format'] ?? null
  const { page, ...others } = counts
  return asked === null ? counts : { ...others, annotated_page: page }
}

const noCounts: Counts = {}
const sumOfRuns = (runs: readonly Run[]): Counts => sumCounts(runs.map(({ counts }) => counts)) ?? noCounts

const modelOf = (json: Fields): string | null => text(json['model'])
const noFields: Fields = {}
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function hasAny(counts: Counts): boolean {
  for (const name in counts) if (isDimension(name) && (counts[name] ?? 0) > 0) return true
  return false
}

/**
 * Returns the figures that the log shows: all input, with cache reads and writes, and all output, even if the provider's own totals leave parts of
 * them out. So they do not depend on the format of the request.
 */
function withTotals(usage: Usage, counts: Counts): Usage {
  const input = Math.max(usage.inputTokens ?? 0, promptTokens(counts))
  const output = Math.max(usage.outputTokens ?? 0, outputTokens(counts))
  if (input === (usage.inputTokens ?? 0) && output === (usage.outputTokens ?? 0)) return usage
  return { ...usage, inputTokens: input, outputTokens: output, totalTokens: Math.max(usage.totalTokens ?? 0, input + output) }
}
