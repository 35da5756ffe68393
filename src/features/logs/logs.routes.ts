import { notFound } from '../../app/database/find.ts'
import { route } from '../../app/route.ts'
import { demandScope, workspaceFilter } from '../workspaces/index.ts'
import { writeCursor } from './cursor.ts'
import { logList, logObject, logParams, logQuery } from './log.schema.ts'
import { findLogs } from './find-logs.ts'
import { findLog, logScopeOf } from './logs.queries.ts'
import { openLog } from './open-log.ts'
import { logCost } from './cost.schema.ts'
import { presentCost } from './present-cost.ts'
import { type LogRow, presentLog } from './log-fields.ts'
import { type Found, searchBodies } from './search-bodies.ts'
import { presentLogDetail } from './present-log.ts'

export const listLogs = route({
  method: 'GET',
  path: '/logs',
  summary: 'List logs, without bodies and headers',
  permission: 'logs.list',
  query: logQuery,
  response: logList,
})(async ({ em, actor, query: { q, ...query } }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const scope = { ...logScopeOf(actor), workspaceId }
  if (q !== undefined) {
    // What a body says is told to those alone who may read it.
    demandScope(actor, 'logs.view')
    return presentFound(await searchBodies(em, scope, { text: q, filter: query }))
  }
  const rows = await findLogs(em, scope, { limit: query.page_size + 1, filter: query })
  const page = rows.slice(0, query.page_size)
  const last = rows.length > page.length ? page.at(-1) : undefined
  return { ...presentPage(page, last), search: null }
})

const presentPage = (page: readonly LogRow[], last: LogRow | undefined) => ({
  object: 'list' as const,
  data: page.map(presentLog),
  has_more: last !== undefined,
  next_cursor: last === undefined ? null : writeCursor({ createdAt: last.created_at, id: last.id }),
  total: null,
})

const presentFound = ({ rows, read, unreadable, last }: Found) => ({
  ...presentPage(rows, last ?? undefined),
  search: { read, unreadable, until: last === null ? null : new Date(last.created_at).toISOString() },
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
