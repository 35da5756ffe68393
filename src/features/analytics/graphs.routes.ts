import { z } from 'zod'
import { route, type Route } from '../../app/route.ts'
import { graphs, type Graph } from './graphs.ts'
import { gridOf } from './grid.ts'
import { hit, meanMs, requestsWith } from './measures.ts'
import { answerInTime, sampled } from './sampling.ts'
import { usageSource } from './usage-source.ts'
import { logsFrom, usageOf } from './usage-of.ts'
import { usageQuery } from './usage.schema.ts'

const asked = { method: 'GET', query: usageQuery, permission: 'analytics.view', costly: () => true } as const

const graphRoute = (name: string, { summary, total, point, draw }: Graph): Route =>
  route({
    ...asked,
    path: `/analytics/graphs/${name}`,
    summary,
    response: z.object({
      object: z.literal('analytics-graph'),
      summary: z.object(total).meta({ description: 'Of all the time.' }),
      data_points: z.array(z.object(point)),
      ...sampled,
    }),
  })(async ({ em, actor, query, deps }) => {
    const usage = await usageOf({ em, actor, query, deps })
    const kept = { em, logsFrom: await logsFrom(em, usage.scope, deps) }
    return answerInTime({ ...kept, usage, ...(ofFeedback(name) && { ranges: [] }) }, async (of) => {
      const drawn = await draw({ ...kept, usage: of, grid: gridOf(of), now: deps.clock.now() })
      return { object: 'analytics-graph' as const, summary: drawn.summary, data_points: [...drawn.data_points] }
    })
  })

/** These read logs of traces that have feedback, and no others. */
const ofFeedback = (name: string): boolean => name.startsWith('feedbacks')

export const graphRoutes: readonly Route[] = Object.entries(graphs).map(([name, graph]) => graphRoute(name, graph))

const cacheSummary = z
  .object({
    object: z.literal('analytics-summary'),
    summary: z.object({
      hits: z.int(),
      total_requests: z.int(),
      avg_latency: z.number().nullable().meta({ description: 'Milliseconds of an answer from the cache; null without one.' }),
      cache_speedup: z.number().nullable().meta({ description: 'How many times as fast as other answers; null if one kind is missing.' }),
    }),
    ...sampled,
  })
  .meta({ id: 'CacheSummary', description: 'What the cache did.' })

interface CacheFigures {
  readonly hits: number
  readonly total_requests: number
  readonly avg_latency: number | null
  readonly other_latency: number | null
}

export const readCacheSummary = route({
  ...asked,
  path: '/analytics/summary/cache',
  summary: 'Answers from the cache: how many, and how fast',
  response: cacheSummary,
})(async ({ em, actor, query, deps }) => {
  const usage = await usageOf({ em, actor, query, deps })
  const kept = { em, logsFrom: await logsFrom(em, usage.scope, deps) }
  return answerInTime({ ...kept, usage }, async (of) => {
    const source = await usageSource(em, of, kept.logsFrom)
    const [row] = await em.execute<CacheFigures[]>(
      `SELECT ${requestsWith(hit)} AS hits, ${requestsWith()} AS total_requests, ${meanMs(hit)} AS avg_latency,
              ${meanMs(`NOT ${hit}`)} AS other_latency FROM ${source.sql}`,
      [...source.values],
    )
    const { hits = 0, total_requests = 0, avg_latency = null, other_latency = null } = row ?? {}
    const speedup = avg_latency === null || other_latency === null || avg_latency === 0 ? null : other_latency / avg_latency
    return { object: 'analytics-summary' as const, summary: { hits, total_requests, avg_latency, cache_speedup: speedup } }
  })
})
