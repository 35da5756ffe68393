import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { route } from '../../app/route.ts'
import { textField } from '../../lib/text/text.ts'
import { findGroups, groupsOf } from './groups.queries.ts'
import { groupPage } from './groups.schema.ts'
import { answerInTime, sampled } from './sampling.ts'
import { logsFrom, usageOf } from './usage-of.ts'
import { metadataSource, userSource, wholeOf, type Fragment } from './usage-source.ts'
import { usageQuery } from './usage.schema.ts'

const query = usageQuery.extend(groupPage).meta({ id: 'NamedGroupQuery', description: 'Which requests to group, and which page to show.' })
const asked = { method: 'GET', query, permission: 'analytics.view', costly: () => true } as const

const object = z.literal('analytics-group')
const total = z.int().meta({ description: 'Groups in all.' })
const list = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ object: z.literal('list'), total, data: z.array(z.object({ object, ...shape })), ...sampled })
/** Some clients read these figures as texts. */
const asText = z.string()

export const readUserGroups = route({
  ...asked,
  path: '/analytics/groups/users',
  summary: 'Group requests by the user whom their metadata names',
  response: list({ user: z.string(), requests: asText, cost: asText.meta({ description: 'US cents.' }) }),
})(async ({ em, actor, query: { page_size, current_page, ...filters }, deps }) => {
  const now = deps.clock.now()
  const usage = await usageOf({ em, actor, query: filters, deps })
  const summed = await userSource(em, usage, now)
  const ranges = summed?.ranges ?? wholeOf(usage)
  return answerInTime({ em, usage, ranges, logsFrom: await logsFrom(em, usage.scope, deps) }, async (of) => {
    const source = summed?.source(of.every) ?? metadataSource(of, '_user')
    const found = await groupsOf(em, source, { by: ['metadata_value'], columns: ['cost'], page_size, current_page })
    const data = found.groups.map(({ keys: [key = null], requests, figures }) => ({
      object: 'analytics-group' as const,
      user: key ?? '',
      requests: String(requests),
      cost: String(figures.cost),
    }))
    return { object: 'list' as const, total: found.total, data }
  })
})

export const readModelGroups = route({
  ...asked,
  path: '/analytics/groups/ai-models',
  summary: 'Group requests by their model',
  response: list({ ai_model: z.string().nullable(), requests: asText }),
})(async ({ em, actor, query: { page_size, current_page, ...filters }, deps }) => {
  const usage = await usageOf({ em, actor, query: filters, deps })
  const kept = { em, logsFrom: await logsFrom(em, usage.scope, deps) }
  return answerInTime({ ...kept, usage }, async (of) => {
    const found = await findGroups(em, of, { by: ['model'], columns: [], page_size, current_page, logsFrom: kept.logsFrom })
    const data = found.groups.map(({ keys: [key = null], requests }) => ({
      object: 'analytics-group' as const,
      ai_model: key,
      requests: String(requests),
    }))
    return { object: 'list' as const, total: found.total, data }
  })
})

const metadataGroup = {
  metadata_value: z.string(),
  requests: z.int(),
  cost: z.number().meta({ description: 'US cents.' }),
  avg_tokens: z.number().nullable(),
  avg_weighted_feedback: z.number().nullable().meta({ description: 'Mean of value times weight; null without feedback.' }),
  requests_with_feedback: z.int(),
  last_seen: z.iso.datetime(),
}

export const readMetadataGroups = route({
  ...asked,
  path: '/analytics/groups/metadata/:metadataKey',
  summary: 'Group requests by the values of a key of their metadata',
  params: z.object({ metadataKey: textField(255) }),
  response: list(metadataGroup),
})(async ({ em, actor, params, query: { page_size, current_page, ...filters }, deps }) => {
  const usage = await usageOf({ em, actor, query: filters, deps })
  return answerInTime({ em, usage, ranges: wholeOf(usage), logsFrom: await logsFrom(em, usage.scope, deps) }, async (of) => {
    const source = metadataSource(of, params.metadataKey)
    const columns = ['cost', 'avg_tokens', 'last_seen'] as const
    const found = await groupsOf(em, source, { by: ['metadata_value'], columns, page_size, current_page })
    const values = found.groups.map(({ keys: [key] }) => key ?? '')
    const feedback = await feedbackOf(em, source, { values, every: of.every ?? 1 })
    const data = found.groups.map(({ keys: [key = null], requests, figures }) => ({
      object: 'analytics-group' as const,
      metadata_value: key ?? '',
      requests,
      cost: Number(figures.cost),
      avg_tokens: figures.avg_tokens === null ? null : Number(figures.avg_tokens),
      avg_weighted_feedback: feedback.get(key ?? '')?.mean ?? null,
      requests_with_feedback: feedback.get(key ?? '')?.requests ?? 0,
      last_seen: String(figures.last_seen),
    }))
    return { object: 'list' as const, total: found.total, data }
  })
})

interface FeedbackRow {
  readonly value: string
  readonly mean: number
  readonly requests: number
}

/** Returns the feedback on the requests with each of the values. */
async function feedbackOf(
  em: EntityManager,
  source: Fragment,
  { values, every }: { readonly values: readonly string[]; readonly every: number },
): Promise<ReadonlyMap<string, FeedbackRow>> {
  if (values.length === 0) return new Map()
  const rows = await em.execute<FeedbackRow[]>(
    `SELECT l.metadata_value AS value, avg(f.value * f.weight)::float8 AS mean, count(DISTINCT l.id)::float8 * ${every} AS requests
       FROM ${source.sql} JOIN feedbacks f ON f.workspace_id = l.workspace_id AND f.trace_id = l.trace_id
      WHERE l.metadata_value IN (${values.map(() => '?').join(', ')}) GROUP BY 1`,
    [...source.values, ...values],
  )
  return new Map(rows.map((row) => [row.value, row]))
}
