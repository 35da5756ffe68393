import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode, type RefObject } from 'react'
import { useSetting } from '../shell/settings.ts'

export interface Column<Row> {
  readonly id: string
  readonly label: string
  readonly width: number
  readonly end?: boolean
  readonly cell: (row: Row) => ReactNode
}

export interface DataGridProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
  readonly rowHeight?: number
  readonly selected?: string | null
  readonly onOpen?: (row: Row) => void
  /** Called for a cell: with `menu` by the menu key, Shift+F10 or the second button of the mouse, with `filter` by the key f. */
  readonly onCell?: (wish: CellWish, cell: GridCell<Row>) => void
  /** Called when a person has drawn the edge of a column. */
  readonly onWidth?: (column: string, width: number) => void
  /** Called when the last rows come near. */
  readonly onEnd?: () => void
  /** True if there may be more rows than these. */
  readonly more?: boolean
}

export type CellWish = 'menu' | 'filter'

/** A cell of a table, and its place in the document. */
export interface GridCell<Row> {
  readonly row: Row
  readonly column: string
  readonly element: HTMLElement
}

interface RowsInView {
  readonly rows: readonly unknown[]
  readonly rowHeight: number
  readonly more: boolean
  readonly onEnd: (() => void) | undefined
}

/** Returns the rows in view, and asks for more when the last ones come near. */
function useRowsInView(box: RefObject<HTMLDivElement | null>, { rows, rowHeight, more, onEnd }: RowsInView) {
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 10 })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  useEffect(() => virtual.measure(), [virtual, rowHeight])
  useEffect(() => {
    if (more && rows.length > 0 && last >= rows.length - 5) onEnd?.()
  }, [more, rows.length, last, onEnd])
  return { virtual, items }
}

/** The heights of rows by density, in pixels. Rows with fields in them are higher than either, and stay so. */
const heights = { compact: 32, comfortable: 40 } as const

/** Returns the height of the rows of a table by the choice of the person, else by what the table asks for. */
function useRowHeight(asked: number = heights.compact): number {
  const [density] = useSetting('density')
  return density === 'usual' || asked > heights.comfortable ? asked : heights[density]
}

