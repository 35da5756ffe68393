import type { ReleaseTable } from '../../release/table.ts'

/** The release records, read when first asked for: that takes 70 ms, which no start should pay that does not need them. */
export interface Records {
  /** Null until they have been read. */
  loaded(): ReleaseTable | null
  load(): Promise<ReleaseTable>
}

/** The records of this installation, or those given instead. */
export function createRecords(given: ReleaseTable | null = null): Records {
  let table = given
  let loading: Promise<ReleaseTable> | null = null
  const read = async () => {
    const { readOwnTable } = await import('./release-records.ts')
    table = readOwnTable()
    return table
  }
  return {
    loaded: () => table,
    load: async () => table ?? (await (loading ??= read())),
  }
}
