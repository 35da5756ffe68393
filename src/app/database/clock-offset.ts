/** Clocks that are further apart cannot both be right, and no row is deleted by either. */
export const mostApartMs = 60_000

/** The time of the database, read between two looks at the clock of this process. */
export interface DatabaseTime {
  /** Epoch milliseconds. */
  readonly ms: number
  /** By how much the database is ahead of this process, at the least; negative: behind it. */
  readonly aheadMs: number
}

interface Row {
  readonly ms: number
}

const sql = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms'

/** Asks the database for its time. `ask` runs SQL and returns its rows. */
export async function databaseTime(ask: (sql: string) => Promise<readonly Row[]>, now: () => number): Promise<DatabaseTime> {
  const before = now()
  const [row] = await ask(sql)
  const after = now()
  const ms = row?.ms ?? Number.NaN
  return { ms, aheadMs: ms < before ? ms - before : Math.max(0, ms - after) }
}

/** Returns the two clocks in words: how far they are apart, and which one is ahead; null when they agree. */
export function apartInWords(aheadMs: number): string | null {
  if (Math.abs(aheadMs) <= mostApartMs) return null
  return `the clock of this process is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the database`
}