/** A table of any length, of which only the rows in view are in the document. One tab stop; arrows move between cells, Enter opens a row. */
export function DataGrid<Row>(props: DataGridProps<Row>) {
  const { label, columns, rows, idOf, onOpen, onEnd, more = false } = props
  const rowHeight = useRowHeight(props.rowHeight)
  const box = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<Spot>({ row: 0, column: 0 })
  const { virtual, items } = useRowsInView(box, { ...props, rowHeight, more, onEnd })

  const goTo = (to: Spot) => {
    setAt(to)
    virtual.scrollToIndex(to.row)
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-at="${to.row}/${to.column}"]`)?.focus())
  }
  const onCell = (wish: CellWish, { row: atRow, column: atColumn }: Spot) => {
    const [row, column] = [rows[atRow], columns[atColumn]]
    const element = box.current?.querySelector<HTMLElement>(`[data-at="${atRow}/${atColumn}"]`)
    if (row !== undefined && column !== undefined && element) props.onCell?.(wish, { row, column: column.id, element })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // The focus can have come to another cell by other means than keys.
    const spot = spotIn(event.target) ?? at
    const to = spotAfter(event, spot, { rows: rows.length, columns: columns.length })
    const row = rows[spot.row]
    const wish = props.onCell === undefined ? null : wishOf(event)
    if (wish !== null) {
      setAt(spot)
      onCell(wish, spot)
      // What it opens closes by keys, of which this is none.
      event.stopPropagation()
    } else if (to !== null) goTo(to)
    else if (isOpening(event) && row !== undefined) onOpen?.(row)
    else return
    event.preventDefault()
  }
  return (
    <div
      ref={box}
      className="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={more ? -1 : rows.length + 1}
      aria-colcount={columns.length}
      tabIndex={items.some(({ index }) => index === at.row) ? -1 : 0}
      style={{ height: Math.min(rows.length, 1000) * rowHeight + 34 }}
      onKeyDown={onKeyDown}
      onContextMenu={(event) => {
        const spot = props.onCell === undefined ? null : spotIn(event.target)
        if (spot === null) return
        event.preventDefault()
        setAt(spot)
        onCell('menu', spot)
      }}
    >
      <Head columns={columns} onWidth={props.onWidth} />
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {items.map(({ index, start }) => {
          const row = rows[index]
          if (row === undefined) return null
          const openRow = () => {
            setAt((former) => ({ ...former, row: index }))
            onOpen?.(row)
          }
          return (
            <GridRow
              key={idOf(row)}
              {...props}
              rowHeight={rowHeight}
              row={row}
              index={index}
              start={start}
              tabColumn={index === at.row ? at.column : null}
              onClick={openRow}
            />
          )
        })}
      </div>
    </div>
  )
}

interface HeadProps<Row> extends Pick<DataGridProps<Row>, 'columns'> {
  readonly onWidth: DataGridProps<Row>['onWidth']
}

const [narrowest, widest] = [48, 800]
const boundWidth = (width: number): number => Math.max(narrowest, Math.min(widest, Math.round(width)))

/** Follows the pointer from the edge of a column until it is let go. */
function draw(event: PointerEvent<HTMLElement>, width: number, onWidth: (width: number) => void): void {
  const edge: HTMLElement = event.currentTarget
  const { clientX: from, pointerId } = event
  edge.setPointerCapture(pointerId)
  edge.onpointerup = ({ clientX: to }) => {
    edge.onpointerup = null
    onWidth(boundWidth(width + to - from))
  }
}

function Head<Row>({ columns, onWidth }: HeadProps<Row>) {
  return (
    <div role="rowgroup" className="grid-head">
      <div role="row" aria-rowindex={1} className="grid-head">
        {columns.map(({ id, label, width, end }) => (
          <div key={id} role="columnheader" className={end === true ? 'cell end' : 'cell'} style={{ width, height: 32 }}>
            {label}
            {onWidth !== undefined && (
              <span className="edge" aria-hidden="true" onPointerDown={(event) => draw(event, width, (to) => onWidth(id, to))} />
            )}
          </div>
        ))}
      </div>
    </div>
  )
}

interface GridRowProps<Row> extends DataGridProps<Row> {
  readonly row: Row
  readonly index: number
  readonly start: number
  /** The column of the cell that the tab key reaches; null: none of this row. */
  readonly tabColumn: number | null
  readonly onClick: () => void
}

function GridRow<Row>({ columns, row, index, start, tabColumn, idOf, selected = null, rowHeight = 32, onClick }: GridRowProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={idOf(row) === selected}
      className="grid-row"
      style={{ height: rowHeight, transform: `translateY(${start}px)` }}
      onClick={onClick}
    >
      {columns.map(({ id, width, end, cell }, column) => (
        <div
          key={id}
          role="gridcell"
          data-at={`${index}/${column}`}
          tabIndex={column === tabColumn ? 0 : -1}
          className={end === true ? 'cell end' : 'cell'}
          style={{ width }}
        >
          <span>{cell(row)}</span>
        </div>
      ))}
    </div>
  )
}

interface Spot {
  readonly row: number
  readonly column: number
}

const page = 20
const moves: Readonly<Record<string, (at: Spot, size: { rows: number; columns: number }) => readonly [row: number, column: number]>> = {
  ArrowDown: ({ row, column }) => [row + 1, column],
  ArrowUp: ({ row, column }) => [row - 1, column],
  ArrowRight: ({ row, column }) => [row, column + 1],
  ArrowLeft: ({ row, column }) => [row, column - 1],
  j: ({ row, column }) => [row + 1, column],
  k: ({ row, column }) => [row - 1, column],
  PageDown: ({ row, column }) => [row + page, column],
  PageUp: ({ row, column }) => [row - page, column],
  Home: ({ column }) => [0, column],
  End: ({ column }, { rows }) => [rows - 1, column],
}

const clamp = (value: number, length: number): number => Math.max(0, Math.min(length - 1, value))

/** Keys with Ctrl or Alt belong to the browser, and those on a control in a cell to the control. */
const isOurs = ({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean =>
  !(ctrlKey || metaKey || altKey || (target instanceof Element && target.closest('button, input, select') !== null))

/** Returns what a key asks for a cell; null: nothing. */
function wishOf(event: KeyboardEvent): CellWish | null {
  if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) return 'menu'
  return event.key === 'f' && isOurs(event) ? 'filter' : null
}

/** Returns the cell that an element is in; null: it is in none. */
function spotIn(target: EventTarget): Spot | null {
  const [row, column] = ((target instanceof Element ? target.closest<HTMLElement>('[data-at]')?.dataset['at'] : null) ?? '').split('/')
  return row === undefined || column === undefined ? null : { row: Number(row), column: Number(column) }
}

const isOpening = (event: KeyboardEvent): boolean => event.key === 'Enter' && isOurs(event)

/** Returns the cell to which a key leads; null: it leads to none. */
function spotAfter(event: KeyboardEvent, at: Spot, size: { readonly rows: number; readonly columns: number }): Spot | null {
  const move = isOurs(event) ? moves[event.key] : undefined
  if (move === undefined) return null
  const [row, column] = move(at, size)
  return { row: clamp(row, size.rows), column: clamp(column, size.columns) }
}
