import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { ExportableField } from '../../lib/access/export-settings.ts'
import { findLogs, noBodies, openLog, withBodies, type LogDetail, type LogRow } from '../logs/index.ts'
import type { ClaimedExport, Progress } from './claims.ts'
import { demandFields } from './denied-fields.ts'
import { needBodies, valuesOf } from './export-fields.ts'
import { sizeOf, type Row } from './pieces.ts'
import { isTooSlow, readFilters, scopeOf } from './exports.ts'

/** Some rows in the order of time, and how far they reach. */
export interface RowPage {
  readonly rows: readonly Row[]
  readonly progress: Progress
  /** No row comes behind them. */
  readonly isEnd: boolean
}

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000] as const
const longestWindow = 30 * dayMs
/** A look that took less may take in more time. */
const quickMs = 500

/** A page has at most so many logs, with bodies or without. */
const [mostBare, mostWhole] = [1000, 250]
/** Bodies of so many bytes, and one log more, are in memory at a time. */
const mostBytes = 8 * 1024 * 1024
/** The highest id. */
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Reads the next logs of an export: at most a page, from a window of time that grows while looks are quick and shrinks when one takes too
 * long, so that filters which hardly any log meets do not hold up the database.
 */
export async function readPage(deps: Deps, claimed: ClaimedExport, { fields, from }: RowSelection): Promise<RowPage> {
  const filter = readFilters(claimed.filters)
  const end = Math.min(claimed.startedAt, timeOr(filter.time_of_generation_max, claimed.startedAt))
  const start = from ?? { at: firstMoment(filter.time_of_generation_min, { ...deps, end }), id: lastId, window: hourMs }
  if (start.at >= end) return { rows: [], progress: start, isEnd: true }
  const upTo = Math.min(start.at + start.window, end)
  const withThem = needBodies(fields)
  const limit = withThem ? mostWhole : mostBare
  const startedAt = performance.now()
  try {
    const { logs, isFull } = await inTenant(deps.orm, claimed.organisationId, async (em) => {
      await demandFields(em, claimed.organisationId, claimed.fields)
      const bounds = { time_of_generation_min: undefined, time_of_generation_max: new Date(upTo).toISOString() }
      const found = await findLogs(em, scopeOf(claimed), {
        limit,
        filter: { ...filter, ...bounds, order: 'asc', after: { createdAt: start.at, id: start.id } },
      })
      const taken = withThem ? fitting(found, deps.config.maxLogBodyBytes) : found
      const whole = withThem ? await withBodies(em, scopeOf(claimed), taken) : taken.map(bare)
      return { logs: whole, isFull: found.length === limit || taken.length < found.length }
    })
    const window = performance.now() - startedAt < quickMs ? Math.min(start.window * 2, longestWindow) : start.window
    const rows = await presentAll(logs, fields, deps)
    const last = isFull || rows.length < logs.length ? logs[rows.length - 1] : undefined
    if (last !== undefined) return { rows, progress: { at: last.created_at, id: last.id, window }, isEnd: false }
    return { rows, progress: { at: upTo, id: lastId, window }, isEnd: upTo >= end }
  } catch (error) {
    if (!isTooSlow(error) || start.window <= minuteMs) throw error
    return { rows: [], progress: { ...start, window: Math.max(minuteMs, Math.floor(start.window / 8)) }, isEnd: false }
  }
}

interface RowSelection {
  readonly fields: readonly ExportableField[]
  readonly from: Progress | null
}

const timeOr = (given: string | undefined, otherwise: number): number => (given === undefined ? otherwise : Date.parse(given))

/** Returns the moment before the first log that may be there: logs are not kept for longer than the retention. */
export const firstMoment = (given: string | undefined, { config, end }: Pick<Deps, 'config'> & { readonly end: number }): number =>
  Math.max(timeOr(given, 0) - 1, end - (config.logRetentionDays + 2) * dayMs)

/** Returns the first logs whose bodies fit together, and at least one. */
export function fitting(logs: readonly LogRow[], mostOfBody: number): readonly LogRow[] {
  let size = 0
  const end = logs.findIndex(({ request_bytes: request, response_bytes: response }) => {
    size += Math.min(request, mostOfBody) + Math.min(response, mostOfBody)
    return size > mostBytes
  })
  return end === -1 ? logs : logs.slice(0, Math.max(end, 1))
}

/** Returns a log without its bodies. */
export const bare = (row: LogRow): LogDetail => Object.assign({}, noBodies, row)

/** Logs of the log store that are fetched at a time. */
const atOnce = 8

/** Presents the first logs: fewer than all where their bodies, which may have been compressed, become too large. */
async function presentAll(logs: readonly LogDetail[], fields: readonly ExportableField[], deps: Deps): Promise<Row[]> {
  const rows: Row[] = []
  let size = 0
  for (let first = 0; first < logs.length && size < mostBytes; first += atOnce) {
    const some = await Promise.all(logs.slice(first, first + atOnce).map(async (log) => valuesOf(await openLog(log, deps), fields)))
    rows.push(...some)
    size += some.reduce((sum, row) => sum + sizeOf(row), 0)
  }
  return rows
}
