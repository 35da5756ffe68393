import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import { steps, type Step } from './steps.ts'
import type { Usage } from './usage-source.ts'

/** The steps that the points of a graph stand for. */
export interface Grid {
  /** Returns SQL of the begin of the step that a time, a column, is in. */
  beginOf(time: string): string
  /** The begin of each step of the range, in epoch milliseconds. */
  readonly begins: readonly number[]
}

type Range = Pick<Usage, 'from' | 'to'>

/** Returns the steps of a usage by the clock of UTC: all as long, so that they need no calendar, which would take longer than the sums. */
export const gridOf = ({ from, to, step }: Range & { readonly step: Step }): Grid => ({
  beginOf: (time) => `date_bin('1 ${step}', ${time}, 'epoch')`,
  begins: beginsOf(from, to, step),
})

function beginsOf(from: number, to: number, step: Step): readonly number[] {
  const ms = steps[step]
  const first = Math.floor(from / ms)
  return Array.from({ length: Math.floor(to / ms) - first + 1 }, (_, at) => (first + at) * ms)
}

const calendarSteps = ['day', 'week', 'month'] as const
/** A step that follows the calendar of a time zone. */
type CalendarStep = (typeof calendarSteps)[number]

/** The steps that a graph can be asked for. */
export const intervals = ['minute', 'hour', ...calendarSteps] as const
export type Interval = (typeof intervals)[number]

export const isCalendarStep = (interval: Interval): interval is CalendarStep => calendarSteps.some((step) => step === interval)

/** The names of the database's time zones, such as `Europe/Paris`. */
export const zoneField = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][\w+-]*(?:\/[A-Za-z][\w+-]*)*$/, 'the name of a time zone, such as `Europe/Paris`')

/** Returns the days, weeks (from Monday) or months of a time zone. Throws AB01 for one that is not known. */
export async function calendarGrid(
  em: EntityManager,
  { from, to }: Range,
  { step, zone }: { readonly step: CalendarStep; readonly zone: string },
): Promise<Grid> {
  const local = `?::timestamptz AT TIME ZONE '${zoneField.parse(zone)}'`
  const [first, last] = [new Date(from).toISOString(), new Date(to).toISOString()]
  try {
    const rows = await em.execute<{ at: number }[]>(
      `SELECT (extract(epoch FROM begin AT TIME ZONE '${zone}') * 1000)::float8 AS at
         FROM generate_series(date_trunc('${step}', ${local}), ${local}, interval '1 ${step}') begin`,
      [first, last],
    )
    return { beginOf: (time) => `date_trunc('${step}', ${time}, '${zone}')`, begins: rows.map(({ at }) => at) }
  } catch (error) {
    if (!isUnknownZone(error)) throw error
    throw new ApiError('AB01', `The time zone ${zone} is not known.`, { param: 'timezone', cause: error })
  }
}

/** PostgreSQL's error is `invalid_parameter_value`. */
const isUnknownZone = (error: unknown): error is Error => error instanceof Error && 'code' in error && error.code === '22023'
