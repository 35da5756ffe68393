import type { EntityManager } from '@mikro-orm/postgresql'
import { histogramsOf, percentileOf } from './percentiles.ts'
import type { Grid } from './grid.ts'
import { latencySource, usageSource, type Fragment, type Usage } from './usage-source.ts'

/** A row of figures, as the database gives it or as an answer shows it. */
export type Figures = Readonly<Record<string, unknown>>

/** The requests that a graph is drawn from. */
export interface GraphSource {
  readonly em: EntityManager
  readonly usage: Usage
  readonly grid: Grid
  /** Logs are kept from then on, in epoch milliseconds. */
  readonly logsFrom: number
  /** Epoch milliseconds. */
  readonly now: number
}

export interface GraphData {
  readonly summary: Figures
  readonly data_points: readonly Figures[]
}

export type Draw = (drawing: GraphSource) => Promise<GraphData>

/** SQL of a time as epoch milliseconds. */
export const epochMs = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`

/** Returns a point for each step: the figures of its begin, or those of no requests. */
export function pointsOf({ begins }: Grid, tell: (at: number) => Figures): readonly Figures[] {
  return begins.map((at) => Object.assign({ timestamp: new Date(at).toISOString() }, tell(at)))
}

interface Series {
  /** Aggregates over a usage `l`, by name. */
  readonly sql: Readonly<Record<string, string>>
  /** Figures of latencies: the share of requests that each is about. */
  readonly shares?: Readonly<Record<string, number>>
  readonly point: (figures: Figures) => Figures
  readonly total?: (figures: Figures) => Figures
}

/** Returns a graph of figures for each step, and for all its time together. */
export function series({ sql, shares = {}, point, total = point }: Series): Draw {
  return async ({ em, usage, grid, logsFrom }) => {
    const step = grid.beginOf('l.bucket')
    const source = await usageSource(em, usage, logsFrom)
    const figures = Object.entries(sql).map(([name, aggregate]) => `${aggregate} AS ${name}`)
    const rows = await em.execute<Figures[]>(
      `SELECT ${epochMs(step)} AS at, ${figures.join(', ')} FROM ${source.sql}
        GROUP BY GROUPING SETS ((${step}), ())`,
      [...source.values],
    )
    const latencies = await latenciesOf({ em, usage, grid, logsFrom, source }, shares)
    const byTime = new Map(rows.map((row) => [row['at'], row]))
    const nothing = await figuresOfNothing(em, figures)
    const tell = (at: number | null) => ({ ...(byTime.get(at) ?? nothing), ...latencies(at) })
    return { summary: total(tell(null)), data_points: pointsOf(grid, (at) => point(tell(at))) }
  }
}

/** Returns the aggregates of no requests at all: a step without any has no row. */
async function figuresOfNothing(em: EntityManager, figures: readonly string[]): Promise<Figures> {
  const [row] = await em.execute<Figures[]>(`SELECT ${figures.join(', ')} FROM usage_logs l WHERE false`)
  return row ?? {}
}

async function latenciesOf(
  { em, usage, grid, logsFrom, source }: Omit<GraphSource, 'now'> & { readonly source: Fragment },
  shares: Readonly<Record<string, number>>,
) {
  const wanted = Object.entries(shares)
  if (wanted.length === 0) return () => ({})
  const merged = await latencySource(em, usage, { by: null, logsFrom })
  const histograms = await histogramsOf(em, merged ?? source, {
    columns: [grid.beginOf('l.bucket')],
    key: ([begin = '']) => epochMs(begin),
  })
  return (at: number | null) => {
    const histogram = at === null ? histograms.all : histograms.of(String(at))
    return Object.fromEntries(wanted.map(([name, share]) => [name, percentileOf(histogram, share)]))
  }
}
