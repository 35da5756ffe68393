import { notFound } from '../../app/database/find.ts'
import { route } from '../../app/route.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { writeCursor } from './cursor.ts'
import { logFilter, logList, logObject, logParams } from './log.schema.ts'
import { findLogs } from './find-logs.ts'
import { findLog, logScopeOf } from './logs.queries.ts'
import { openLog } from './open-log.ts'
import { logCost } from './cost.schema.ts'
import { presentCost } from './present-cost.ts'
import { presentLog } from './log-fields.ts'
import { presentLogDetail } from './present-log.ts'

export const listLogs = route({
  method: 'GET',
  path: '/logs',
  summary: 'List logs, without bodies and headers',
  permission: 'logs.list',
  query: logFilter,
  response: logList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const rows = await findLogs(em, { ...logScopeOf(actor), workspaceId }, { limit: query.page_size + 1, filter: query })
  const page = rows.slice(0, query.page_size)
  const last = rows.length > page.length ? page.at(-1) : undefined
  return {
    object: 'list' as const,
    data: page.map(presentLog),
    has_more: last !== undefined,
    next_cursor: last === undefined ? null : writeCursor({ createdAt: last.created_at, id: last.id }),
    total: null,
  }
})

export const readLog = route({
  method: 'GET',
  path: '/logs/:logId',
  summary: 'Read a log with its bodies and headers',
  permission: 'logs.view',
  params: logParams,
  response: logObject,
})(async ({ em, actor, params, deps }) => {
  const row = await findLog(em, logScopeOf(actor), params.logId)
  if (row === null) throw notFound('log', params.logId, 'logId')
  return presentLogDetail(await openLog(row, deps))
})

export const readLogCost = route({
  method: 'GET',
  path: '/logs/:logId/cost',
  summary: 'Read what a request cost, line by line',
  permission: 'logs.view',
  params: logParams,
  response: logCost,
})(async ({ em, actor, params }) => {
  const row = await findLog(em, logScopeOf(actor), params.logId)
  if (row === null) throw notFound('log', params.logId, 'logId')
  return presentCost(row)
})
