import { inTenant } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import type { ClaimedExport, Progress } from '../claims.ts'
import { demandFields } from '../denied-fields.ts'
import { isTooSlow, readFilters, scopeOf } from '../exports.ts'
import { findLogs } from '../../logs/index.ts'
import { firstMoment, lastId, type RowPage } from '../log-rows.ts'
import { added, readCharges, traitsOf, type Charge } from './charges.ts'
import { focusRow } from './columns.ts'

const lengths = { hour: 3_600_000, day: 86_400_000 } as const
const minuteMs = 60_000

/** Reads the charges of the next period in which there are any; a period is in one piece, since its charges are sums. */
export async function readPeriods(deps: Deps, claimed: ClaimedExport, from: Progress | null): Promise<RowPage> {
  const { granularity = 'day' } = claimed.options
  const length = lengths[granularity]
  const filter = readFilters(claimed.filters)
  const end = Math.min(
    claimed.startedAt,
    filter.time_of_generation_max === undefined ? Infinity : Date.parse(filter.time_of_generation_max) + 1,
  )
  const first = firstMoment(filter.time_of_generation_min, { ...deps, end }) + 1
  const at = await nextMoment(deps, claimed, { from: from?.at ?? first, until: end })
  if (at >= end) return { rows: [], progress: { at: end, id: lastId, window: from?.window ?? length }, isEnd: true }
  const start = Math.floor(at / length) * length
  const until = Math.min(start + length, end)
  const { charges, window } = await sumUp(deps, claimed, { from: at, until, window: Math.min(from?.window ?? length, length) })
  const organisation = { id: claimed.organisationId, name: charges.length === 0 ? '' : await nameOf(deps, claimed) }
  return {
    rows: charges.map((charge) => focusRow(charge, { start, end: start + length, organisation })),
    progress: { at: until, id: lastId, window },
    isEnd: until >= end,
  }
}

/** Returns the moment of the next log, so that empty time is skipped; the end, if none comes. */
async function nextMoment({ orm }: Deps, claimed: ClaimedExport, { from, until }: Pick<ChargeWindow, 'from' | 'until'>): Promise<number> {
  if (from >= until) return until
  const filter = {
    ...readFilters({}),
    order: 'asc' as const,
    after: { createdAt: from - 1, id: lastId },
    time_of_generation_max: new Date(until - 1).toISOString(),
  }
  try {
    const [log] = await inTenant(orm, claimed.organisationId, (em) => findLogs(em, scopeOf(claimed), { limit: 1, filter }))
    return log === undefined ? until : Math.floor(log.created_at)
  } catch (error) {
    if (isTooSlow(error)) return from
    throw error
  }
}

interface ChargeWindow {
  readonly from: number
  readonly until: number
  readonly window: number
}

/** Adds up the charges of a period from looks at shorter stretches, where the whole takes the database too long. */
async function sumUp(deps: Deps, claimed: ClaimedExport, { from, until, window: given }: ChargeWindow) {
  const sums = new Map<string, Charge>()
  let window = given
  for (let at = from; at < until;) {
    const next = Math.min(at + window, until)
    const found = await look(deps, claimed, { from: at, until: next })
    if (found === null) {
      window = Math.max(minuteMs, Math.floor(window / 4))
      continue
    }
    for (const charge of found) {
      const key = traitsOf(charge)
      const known = sums.get(key)
      sums.set(key, known === undefined ? charge : added(known, charge))
    }
    at = next
  }
  const ordered = [...sums.entries()].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, charge]) => charge)
  return { charges: ordered, window }
}

/** Returns the charges of a stretch; null: the database takes too long, and a shorter one may be looked at. */
async function look(deps: Deps, claimed: ClaimedExport, { from, until }: Pick<ChargeWindow, 'from' | 'until'>): Promise<Charge[] | null> {
  const { organisationId, options, fields } = claimed
  try {
    return await inTenant(deps.orm, organisationId, async (em) => {
      await demandFields(em, organisationId, fields)
      const stretch = { from, until, filter: readFilters(claimed.filters), tagKeys: options.tag_keys ?? [] }
      return readCharges(em, scopeOf(claimed), stretch)
    })
  } catch (error) {
    if (isTooSlow(error) && until - from > minuteMs) return null
    throw error
  }
}

async function nameOf({ orm }: Deps, { organisationId }: ClaimedExport): Promise<string> {
  const rows = await inTenant(orm, organisationId, (em) =>
    em.execute<{ name: string }[]>('SELECT name FROM organisations WHERE id = ?', [organisationId]),
  )
  return rows[0]?.name ?? ''
}
