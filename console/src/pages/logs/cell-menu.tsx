import { useState } from 'react'
import { ActionMenu } from '../../parts/action-menu.tsx'
import type { CellWish, GridCell } from '../../parts/data-grid.tsx'
import type { LogColumn } from './columns.tsx'
import { withTerm } from './filter.ts'
import type { Row } from './use-tail.ts'

interface CellMenuProps {
  readonly columns: readonly LogColumn[]
  /** The text of the filter. */
  readonly text: string
  readonly onChange: (text: string) => void
}

/** The menu of a cell, and what opens it. */
export function useCellMenu({ columns, text, onChange }: CellMenuProps) {
  const [cell, setCell] = useState<GridCell<Row> | null>(null)
  const [said, setSaid] = useState('')
  const termOf = ({ row, column }: GridCell<Row>) => {
    const found = columns.find(({ id }) => id === column)
    const term = found?.termOf?.(row) ?? null
    // A comma separates values in the filter, so that a value with one cannot be asked for.
    return term === null || term[1].includes(',') ? null : { field: term[0], value: term[1], canLeaveOut: found?.onlyKept !== true }
  }
  const close = () => {
    cell?.element.focus()
    setCell(null)
  }
  const onCell = (wish: CellWish, on: GridCell<Row>) => {
    if (wish === 'menu') {
      setCell(on)
      return
    }
    const term = termOf(on)
    if (term === null) setSaid('There is no filter for this cell.')
    else onChange(withTerm(text, term.field, term.value))
  }
  const copy = (value: string) =>
    void copyText(value).then(
      () => setSaid('Copied.'),
      () => setSaid('It could not be copied.'),
    )
  const menu = (
    <>
      <span role="status" className="hidden">
        {said}
      </span>
      {cell !== null && <CellMenu cell={cell} term={termOf(cell)} text={text} onChange={onChange} onCopy={copy} onClose={close} />}
    </>
  )
  return { menu, onCell }
}

async function copyText(text: string): Promise<void> {
  if (navigator.clipboard === undefined) throw new Error('no clipboard')
  await navigator.clipboard.writeText(text)
}

interface OpenMenuProps extends Pick<CellMenuProps, 'text' | 'onChange'> {
  readonly cell: GridCell<Row>
  readonly term: { readonly field: string; readonly value: string; readonly canLeaveOut: boolean } | null
  readonly onCopy: (text: string) => void
  readonly onClose: () => void
}

function CellMenu({ cell, term, text, onChange, onCopy, onClose }: OpenMenuProps) {
  const filter = (field: string) => term !== null && onChange(withTerm(text, field, term.value))
  return (
    <ActionMenu
      label="Cell"
      below={cell.element}
      onClose={onClose}
      actions={[
        { label: 'Filter for this', disabled: term === null, run: () => filter(term?.field ?? '') },
        { label: 'Filter out', disabled: term?.canLeaveOut !== true, run: () => filter(`-${term?.field ?? ''}`) },
        { label: 'Copy', disabled: false, run: () => onCopy(cell.element.textContent.trim()) },
      ]}
    />
  )
}
