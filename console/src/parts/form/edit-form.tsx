import { Button } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { distance } from '../../api/figures.ts'
import { visible } from '../text-of-data.tsx'
import type { Edit, Values } from './edit.ts'
import { FaultList, Faulty, type Labels } from './faults.tsx'
import { LeaveGuard } from './leave-guard.tsx'

interface EditFormProps<V extends Values> {
  readonly edit: Edit<V>
  readonly labels: Labels
  /** The label of a value for a conflict. */
  readonly nameOf: (field: keyof V & string) => string
  /** A value in words for a conflict. */
  readonly wordsOf?: (value: unknown) => string
  /** When somebody else stored the version that is the base now. */
  readonly changedAt: string
  readonly children: ReactNode
  /** Further reasons for which nothing can be stored. */
  readonly disabled?: boolean
}

/** A form over something stored: its fields, its faults, the changes of others, and the buttons. Leaving it with changes asks first. */
export function EditForm<V extends Values>(props: EditFormProps<V>) {
  const { edit, labels, children, disabled = false } = props
  const submit = (event: FormEvent) => {
    event.preventDefault()
    edit.save()
  }
  return (
    <Faulty error={edit.error} labels={labels}>
      <form className="stack form" onSubmit={submit}>
        {children}
        <Conflicts {...props} />
        <FaultList />
        <div className="row">
          <Button type="submit" disabled={disabled || edit.changed.length === 0 || edit.conflicts.length > 0 || edit.isSaving}>
            {edit.isSaving ? 'Saving…' : 'Save'}
          </Button>
          <Button variant="default" disabled={edit.changed.length === 0} onClick={edit.reset}>
            Cancel
          </Button>
          <span className="hint">{countOf(edit.changed.length)}</span>
        </div>
      </form>
      <LeaveGuard count={edit.isSaving ? 0 : edit.changed.length} />
    </Faulty>
  )
}

const countOf = (changes: number): string => (changes === 0 ? '' : changes === 1 ? '1 change' : `${changes} changes`)

const plain = (value: unknown): string =>
  value === '' || value === null ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value)

/** What somebody else has stored in the meantime, field by field. */
function Conflicts<V extends Values>({ edit, nameOf, wordsOf = plain, changedAt }: EditFormProps<V>) {
  const { conflicts, taken, decide } = edit
  if (conflicts.length === 0 && taken.length === 0) return null
  return (
    <section role="alert" className="state" aria-label="Changed by somebody else">
      <h2>Somebody changed this {distance(changedAt)}.</h2>
      {taken.length > 0 && <p>Now also changed here: {taken.map(nameOf).join(', ')}.</p>}
      <ul className="plain-list">
        {conflicts.map(({ field, mine, theirs }) => (
          <li key={field}>
            <p>
              {nameOf(field)}: theirs is <ins className="text-of-data">{visible(wordsOf(theirs))}</ins>, yours{' '}
              <ins className="text-of-data">{visible(wordsOf(mine))}</ins>
            </p>
            <div className="row">
              <Button variant="default" aria-label={`Keep mine: ${nameOf(field)}`} onClick={() => decide(field, 'mine')}>
                Keep mine
              </Button>
              <Button variant="default" aria-label={`Take theirs: ${nameOf(field)}`} onClick={() => decide(field, 'theirs')}>
                Take theirs
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {conflicts.length === 0 && <p>Save again to store your changes over it.</p>}
    </section>
  )
}
