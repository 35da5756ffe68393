import { Button, TextInput } from '@mantine/core'
import { useEffect, useState, type FormEvent, type KeyboardEvent } from 'react'
import { withoutTerm } from './filter.ts'

interface FilterBarProps {
  readonly text: string
  readonly terms: readonly string[]
  readonly faults: readonly { readonly text: string; readonly reason: string }[]
  readonly onChange: (text: string) => void
}

/** The text of the filter, and a chip for each of its terms. */
export function FilterBar({ text, terms, faults, onChange }: FilterBarProps) {
  const [typed, setTyped] = useState(text)
  useEffect(() => setTyped(text), [text])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChange(typed.trim())
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setTyped(text)
  }
  return (
    <form role="search" aria-label="Filter" className="stack" onSubmit={submit}>
      <TextInput
        aria-label="Filter"
        placeholder='status:5xx model:gpt-4o cost:>0.1 metadata.team:search "exact words"'
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {terms.length > 0 && (
        <div className="row">
          {terms.map((term, at) => (
            <Button
              key={`${at}${term}`}
              variant="default"
              size="compact-sm"
              aria-label={`Remove ${term}`}
              onClick={() => onChange(withoutTerm(text, at))}
            >
              <span className={faults.some((one) => one.text === term) ? 'text-of-data danger' : 'text-of-data'}>{term}</span>&nbsp;×
            </Button>
          ))}
        </div>
      )}
      {faults.map(({ text: term, reason }) => (
        <p key={term} role="alert" className="chip danger fault">
          <span className="text-of-data">{term}</span>: {reason}
        </p>
      ))}
    </form>
  )
}
