import type { EntityManager } from '@mikro-orm/postgresql'
import { notFound } from '../../app/database/find.ts'
import type { Deps } from '../../app/deps.ts'
import { readKey } from '../../app/log-store/object-key.ts'
import { type Actor, route } from '../../app/route.ts'
import { demandScope, workspaceFilter } from '../workspaces/index.ts'
import { type Cursor, cursorOf, writeCursor } from './cursor.ts'
import { logList, logObject, logParams, logQuery } from './log.schema.ts'
import { findLogs } from './find-logs.ts'
import { findLog, logScopeOf } from './logs.queries.ts'
import { openLog } from './open-log.ts'
import { logCost } from './cost.schema.ts'
import { presentCost } from './present-cost.ts'
import { type LogDetail, type LogRow, presentLog } from './log-fields.ts'
import { withPathFormats } from './path-formats.ts'
import { type BodyMatches, searchBodies } from './search-bodies.ts'
import { searchWords } from './search-words.ts'
import { presentLogDetail } from './present-log.ts'

export const listLogs = route({
  method: 'GET',
  path: '/logs',
  summary: 'List logs, without bodies and headers',
  permission: 'logs.list',
  query: logQuery,
  costly: ({ query: { q } }) => q !== undefined,
  response: logList,
})(async ({ em, actor, query: { q, match, ...query }, deps }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const scope = { ...logScopeOf(actor), workspaceId }
  if (q !== undefined) {
    // The contents of a body are shown only to callers that may read it.
    demandScope(actor, 'logs.view')
    const found = await (match === 'words'
      ? searchWords(em, scope, { text: q, filter: query, deps })
      : searchBodies(em, scope, { text: q, filter: query }))
    return presentFound({ ...found, rows: [...(await withPathFormats(em, scope, found.rows))] })
  }
  const rows = await findLogs(em, scope, { limit: query.page_size + 1, filter: query })
  const page = await withPathFormats(em, scope, rows.slice(0, query.page_size))
  const last = rows.length > page.length ? page.at(-1) : undefined
  return { ...presentPage(page, last === undefined ? null : cursorOf(last)), search: null }
})

const presentPage = (page: readonly LogRow[], last: Cursor | null) => ({
  object: 'list' as const,
  data: page.map(presentLog),
  has_more: last !== null,
  next_cursor: last === null ? null : writeCursor(last),
  total: null,
})

const presentFound = ({ rows, read, unreadable, index, last }: BodyMatches) => ({
  ...presentPage(rows, last),
  search: { read, unreadable, index, until: last === null ? null : new Date(last.createdAt).toISOString() },
})

export const readLog = route({
  method: 'GET',
  path: '/logs/:logId',
  summary: 'Read a log with its bodies and headers',
  permission: 'logs.view',
  params: logParams,
  response: logObject,
})(async ({ em, actor, params, deps }) => {
  const row = await findNamed(em, actor, { reference: params.logId, deps })
  return presentLogDetail(await openLog(row, deps))
})

export const readLogCost = route({
  method: 'GET',
  path: '/logs/:logId/cost',
  summary: 'Read the cost of a request, line by line',
  permission: 'logs.view',
  params: logParams,
  response: logCost,
})(async ({ em, actor, params, deps }) => presentCost(await findNamed(em, actor, { reference: params.logId, deps })))

/** Finds a log by its id or by the key of its object in the log store. Throws AB08. */
async function findNamed(
  em: EntityManager,
  actor: Actor,
  { reference, deps: { level } }: { readonly reference: string; readonly deps: Pick<Deps, 'level'> },
): Promise<LogDetail> {
  const key = level.atLeast('1.5.1') ? readKey(reference) : null
  const row = await findLog(em, logScopeOf(actor), key?.id ?? reference)
  if (row === null || (key !== null && row.object_key !== reference)) throw notFound('log', reference, 'logId')
  return row
}
