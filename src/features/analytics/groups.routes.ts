import type { z } from 'zod'
import { route } from '../../app/route.ts'
import { findGroups } from './groups.queries.ts'
import { groupColumns, groupList, groupParams, groupQuery } from './groups.schema.ts'
import { answerInTime } from './sampling.ts'
import { logsFrom, usageOf, type AnalyticsCall } from './usage-of.ts'

const shape = { method: 'GET', params: groupParams, query: groupQuery, response: groupList, costly: () => true } as const

interface AskedGroups extends AnalyticsCall {
  readonly query: z.output<typeof groupQuery>
  readonly params: { readonly groupBy: keyof typeof groupColumns }
}

/** Both routes: the logs that the caller may see, and no others, are counted. */
async function answerGroups(asked: AskedGroups) {
  const { columns, page_size, current_page, ...query } = asked.query
  const usage = await usageOf({ ...asked, query })
  const by = [groupColumns[asked.params.groupBy]]
  const kept = { em: asked.em, logsFrom: await logsFrom(asked.em, usage.scope, asked.deps) }
  return answerInTime({ ...kept, usage }, async (of) => {
    const found = await findGroups(asked.em, of, { by, columns, page_size, current_page, logsFrom: kept.logsFrom })
    const data = found.groups.map(({ keys: [key = null], requests, figures }) => ({
      object: 'analytics-group' as const,
      key,
      requests,
      ...figures,
    }))
    return { object: 'list' as const, total: found.total, data }
  })
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
