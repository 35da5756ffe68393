import { z } from 'zod'
import { fromPico } from '../../lib/pico.ts'
import { success } from '../logs/index.ts'

/** A figure of a group of logs. */
interface Measure {
  readonly schema: z.ZodType
  /** The aggregate over `logs l`, and over `adjusted a` for costs. */
  readonly sql: string
  readonly show: (value: unknown) => unknown
}

const same = (value: unknown): unknown => value
const moment = (value: unknown): unknown => new Date(Number(value)).toISOString()

const measure = (schema: z.ZodType, sql: string, show = same): Measure => ({ schema, sql, show })

const figure = z.number().nullable()
const average = (column: string, description: string): Measure => measure(figure.meta({ description }), `avg(l.${column})::float8`)
const percentile = (share: number): Measure =>
  measure(figure.meta({ description: 'Milliseconds.' }), `percentile_cont(${share}) WITHIN GROUP (ORDER BY l.duration_ms)::float8`)
const time = (aggregate: 'min' | 'max'): Measure =>
  measure(z.iso.datetime(), `(extract(epoch FROM ${aggregate}(l.created_at)) * 1000)::float8`, moment)

const percent = (counted: string, all: string): string => `(100.0 * ${counted} / nullif(${all}, 0))::float8`
const requestsWith = (condition: string): string => `count(*) FILTER (WHERE ${condition})`
const hit = `l.cache_status IN ('HIT', 'SEMANTIC HIT')`
const asked = `l.cache_status IN ('HIT', 'SEMANTIC HIT', 'MISS', 'SEMANTIC MISS')`

/** Every figure that groups show when it is asked for. */
export const measures = {
  cost: measure(
    z.number().meta({ description: 'US cents, adjustments included. Requests without a known price add nothing.' }),
    'sum(coalesce(l.cost_pico, 0) + coalesce(a.delta, 0))::text',
    (pico) => fromPico(BigInt(String(pico)) * 100n),
  ),
  total_tokens: measure(z.number(), 'coalesce(sum(l.total_tokens), 0)::float8'),
  avg_tokens: average('total_tokens', 'Of the requests whose tokens are known; null when there are none.'),
  avg_input_tokens: average('input_tokens', 'Of the requests whose tokens are known; null when there are none.'),
  avg_output_tokens: average('output_tokens', 'Of the requests whose tokens are known; null when there are none.'),
  avg_latency: average('duration_ms', 'Milliseconds.'),
  p95_latency: percentile(0.95),
  p99_latency: percentile(0.99),
  success_rate: measure(
    z.number().meta({ description: 'Per cent of the requests: 0 to 100.' }),
    percent(requestsWith(success), 'count(*)'),
  ),
  error_count: measure(z.int(), `${requestsWith(`NOT ${success}`)}::float8`),
  cache_hit_rate: measure(
    figure.meta({ description: 'Per cent of the requests that asked the cache; null when none did.' }),
    percent(requestsWith(hit), requestsWith(asked)),
  ),
  last_seen: time('max'),
  first_seen: time('min'),
} as const satisfies Readonly<Record<string, Measure>>

export type MeasureName = keyof typeof measures

const isMeasure = (name: string): name is MeasureName => Object.hasOwn(measures, name)
export const measureNames: readonly MeasureName[] = Object.keys(measures).filter(isMeasure)

/** The fields of the measures in an answer: each is there when it was asked for. */
export const measureFields: Readonly<Record<string, z.ZodOptional>> = Object.fromEntries(
  measureNames.map((name) => [name, measures[name].schema.optional()]),
)
