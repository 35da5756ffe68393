import { Button, Checkbox, Modal, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { metadataColumn, type LogColumn } from './columns.tsx'
import type { Columns } from './use-columns.ts'

/** Opens the choice of columns, their order and widths, which this browser keeps. */
export function ColumnChooser({ columns }: { readonly columns: Columns }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Columns
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Columns" closeButtonProps={{ 'aria-label': 'Close' }}>
        <Choice columns={columns} />
      </Modal>
    </>
  )
}

function Choice({ columns: { shown, others, show, setWidth, reset } }: { readonly columns: Columns }) {
  const ids = shown.map(({ id }) => id)
  const move = (from: number, to: number) => show(ids.toSpliced(from, 1).toSpliced(to, 0, ids[from] ?? ''))
  return (
    <div className="stack">
      <ol className="plain-list" aria-label="Shown columns">
        {shown.map((column, at) => (
          <li key={column.id} className="row">
            <Checkbox
              className="grows"
              label={column.label}
              checked
              disabled={ids.length === 1}
              onChange={() => show(ids.filter((id) => id !== column.id))}
            />
            <Width column={column} onChange={(width) => setWidth(column.id, width)} />
            <Button variant="default" aria-label={`Move ${column.label} forward`} disabled={at === 0} onClick={() => move(at, at - 1)}>
              ↑
            </Button>
            <Button
              variant="default"
              aria-label={`Move ${column.label} back`}
              disabled={at === ids.length - 1}
              onClick={() => move(at, at + 1)}
            >
              ↓
            </Button>
          </li>
        ))}
      </ol>
      <ul className="plain-list" aria-label="Other columns">
        {others.map(({ id, label }) => (
          <li key={id}>
            <Checkbox label={label} checked={false} onChange={() => show([...ids, id])} />
          </li>
        ))}
      </ul>
      <Metadata onAdd={(id) => show([...ids, id])} />
      <div className="row">
        <Button variant="default" onClick={reset}>
          Usual columns
        </Button>
      </div>
    </div>
  )
}

const widthStep = 10

const Width = ({ column: { label, width }, onChange }: { readonly column: LogColumn; readonly onChange: (width: number) => void }) => (
  <TextInput
    className="width"
    type="number"
    step={widthStep}
    aria-label={`Width of ${label}`}
    value={width}
    onChange={(event) => onChange(Number(event.currentTarget.value))}
  />
)

function Metadata({ onAdd }: { readonly onAdd: (id: string) => void }) {
  const [key, setKey] = useState('')
  const column = metadataColumn(`metadata.${key}`)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (column === null) return
    onAdd(column.id)
    setKey('')
  }
  return (
    <form className="row" onSubmit={submit}>
      <TextInput label="A key of metadata" value={key} onChange={(event) => setKey(event.currentTarget.value)} />
      <Button type="submit" variant="default" disabled={column === null}>
        Add column
      </Button>
    </form>
  )
}
