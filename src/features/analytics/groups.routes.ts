import { route, type Actor } from '../../app/route.ts'
import type { EntityManager } from '@mikro-orm/postgresql'
import { logScopeOf } from '../logs/index.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { findGroups, type GroupRow } from './groups.queries.ts'
import { groupList, groupParams, groupQuery, type groupColumns, type GroupQuery } from './groups.schema.ts'
import { measures, type MeasureName } from './measures.ts'

const shape = { method: 'GET', params: groupParams, query: groupQuery, response: groupList } as const

interface Asked {
  readonly em: EntityManager
  readonly actor: Actor
  readonly query: GroupQuery
  readonly params: { readonly groupBy: keyof typeof groupColumns }
  readonly deps: { readonly clock: { now(): number } }
}

const presentGroup = (row: GroupRow, columns: readonly MeasureName[]) => ({
  object: 'analytics-group' as const,
  key: row.key,
  requests: row.requests,
  ...Object.fromEntries(columns.map((name) => [name, measures[name].show(row[name])])),
})

/** Both routes: the logs that the caller may see, and no others, are counted. */
async function answerGroups({ em, actor, query, params, deps }: Asked) {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const found = await findGroups(em, { ...logScopeOf(actor), workspaceId }, { by: params.groupBy, query, now: deps.clock.now() })
  return { object: 'list' as const, total: found.total, data: found.rows.map((row) => presentGroup(row, query.columns)) }
}

export const readAnalyticsGroups = route({
  ...shape,
  path: '/analytics/groups/:groupBy',
  summary: 'Group requests by one of their traits, with figures of each group',
  permission: 'analytics.view',
})(answerGroups)

export const readLogGroups = route({
  ...shape,
  path: '/logs/groups/:groupBy',
  summary: 'Group logs by one of their traits, with figures of each group',
  permission: 'logs.list',
})(answerGroups)
