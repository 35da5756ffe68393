import { success } from '../logs/index.ts'
import { epochMs, pointsOf, type Draw, type GraphSource } from './series.ts'
import { usageSource } from './usage-source.ts'

interface Cell {
  readonly at: number
  readonly value: number
  readonly count: number
}

/** Counts requests by step and by a column of a usage `l`; those with a condition. */
async function countBy({ em, usage, grid, logsFrom }: GraphSource, column: string, condition: string): Promise<readonly Cell[]> {
  const source = await usageSource(em, usage, logsFrom)
  const at = epochMs(grid.beginOf('l.bucket'))
  return em.execute<Cell[]>(
    `SELECT ${at} AS at, l.${column} AS value, sum(l.requests)::float8 AS count
       FROM ${source.sql} WHERE ${condition} GROUP BY 1, 2 ORDER BY 1, 2`,
    [...source.values],
  )
}

const total = (cells: readonly Cell[]): number => cells.reduce((sum, { count }) => sum + count, 0)

/** Sums cells up by their value, in its order. */
function byValue(cells: readonly Cell[]): readonly (readonly [value: number, count: number])[] {
  const groups = Map.groupBy(cells, ({ value }) => value)
  return [...groups].map(([value, those]) => [value, total(those)] as const).toSorted(([one], [other]) => one - other)
}

const failed = `NOT ${success}`

export const drawErrorStacks: Draw = async (drawing) => {
  const cells = await countBy(drawing, 'status', failed)
  const byTime = Map.groupBy(cells, ({ at }) => at)
  return {
    summary: { total: total(cells) },
    data_points: pointsOf(drawing.grid, (at) => ({
      stats: byValue(byTime.get(at) ?? []).map(([status, count]) => ({ response_status_code: status, count })),
    })),
  }
}

export const drawErrorStatuses: Draw = async (drawing) => {
  const statuses = byValue(await countBy(drawing, 'status', failed))
  return {
    summary: { total_errors: statuses.reduce((sum, [, count]) => sum + count, 0), unique_error_codes: statuses.length },
    data_points: statuses.map(([status, count]) => ({ status_code: status, count })),
  }
}

export const drawRescued: Draw = async (drawing) => {
  const retried = await countBy(drawing, 'retry_count', `${success} AND l.retry_count > 0`)
  const fellBack = await countBy(drawing, 'status', `${success} AND l.options_tried > 1`)
  const retriesAt = Map.groupBy(retried, ({ at }) => at)
  const fallbacksAt = Map.groupBy(fellBack, ({ at }) => at)
  return {
    summary: { retry: total(retried), fallback: total(fellBack) },
    data_points: pointsOf(drawing.grid, (at) => ({
      retry: byValue(retriesAt.get(at) ?? []).map(([retries, count]) => ({ retry_success_count: retries, count })),
      fallback: total(fallbacksAt.get(at) ?? []),
    })),
  }
}
