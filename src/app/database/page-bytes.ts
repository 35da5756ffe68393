import type { EntityManager } from '@mikro-orm/postgresql'

/** The most that the rows read at once for one answer have together, as texts; a single row may have more. */
export const mostPageBytes = 8 * 1024 * 1024

/** The rows whose sizes are asked for first. To know its size, the database reads a row: behind small rows it is asked about more of them. */
const firstAsked = 64

/** Returns the first of these ids whose rows fit into one answer, at least one. No more than the sizes of rows are read. */
export async function fittingIds(em: EntityManager, table: string, ids: readonly string[]): Promise<readonly string[]> {
  let [fitting, bytes] = [0, 0]
  for (let asked = firstAsked; fitting < ids.length; asked *= 4) {
    const some = ids.slice(fitting, fitting + asked)
    const sizes = await sizesOf(em, table, some)
    for (const id of some) {
      bytes += sizes.get(id) ?? 0
      if (bytes > mostPageBytes) return ids.slice(0, Math.max(fitting, 1))
      fitting += 1
    }
  }
  return ids
}

async function sizesOf(em: EntityManager, table: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await em.execute<{ id: string; bytes: number }[]>(
    `SELECT id, octet_length(sized::text) AS bytes FROM "${table}" sized WHERE id IN (${ids.map(() => '?').join(', ')})`,
    [...ids],
  )
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}
