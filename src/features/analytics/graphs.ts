import { z } from 'zod'
import { success } from '../logs/index.ts'
import { drawErrorStacks, drawErrorStatuses, drawRescued } from './breakdowns.ts'
import { drawFeedback, drawFeedbackOfModels, drawFeedbackScores, drawWeightedFeedback } from './feedback-graphs.ts'
import { asked, cents, costText, hit, meanMs, percent, requestsWith, semanticHit, simpleHit } from './measures.ts'
import { series, type Draw, type Figures } from './series.ts'
import { drawRequestsOfUsers, drawUsers } from './users.ts'

/** A graph: its contents, its fields, and the way it is drawn. */
export interface Graph {
  readonly summary: string
  /** The fields of all its time, and of each of its points. */
  readonly total: z.ZodRawShape
  readonly point: z.ZodRawShape
  readonly draw: Draw
}

const count = z.number()
const mean = z.number().nullable().meta({ description: 'Null: there are no values for a mean.' })
const timestamp = z.iso.datetime().meta({ description: 'The begin of its minute, hour or day, UTC.' })
const same = (figures: Figures): Figures => figures
const ratio = (all: unknown, of: unknown): number | null => (Number(of) === 0 ? null : Number(all) / Number(of))

const overTime = (summary: string, fields: z.ZodRawShape, draw: Draw): Graph => ({
  summary,
  total: fields,
  point: { timestamp, ...fields },
  draw,
})

const failed = requestsWith(`NOT ${success}`)
const sum = (column: string, condition = 'true'): string => `coalesce(sum(l.${column}) FILTER (WHERE ${condition}), 0)`

const cost = ({ pico, requests }: Figures) => ({ total: cents(pico), avg: ratio(cents(pico), requests) })
const tokens = ({ total, known }: Figures) => ({ total, avg: ratio(total, known) })

const drawHitRate: Draw = async (drawing) => {
  const { summary, data_points: points } = await series({
    sql: {
      simple_hits: requestsWith(simpleHit),
      semantic_hits: requestsWith(semanticHit),
      rate: percent(requestsWith(hit), requestsWith(asked)),
      simple_saved: `${sum('saved_pico', simpleHit)}::text`,
      semantic_saved: `${sum('saved_pico', semanticHit)}::text`,
    },
    point: same,
    total: ({ simple_hits, semantic_hits, rate }) => ({ total: Number(simple_hits) + Number(semantic_hits), rate }),
  })(drawing)
  let [simple, semantic] = [0n, 0n]
  const shown = points.map(({ timestamp: at, simple_hits, semantic_hits, rate, simple_saved, semantic_saved }) => {
    simple += BigInt(String(simple_saved))
    semantic += BigInt(String(semantic_saved))
    return {
      timestamp: at,
      simple_hits,
      semantic_hits,
      rate,
      cumulative_simple_cache_savings: cents(simple),
      cumulative_semantic_cache_savings: cents(semantic),
    }
  })
  return { summary, data_points: shown }
}

/** The graphs, by their paths below `/analytics/graphs`. */
export const graphs: Readonly<Record<string, Graph>> = {
  requests: overTime('Requests over time', { total: count }, series({ sql: { total: requestsWith() }, point: ({ total }) => ({ total }) })),
  cost: overTime(
    'Costs over time, in US cents',
    { total: count, avg: mean },
    series({ sql: { pico: costText, requests: requestsWith() }, point: cost }),
  ),
  latency: overTime(
    'Latencies over time, in milliseconds',
    { avg: mean, p50: mean, p90: mean, p99: mean },
    series({
      sql: { avg: meanMs() },
      shares: { p50: 0.5, p90: 0.9, p99: 0.99 },
      point: ({ avg, p50, p90, p99 }) => ({ avg, p50, p90, p99 }),
    }),
  ),
  tokens: overTime(
    'Tokens over time',
    { total: count, avg: mean },
    series({ sql: { total: `${sum('total_tokens')}::float8`, known: `${sum('total_known')}::float8` }, point: tokens }),
  ),
  users: overTime('Different users over time, by the metadata `_user`', { total: count }, drawUsers),
  'users/requests': {
    summary: 'Requests of one user over time, among those that name one',
    total: { total: count, unique: count, avg: mean },
    point: { timestamp, avg: mean },
    draw: drawRequestsOfUsers,
  },
  errors: overTime('Failed requests over time', { total: count }, series({ sql: { total: failed }, point: ({ total }) => ({ total }) })),
  'errors/rate': overTime(
    'Share of failed requests over time, in per cent',
    { rate: mean },
    series({ sql: { rate: percent(failed, requestsWith()) }, point: ({ rate }) => ({ rate }) }),
  ),
  'errors/stacks': {
    summary: 'Failed requests over time, by status',
    total: { total: count },
    point: { timestamp, stats: z.array(z.object({ response_status_code: z.int(), count })) },
    draw: drawErrorStacks,
  },
  'errors/status-codes': {
    summary: 'Failed requests by status',
    total: { total_errors: count, unique_error_codes: count },
    point: { status_code: z.int(), count },
    draw: drawErrorStatuses,
  },
  'requests/rescued': {
    summary: 'Requests that succeeded after retries, or at another target',
    total: { retry: count, fallback: count },
    point: {
      timestamp,
      retry: z.array(z.object({ retry_success_count: z.int().meta({ description: 'The retries that it took.' }), count })),
      fallback: count,
    },
    draw: drawRescued,
  },
  'cache/hit-rate': {
    summary: 'Cache hits over time, and their savings in US cents',
    total: { total: count, rate: mean },
    point: {
      timestamp,
      simple_hits: count,
      semantic_hits: count,
      rate: mean,
      cumulative_simple_cache_savings: count,
      cumulative_semantic_cache_savings: count,
    },
    draw: drawHitRate,
  },
  'cache/latency': {
    summary: 'Latency of answers from the cache over time, in milliseconds',
    total: { avg: mean },
    point: { timestamp, avg: mean },
    draw: series({ sql: { avg: meanMs(hit) }, point: ({ avg }) => ({ avg }) }),
  },
  feedbacks: overTime('Feedback over time', { total: count }, drawFeedback),
  'feedbacks/scores': {
    summary: 'Feedback by score',
    total: { total: count },
    point: { score: z.int(), total: count },
    draw: drawFeedbackScores,
  },
  'feedbacks/weighted': overTime('Mean of value times weight of feedback over time', { avg: mean }, drawWeightedFeedback),
  'feedbacks/ai-models': {
    summary: 'Feedback by model',
    total: {},
    point: { ai_model: z.string(), total: count, avg_weighted_feedback: mean },
    draw: drawFeedbackOfModels,
  },
}
