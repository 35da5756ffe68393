import { z } from 'zod'
import { route } from '../../app/route.ts'
import { intervals, zoneField } from './grid.ts'
import { drawFigures, figureFields, griddedUsage, intervalFor, overviewMeasures } from './overview.ts'
import { answerInTime, sampled } from './sampling.ts'
import { logsFrom, usageOf } from './usage-of.ts'
import { usageQuery } from './usage.schema.ts'
import type { Usage } from './usage-source.ts'

const query = usageQuery
  .extend({
    measures: z
      .string()
      .max(1000)
      .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))])
      .pipe(z.array(z.enum(overviewMeasures)).min(1))
      .default(['requests', 'cost', 'total_tokens', 'avg_latency', 'error_count'])
      .meta({ description: `Comma-separated: ${overviewMeasures.map((name) => `\`${name}\``).join(', ')}.` }),
    compare: z.enum(['previous']).optional().meta({ description: '`previous`: tell the same of the time before, which is as long.' }),
    interval: z
      .enum(['auto', ...intervals])
      .default('auto')
      .meta({ description: 'The time that a point stands for. `auto` chooses by the length of the whole.' }),
    timezone: zoneField.default('UTC').meta({
      description:
        'The name of a time zone, such as `Europe/Paris`, in which days, weeks and months begin. Where it is no whole hours from UTC, an hour counts where it begins. Minutes and hours are those of UTC.',
    }),
  })
  .meta({ id: 'OverviewQuery', description: 'The requests to count, the figures, and the times.' })

const moment = z.iso.datetime()
const point: z.ZodRawShape = { timestamp: moment.meta({ description: 'The begin of the step.' }), ...figureFields }
const told = {
  time_of_generation_min: moment,
  time_of_generation_max: moment,
  summary: z.object(figureFields).meta({ description: 'Of all the time.' }),
  data_points: z.array(z.object(point)),
  ...sampled,
}

const response = z
  .object({
    object: z.literal('analytics-overview'),
    interval: z.enum(intervals),
    timezone: z.string(),
    ...told,
    previous: z.object(told).nullable().meta({ description: 'The time before; null: it was not asked for.' }),
  })
  .meta({ id: 'AnalyticsOverview', description: 'Several figures of the same requests over time.' })

export const readOverview = route({
  method: 'GET',
  path: '/analytics/overview',
  summary: 'Several figures over time in one answer, beside those of the time before',
  query,
  permission: 'analytics.view',
  costly: () => true,
  response,
})(async ({ em, actor, query: { measures, compare, interval: asked, timezone: zone, ...rest }, deps }) => {
  const { step: _, ...usage } = await usageOf({ em, actor, query: rest, deps })
  const interval = asked === 'auto' ? intervalFor(usage.to - usage.from) : asked
  const tell = async (of: Omit<Usage, 'step'>) => {
    const kept = { em, logsFrom: await logsFrom(em, usage.scope, deps) }
    const { usage: stepped, grid } = await griddedUsage(em, of, { interval, zone })
    const drawn = await answerInTime({ ...kept, usage: stepped }, (within) =>
      drawFigures({ ...kept, usage: within, grid, now: deps.clock.now() }, measures),
    )
    return {
      time_of_generation_min: new Date(of.from).toISOString(),
      time_of_generation_max: new Date(of.to).toISOString(),
      summary: drawn.summary,
      data_points: [...drawn.data_points],
      ...(drawn.sampled !== undefined && { sampled: drawn.sampled }),
    }
  }
  const now = await tell(usage)
  const previous = compare === undefined ? null : await tell({ ...usage, from: 2 * usage.from - usage.to - 1, to: usage.from - 1 })
  return { object: 'analytics-overview' as const, interval, timezone: zone, ...now, previous }
})
