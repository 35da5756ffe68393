import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ApiFailure } from '../api/client.ts'
import { DataGrid, type Column } from './data-grid.tsx'
import { Failed, Loading } from './state.tsx'

interface ListState<Row> {
  readonly rows: readonly Row[] | undefined
  readonly error: ApiFailure | null
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly readAgain: () => void
  readonly readMore: () => void
}

interface ListGridProps<Row> {
  readonly label: string
  readonly list: ListState<Row>
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  readonly selected?: string | null
  readonly onOpen?: (row: Row) => void
  readonly rowHeight?: number
  /** In place of an empty list. */
  readonly empty: ReactNode
}

/** A list of the API as a table, with its states: waiting, failed, empty, more to come. */
export function ListGrid<Row>({ list, empty, ...grid }: ListGridProps<Row>) {
  const { rows, error, hasMore, isReading, readAgain, readMore } = list
  if (rows === undefined) return error === null ? <Loading rows={8} /> : <Failed what="list" error={error} onRetry={readAgain} />
  if (rows.length === 0) return empty
  return (
    <div className="stack">
      <DataGrid {...grid} rows={rows} more={hasMore} onEnd={readMore} />
      <div className="row">
        {hasMore && (
          <Button variant="default" loading={isReading} onClick={readMore}>
            Load more
          </Button>
        )}
        <span className="hint">
          {rows.length} {hasMore ? 'rows are loaded, and there are more' : rows.length === 1 ? 'row' : 'rows'}
        </span>
      </div>
    </div>
  )
}
