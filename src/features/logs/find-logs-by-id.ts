import type { EntityManager } from '@mikro-orm/postgresql'
import { timeOfUuid } from '../../lib/uuid.ts'
import type { LogRow } from './log-fields.ts'
import { type FilterValues, valueConditions } from './log-filters.ts'
import { withNames } from './log-names.ts'
import { withPathFormats } from './path-formats.ts'
import { type BareRow, columns, from, type LogScope, scopeConditions, source, toleranceMs, until, withAdjustments } from './logs.queries.ts'

/** Returns those of some logs that a scope and a filter leave, in the order of time. Their ids hold the time, by which they are found. */
export async function findLogsById(
  em: EntityManager,
  scope: LogScope,
  { ids, filter }: { readonly ids: readonly string[]; readonly filter: FilterValues },
): Promise<LogRow[]> {
  const times = ids.map(timeOfUuid).filter((at) => at !== null)
  if (times.length === 0) return []
  const conditions = [
    ...scopeConditions(scope),
    ...valueConditions(filter),
    from(Math.min(...times) - toleranceMs),
    until(Math.max(...times) + toleranceMs),
    { sql: `l.id IN (${ids.map(() => '?').join(', ')})`, values: ids },
  ]
  const rows = await em.execute<BareRow[]>(
    `SELECT ${columns} FROM ${source} WHERE ${conditions.map(({ sql }) => sql).join(' AND ')} ORDER BY l.created_at, l.id`,
    conditions.flatMap(({ values }) => values),
  )
  return [...(await withPathFormats(em, scope, await withNames(em, scope, await withAdjustments(em, scope, rows))))]
}
