import type { EntityManager } from '@mikro-orm/postgresql'
import { logConditions, logSource, type LogScope } from '../logs/index.ts'
import { groupColumns, type GroupQuery } from './groups.schema.ts'
import { measures, type MeasureName } from './measures.ts'

export type GroupRow = Readonly<Record<MeasureName, unknown>> & { readonly key: string | null; readonly requests: number }

interface Grouping {
  readonly by: keyof typeof groupColumns
  readonly query: GroupQuery
  readonly now: number
}

const defaultRangeMs = 30 * 24 * 60 * 60 * 1000

/** Joins the sum that recomputed costs add to each log. */
const adjusted = `
  LEFT JOIN (SELECT log_id, sum(delta_pico) AS delta FROM cost_adjustments WHERE organisation_id = ? GROUP BY log_id) a ON a.log_id = l.id`

/** Counts the logs of a scope by what they have in common; a page of the groups, and how many there are. */
export async function findGroups(em: EntityManager, scope: LogScope, { by, query, now }: Grouping) {
  const conditions = logConditions(scope, { ...query, ...rangeOf(query, now), after: undefined, order: 'desc' })
  const grouped = `
    FROM ${logSource}${query.columns.includes('cost') ? adjusted : ''}
   WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}
   GROUP BY l.${groupColumns[by]}`
  const values = [...(query.columns.includes('cost') ? [scope.organisationId] : []), ...conditions.flatMap((condition) => condition.values)]
  const figures = query.columns.map((name) => `, ${measures[name].sql} AS ${name}`).join('')
  const rows = await em.execute<GroupRow[]>(
    `SELECT l.${groupColumns[by]}::text AS key, count(*)::float8 AS requests${figures}${grouped}
      ORDER BY requests DESC, key LIMIT ${query.page_size} OFFSET ${query.page_size * query.current_page}`,
    values,
  )
  const [all] = await em.execute<{ total: number }[]>(`SELECT count(*)::float8 AS total FROM (SELECT 1${grouped}) g`, values)
  return { rows, total: all?.total ?? 0 }
}

/** The bounds of time, so that PostgreSQL leaves out whole days. */
function rangeOf({ time_of_generation_min: min, time_of_generation_max: max }: GroupQuery, now: number) {
  const end = max ?? new Date(now).toISOString()
  return {
    time_of_generation_min: min ?? new Date(Date.parse(end) - defaultRangeMs).toISOString(),
    time_of_generation_max: end,
  }
}
