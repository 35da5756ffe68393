import { z } from 'zod'
import { fromPico } from '../../lib/pico.ts'
import { success } from '../logs/index.ts'

/** A figure of a group of requests. */
interface Measure {
  readonly schema: z.ZodType
  /** The aggregate over a usage `l`; a share: the part of requests that took no longer. */
  readonly from: { readonly sql: string } | { readonly share: number }
  readonly show: (value: unknown) => unknown
}

const same = (value: unknown): unknown => value
const moment = (value: unknown): unknown => new Date(Number(value)).toISOString()
/** Reads a text of whole pico-US-dollars as US cents. */
export const cents = (pico: unknown): number => fromPico(BigInt(String(pico)) * 100n)

const measure = (schema: z.ZodType, sql: string, show = same): Measure => ({ schema, from: { sql }, show })

const figure = z.number().nullable()
const knownOnly = 'The mean of the requests whose tokens are known; null when there are none.'
const average = (tokens: string): Measure =>
  measure(figure.meta({ description: knownOnly }), `(sum(l.${tokens}_tokens) / nullif(sum(l.${tokens}_known), 0))::float8`)
const percentile = (share: number): Measure => ({
  schema: figure.meta({ description: 'Milliseconds, at most 1.8 % off.' }),
  from: { share },
  show: same,
})
const time = (aggregate: 'min' | 'max', seen: string): Measure =>
  measure(z.iso.datetime(), `(extract(epoch FROM ${aggregate}(l.${seen})) * 1000)::float8`, moment)

/** SQL that counts requests; those with a condition when it is given. */
export const requestsWith = (condition?: string): string =>
  `coalesce(sum(l.requests)${condition === undefined ? '' : ` FILTER (WHERE ${condition})`}, 0)::float8`
/** SQL of a share in per cent; null of an empty set. */
export const percent = (counted: string, all: string): string => `(100 * ${counted} / nullif(${all}, 0))`
export const simpleHit = `l.cache_status = 'HIT'`
export const semanticHit = `l.cache_status = 'SEMANTIC HIT'`
export const hit = `l.cache_status IN ('HIT', 'SEMANTIC HIT')`
export const asked = `l.cache_status IN ('HIT', 'SEMANTIC HIT', 'MISS', 'SEMANTIC MISS')`
/** SQL of the mean milliseconds of requests. */
export const meanMs = (condition = 'true'): string =>
  `(sum(l.duration_us) FILTER (WHERE ${condition}) / nullif(sum(l.requests) FILTER (WHERE ${condition}), 0) / 1000)::float8`
export const costText = 'coalesce(sum(l.cost_pico), 0)::text'

/** Every figure that groups show when it is asked for. */
export const measures = {
  cost: measure(
    z.number().meta({ description: 'US cents, adjustments included. Requests without a known price count as 0.' }),
    costText,
    cents,
  ),
  total_tokens: measure(z.number(), 'coalesce(sum(l.total_tokens), 0)::float8'),
  avg_tokens: average('total'),
  avg_input_tokens: average('input'),
  avg_output_tokens: average('output'),
  avg_latency: measure(figure.meta({ description: 'Milliseconds.' }), meanMs()),
  p95_latency: percentile(0.95),
  p99_latency: percentile(0.99),
  success_rate: measure(
    z.number().meta({ description: 'Per cent of the requests: 0 to 100.' }),
    percent(requestsWith(success), requestsWith()),
  ),
  error_count: measure(z.int(), requestsWith(`NOT ${success}`)),
  cache_hit_rate: measure(
    figure.meta({ description: 'Per cent of the requests that asked the cache; null when none did.' }),
    percent(requestsWith(hit), requestsWith(asked)),
  ),
  last_seen: time('max', 'last_seen'),
  first_seen: time('min', 'first_seen'),
} as const satisfies Readonly<Record<string, Measure>>

export type MeasureName = keyof typeof measures

const isMeasure = (name: string): name is MeasureName => Object.hasOwn(measures, name)
export const measureNames: readonly MeasureName[] = Object.keys(measures).filter(isMeasure)

/** The fields of the measures in an answer: each is there when it was asked for. */
export const measureFields: Readonly<Record<string, z.ZodOptional>> = Object.fromEntries(
  measureNames.map((name) => [name, measures[name].schema.optional()]),
)
