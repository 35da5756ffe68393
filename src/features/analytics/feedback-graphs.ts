import type { Fragment, Usage } from './usage-source.ts'
import { figureConditions, scopeConditions } from '../logs/index.ts'
import { epochMs, pointsOf, type Draw, type GraphSource, type Figures } from './series.ts'

const weighted = 'avg(f.value * f.weight)::float8'
const iso = (ms: number): string => new Date(ms).toISOString()

/** Returns the conditions on the logs `l` of a feedback; none where every log of its trace is in the caller's reach. */
function logConditionsOf({ scope, filters }: Usage) {
  const conditions = [...scopeConditions(scope), ...figureConditions(filters)]
  return conditions.length > scopeConditions({ ...scope, own: null }).length ? conditions : []
}

const onTrace = 'l.trace_id = f.trace_id AND l.workspace_id = f.workspace_id'

/** Feedback `f` of a range: of workspaces in the caller's reach and, where filters or own data matter, on logs `l` that they leave. */
function feedbackSource(usage: Usage): Fragment {
  const { scope, from, to } = usage
  const workspace = scope.workspaceId === null ? [] : [scope.workspaceId]
  const conditions = logConditionsOf(usage)
  const logged = `EXISTS (SELECT FROM usage_logs l WHERE ${[onTrace, ...conditions.map(({ sql }) => sql)].join(' AND ')})`
  return {
    sql: `feedbacks f WHERE f.organisation_id = ?${workspace.length > 0 ? ' AND f.workspace_id = ?' : ''}
       AND f.created_at >= ?::timestamptz AND f.created_at <= ?::timestamptz${conditions.length > 0 ? ` AND ${logged}` : ''}`,
    values: [scope.organisationId, ...workspace, iso(from), iso(to), ...conditions.flatMap(({ values }) => values)],
  }
}

async function read({ em, usage }: GraphSource, fields: string, groups: string): Promise<readonly Figures[]> {
  const { sql, values } = feedbackSource(usage)
  return em.execute<Figures[]>(`SELECT ${fields} FROM ${sql}${groups}`, [...values])
}

/** A graph of one aggregate over feedback `f`, for each step and for all the time. */
const overTime =
  (name: string, aggregate: string, nothing: unknown): Draw =>
  async (drawing) => {
    const step = drawing.grid.beginOf('f.created_at')
    const rows = await read(drawing, `${epochMs(step)} AS at, ${aggregate} AS value`, ` GROUP BY GROUPING SETS ((${step}), ())`)
    const byTime = new Map(rows.map(({ at, value }) => [at, value]))
    const tell = (at: number | null) => ({ [name]: byTime.get(at) ?? nothing })
    return { summary: tell(null), data_points: pointsOf(drawing.grid, tell) }
  }

export const drawFeedback = overTime('total', 'count(*)::float8', 0)
export const drawWeightedFeedback = overTime('avg', weighted, null)

export const drawFeedbackScores: Draw = async (drawing) => {
  const points = await read(drawing, 'f.value AS score, count(*)::float8 AS total', ' GROUP BY 1 ORDER BY 1')
  return { summary: { total: points.reduce((sum, { total }) => sum + Number(total), 0) }, data_points: points }
}

/** Models, in any case, of the same logs: those that the caller may see and that the filters leave, also where others are in the trace. */
export const drawFeedbackOfModels: Draw = async (drawing) => {
  const { em, usage } = drawing
  const { sql, values } = feedbackSource(usage)
  const conditions = [{ sql: onTrace, values: [] }, { sql: 'l.organisation_id = f.organisation_id', values: [] }, ...logConditionsOf(usage)]
  const points = await em.execute<Figures[]>(
    `SELECT max(m.model COLLATE "C") AS ai_model, count(*)::float8 AS total, avg(m.value * m.weight)::float8 AS avg_weighted_feedback
       FROM (SELECT f.id, f.value, f.weight, max(l.model COLLATE "C") AS model
               FROM (SELECT f.* FROM ${sql}) f JOIN usage_logs l ON ${conditions.map((one) => one.sql).join(' AND ')}
              WHERE l.model IS NOT NULL GROUP BY f.id, f.value, f.weight, lower(l.model)) m
      GROUP BY lower(m.model) ORDER BY 2 DESC, 1`,
    [...values, ...conditions.flatMap((one) => one.values)],
  )
  return { summary: {}, data_points: points }
}
