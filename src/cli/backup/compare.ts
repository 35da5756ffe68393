import type { TableRows } from '../../app/database/row-counts.ts'

/** One table, in a dump and in a database. Null: it is not there. */
export interface ComparedTable {
  readonly table: string
  readonly dump: number | null
  readonly database: number | null
  /** Why the dump is no backup of the database; null: no fault was found. */
  readonly fault: string | null
}

/** Their rows come and go within minutes, or are made again. */
const passing = /\.(?:changes|idempotency_keys|journal_cursors|outgoing_mails|breakers|answer_vectors|cached_answers_\d{8})$/

/**
 * Compares the rows of a dump with those of a database. An exact comparison is for a database that has not changed since, such as one that was
 * restored. A database in use has newer rows than the dump, and has deleted some: then a table of which the dump lacks half is at fault.
 */
export function compareRows(
  dump: ReadonlyMap<string, number>,
  database: readonly TableRows[],
  { exact }: { readonly exact: boolean },
): readonly ComparedTable[] {
  const known = new Set(database.map(({ table }) => table))
  const newest = newestDumped(dump, database)
  const here = database.map(({ table, parent, rows }) => {
    const dumped = dump.get(table) ?? null
    const isNewer = dumped === null && parent !== null && table > (newest.get(parent) ?? table)
    const fault = exact ? exactFault(dumped, rows, table) : isNewer || passing.test(table) ? null : looseFault(dumped, rows)
    return { table, dump: dumped, database: rows, fault }
  })
  const gone = [...dump]
    .filter(([table]) => !known.has(table))
    .map(([table, rows]) => ({
      table,
      dump: rows,
      database: null,
      fault: exact && rows > 0 ? 'the table is not in the database' : null,
    }))
  return [...here, ...gone]
}

/** Returns the last partition in the dump of each partitioned table: names of partitions end in their dates. */
function newestDumped(dump: ReadonlyMap<string, number>, database: readonly TableRows[]): ReadonlyMap<string, string> {
  const newest = new Map<string, string>()
  for (const { table, parent } of database)
    if (parent !== null && dump.has(table) && table > (newest.get(parent) ?? '')) newest.set(parent, table)
  return newest
}

function exactFault(dump: number | null, database: number, table: string): string | null {
  if (dump === null) return database === 0 || table.endsWith('.answer_vectors') ? null : 'the table is not in the dump'
  return dump === database ? null : 'the rows differ'
}

function looseFault(dump: number | null, database: number): string | null {
  if (dump === null) return 'the table is not in the dump'
  if (dump === 0 && database > 0) return 'the dump has none of its rows'
  return dump * 2 < database ? 'the dump has less than half of its rows' : null
}
