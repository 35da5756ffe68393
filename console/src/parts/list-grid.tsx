import type { ReactNode } from 'react'
import type { ApiFailure } from '../api/client.ts'
import type { DataGridProps } from './data-grid.tsx'
import { PagedGrid } from './paged-grid.tsx'
import { Failed, Loading } from './state.tsx'

interface ListState<Row> {
  readonly rows: readonly Row[] | undefined
  readonly error: ApiFailure | null
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly readAgain: () => void
  readonly readMore: () => void
}

interface ListGridProps<Row> extends Omit<DataGridProps<Row>, 'rows' | 'more' | 'onEnd'> {
  readonly list: ListState<Row>
  /** In place of an empty list. */
  readonly empty: ReactNode
}

/** A list of the API as a table, with its states: waiting, failed, empty, more to come. */
export function ListGrid<Row>({ list, empty, ...grid }: ListGridProps<Row>) {
  const { rows, error, hasMore, isReading, readAgain, readMore } = list
  if (rows === undefined) return error === null ? <Loading rows={8} /> : <Failed what="list" error={error} onRetry={readAgain} />
  if (rows.length === 0) return empty
  return <PagedGrid {...grid} rows={rows} hasMore={hasMore} isReading={isReading} readMore={readMore} />
}
