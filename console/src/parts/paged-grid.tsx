import { Button } from '@mantine/core'
import { DataGrid, type DataGridProps } from './data-grid.tsx'

interface PagedGridProps<Row> extends Omit<DataGridProps<Row>, 'more' | 'onEnd'> {
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly readMore: () => void
}

/** A table whose rows come page by page, with how many there are, and a button for the next ones. */
export function PagedGrid<Row>({ hasMore, isReading, readMore, ...grid }: PagedGridProps<Row>) {
  const { length } = grid.rows
  return (
    <div className="stack">
      <DataGrid {...grid} more={hasMore} onEnd={readMore} />
      <div className="row">
        {hasMore && (
          <Button variant="default" loading={isReading} onClick={readMore}>
            Load more
          </Button>
        )}
        <span className="hint">
          {length} {hasMore ? 'rows are loaded, and there are more' : length === 1 ? 'row' : 'rows'}
        </span>
      </div>
    </div>
  )
}
