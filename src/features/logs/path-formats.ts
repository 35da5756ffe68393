import type { EntityManager } from '@mikro-orm/postgresql'
import { type PathFormat, readKey } from '../../app/log-store/object-key.ts'
import { arrayText } from '../../lib/text/array-text.ts'
import type { LogRow } from './log-fields.ts'

/** Returns the format of an object's key; null: there is no object, or it has a key of another making. */
export const formatOf = (key: string | null): PathFormat | null => (key === null ? null : (readKey(key)?.format ?? null))

/** Adds in which format the log store has the bodies of each log. Asked for a page, as names are. */
export async function withPathFormats<Row extends Pick<LogRow, 'id' | 'created_at'>>(
  em: EntityManager,
  { organisationId }: { readonly organisationId: string },
  rows: readonly Row[],
): Promise<readonly (Row & { readonly path_format: PathFormat | null })[]> {
  if (rows.length === 0) return []
  // A millisecond more at each end, because the times of rows are finer.
  const [from, until] = [-1, 1].map((more) => arrayText(rows.map(({ created_at: at }) => new Date(at + more).toISOString())))
  const found = await em.execute<{ id: string; key: string }[]>(
    `SELECT b.id, b.object_key AS key FROM unnest(?::timestamptz[], ?::timestamptz[], ?::uuid[]) AS m (since, until, id)
       JOIN log_bodies b ON b.created_at BETWEEN m.since AND m.until AND b.id = m.id
      WHERE b.organisation_id = ? AND b.object_key IS NOT NULL`,
    [from, until, arrayText(rows.map(({ id }) => id)), organisationId],
  )
  const keys = new Map(found.map(({ id, key }) => [id, key]))
  return rows.map((row) => Object.assign(row, { path_format: formatOf(keys.get(row.id) ?? null) }))
}
