import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import { calendarGrid, gridOf, isCalendarStep, type Grid, type Interval } from './grid.ts'
import { measures, requestsWith, type MeasureName } from './measures.ts'
import { pointsOf, series, type GraphSource, type GraphData, type Figures } from './series.ts'
import { dayMs, hourMs } from './steps.ts'
import type { Usage } from './usage-source.ts'
import { countUsers } from './users.ts'

type OfRequests = Exclude<MeasureName, 'first_seen' | 'last_seen'>
const ofRequests = (name: MeasureName): name is OfRequests => name !== 'first_seen' && name !== 'last_seen'
const isMeasure = (name: string): name is MeasureName => Object.hasOwn(measures, name)

/** The figures of an overview: those of groups, requests and different users. */
export const overviewMeasures = ['requests', 'users', ...Object.keys(measures).filter(isMeasure).filter(ofRequests)] as const
export type OverviewMeasure = (typeof overviewMeasures)[number]
const isOfRequests = (name: OverviewMeasure): name is OfRequests => Object.hasOwn(measures, name)

/** Draws several figures at once. */
export async function drawFigures(drawing: GraphSource, names: readonly OverviewMeasure[]): Promise<GraphData> {
  const columns = names.filter(isOfRequests)
  const sql = columns.flatMap((name) => {
    const { from } = measures[name]
    return 'sql' in from ? [[name, from.sql] as const] : []
  })
  const shares = columns.flatMap((name) => {
    const { from } = measures[name]
    return 'share' in from ? [[name, from.share] as const] : []
  })
  const drawn = await series({
    sql: { requests: requestsWith(), ...Object.fromEntries(sql) },
    shares: Object.fromEntries(shares),
    point: (figures) =>
      Object.fromEntries(names.map((name) => [name, isOfRequests(name) ? measures[name].show(figures[name]) : figures[name]])),
  })(drawing)
  return names.includes('users') ? withUsers(drawing, drawn) : drawn
}

async function withUsers(drawing: GraphSource, { summary, data_points: points }: GraphData): Promise<GraphData> {
  const users = await countUsers(drawing)
  const counted = pointsOf(drawing.grid, (at) => ({ users: users(at) }))
  return { summary: { ...summary, users: users(null) }, data_points: points.map((point, at): Figures => ({ ...point, ...counted[at] })) }
}

const mostPoints = 1000
const lengths = { minute: 60_000, hour: hourMs, day: dayMs, week: 7 * dayMs, month: 28 * dayMs } as const

/** Returns an interval by which a range has neither too few nor too many points. */
export const intervalFor = (ms: number): Interval =>
  ms <= 3 * hourMs ? 'minute' : ms <= 3 * dayMs ? 'hour' : ms <= 120 * dayMs ? 'day' : ms <= 731 * dayMs ? 'week' : 'month'

/** A usage and the steps of its points. */
export interface UsageOnGrid {
  readonly usage: Usage
  readonly grid: Grid
}

/** Returns the steps of a usage, whose roll-ups are read as finely as they need. Throws AB01 for too many, and for a zone that is not known. */
export async function griddedUsage(
  em: EntityManager,
  usage: Omit<Usage, 'step'>,
  { interval, zone }: { readonly interval: Interval; readonly zone: string },
): Promise<UsageOnGrid> {
  if ((usage.to - usage.from) / lengths[interval] > mostPoints)
    throw new ApiError('AB01', `An overview has at most ${mostPoints} points: choose a longer interval or a shorter time.`, {
      param: 'interval',
    })
  if (!isCalendarStep(interval)) {
    const stepped: Usage = { ...usage, step: interval }
    return { usage: stepped, grid: gridOf(stepped) }
  }
  return { usage: { ...usage, step: zone === 'UTC' ? 'day' : 'hour' }, grid: await calendarGrid(em, usage, { step: interval, zone }) }
}

/** Figures that are asked for are there, and no others. */
export const figureFields: z.ZodRawShape = Object.fromEntries(
  overviewMeasures.map((name) => [name, (isOfRequests(name) ? z.number().nullable().meta(metaOf(name)) : z.number()).optional()]),
)

function metaOf(name: OfRequests): { readonly description?: string } {
  const { description } = measures[name].schema.meta() ?? {}
  return description === undefined ? {} : { description }
}
