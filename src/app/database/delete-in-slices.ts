import type { MikroORM } from '@mikro-orm/postgresql'
import { asSystem } from './orm.ts'

/** A statement that deletes at most `size` rows. */
export interface Slice {
  readonly sql: string
  readonly values?: readonly unknown[]
  readonly size: number
}

/** Deletes rows in slices, each in a transaction of its own, so that no other statement waits long. Returns the number of deleted rows. */
export async function deleteInSlices(orm: MikroORM, { sql, values = [], size }: Slice): Promise<number> {
  for (let all = 0; ;) {
    const { affectedRows } = await asSystem(orm, (em) => em.execute<{ affectedRows: number }>(sql, [...values], 'run'))
    all += affectedRows
    if (affectedRows < size) return all
  }
}
