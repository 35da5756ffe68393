import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { codeOf } from '../../app/database/connection-error.ts'
import { needsLogs } from '../logs/index.ts'
import { countRoughly, wholeOf, type Range, type Usage } from './usage-source.ts'

/** The part of an answer about logs that were not read. */
export const sampledField = z
  .object({
    every: z.int().meta({ description: 'Logs were read on one of so many pages of the database, and counted so many times.' }),
    rate: z.number().meta({ description: 'The part of the logs that was read: 0 to 1.' }),
    error_bound: z.number().nullable().meta({
      description: 'The margin of error of a count at 95 % confidence, in per cent of all visible requests of the time. Null: unknown.',
    }),
  })
  .meta({
    id: 'Sampled',
    description: 'The figures are estimates, from a part of the logs: more of them were to be read than is possible in time.',
  })
  .optional()

export type SampleNote = z.output<typeof sampledField>

/** The shape that answers have beside their figures. */
export const sampled = { sampled: sampledField }

interface SampleQuery {
  readonly em: EntityManager
  readonly usage: Usage
  /** Logs are kept from then on, in epoch milliseconds. */
  readonly logsFrom: number
  /** The times of the logs to read; absent: the whole range if a filter needs a field that only logs have. */
  readonly ranges?: readonly Range[]
}

/** So many logs of a tenant are read in time, so many of them are a sample, and so many logs of all tenants are passed for it. */
const most = { read: 400_000, sampled: 200_000, passed: 2_500_000 }
/** A part of the time that a statement may take, so that there is time for a sample. */
const firstTryMs = 2500
/** How much smaller a sample is after one that took too long. */
const smaller = 8

/**
 * Answers from all logs where there are few enough, and from a sample where there are more, or where reading them takes too long. Times without
 * such reading are answered as they are.
 */
export async function answerInTime<Answer extends object>(
  asked: SampleQuery,
  answer: (usage: Usage) => Promise<Answer>,
): Promise<Answer & { sampled?: SampleNote }> {
  const { em, usage } = asked
  const ranges = asked.ranges ?? rangesOf(usage)
  if (ranges.length === 0) return answer(usage)
  const size = await sizeOf(em, ranges)
  const countOwn = () => countRoughly(em, usage, { ranges, logsFrom: asked.logsFrom })
  const own = size.rows <= most.read ? null : await countOwn()
  const first = own === null ? 1 : everyFor(own, size)
  try {
    return await attempt(em, firstTryMs, () => sample({ ...asked, size, own: own ?? 0, every: first }, answer))
  } catch (error) {
    if (codeOf(error) !== timedOut) throw error
    const every = Math.max(first * smaller, powerOfTwo(size.rows / most.sampled))
    const all = own ?? (await countOwn())
    return attempt(em, null, () => sample({ ...asked, size, own: all, every }, answer))
  }
}

const rangesOf = (usage: Usage): readonly Range[] => (needsLogs(usage.filters) || usage.step === 'minute' ? wholeOf(usage) : [])

interface Size {
  readonly rows: number
  readonly pages: number
}

/** Returns how many logs of all tenants there are, and on how many pages. */
async function sizeOf(em: EntityManager, ranges: readonly Range[]): Promise<Size> {
  const rows = await em.execute<Size[]>(
    ranges.map(() => 'SELECT * FROM size_of_logs(?::timestamptz, ?::timestamptz)').join(' UNION ALL '),
    ranges.flatMap(({ from, until }) => [new Date(from).toISOString(), new Date(until).toISOString()]),
  )
  return { rows: rows.reduce((sum, row) => sum + row.rows, 0), pages: rows.reduce((sum, row) => sum + row.pages, 0) }
}

const everyFor = (own: number, size: Size): number =>
  own <= most.read ? 1 : powerOfTwo(Math.max(own / most.sampled, size.rows / most.passed))

/** Rounds up, so that an answer does not reveal how many logs others have. */
const powerOfTwo = (ratio: number): number => 2 ** Math.ceil(Math.log2(Math.max(ratio, 1)))

interface Sample extends SampleQuery {
  readonly every: number
  readonly size: Size
  /** The number of logs visible to the caller, without the filter. */
  readonly own: number
}

async function sample<Answer extends object>(
  { em, usage, every, size, own }: Sample,
  answer: (usage: Usage) => Promise<Answer>,
): Promise<Answer & { sampled?: SampleNote }> {
  if (every === 1) return answer(usage)
  await em.execute(`SELECT set_config('app.sample_percent', ?, true)`, [String(100 / every)])
  const pages = size.rows === 0 ? 0 : (own * size.pages) / size.rows / every
  const bound = pages < 1 ? null : Math.min(100, (100 * z95) / Math.sqrt(pages))
  return { ...(await answer({ ...usage, every })), sampled: { every, rate: 1 / every, error_bound: bound } }
}

/**
 * Pages, not logs, are drawn, and logs of one page came at about the same time: so a page counts as one observation. Worst case: the logs visible to
 * the caller fill the fewest possible pages. The variance of a count is then at most that of the number of these pages, and reveals nothing about the
 * logs of others.
 */
const z95 = 1.96

/** PostgreSQL's query_canceled. */
const timedOut = '57014'

/** Does work that leaves the transaction as it was when it fails; it may take so long, or as long as any statement. */
async function attempt<T>(em: EntityManager, ms: number | null, work: () => Promise<T>): Promise<T> {
  await em.execute('SAVEPOINT in_time')
  try {
    if (ms !== null) await em.execute(`SET LOCAL statement_timeout = ${ms}`)
    const result = await work()
    await em.execute('ROLLBACK TO SAVEPOINT in_time')
    return result
  } catch (error) {
    await em.execute('ROLLBACK TO SAVEPOINT in_time').catch(() => {})
    throw error
  }
}
