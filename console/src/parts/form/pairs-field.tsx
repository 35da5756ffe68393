import { Button, TextInput } from '@mantine/core'
import { useField } from './faults.tsx'

export type Pair = readonly [name: string, value: string]

interface PairsFieldProps {
  readonly path: string
  readonly pairs: readonly Pair[]
  readonly onChange: (pairs: readonly Pair[]) => void
}

/** Names with values, one pair a row. */
export function PairsField({ path, pairs, onChange }: PairsFieldProps) {
  const { id, label, error } = useField(path)
  const set = (at: number, pair: Pair) => onChange(pairs.map((one, index) => (index === at ? pair : one)))
  return (
    <fieldset className="stack plain-fields" id={id} tabIndex={-1}>
      <legend>{label} (optional)</legend>
      {error !== undefined && <p className="fault danger chip">{error}</p>}
      {pairs.map(([name, value], at) => (
        <div className="row" key={at}>
          <TextInput label={`Name ${at + 1}`} value={name} onChange={(event) => set(at, [event.currentTarget.value, value])} />
          <TextInput label={`Value ${at + 1}`} value={value} onChange={(event) => set(at, [name, event.currentTarget.value])} />
          <Button variant="default" aria-label={`Remove pair ${at + 1}`} onClick={() => onChange(pairs.filter((_, index) => index !== at))}>
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button variant="default" aria-label={`Add to ${label.toLowerCase()}`} onClick={() => onChange([...pairs, ['', '']])}>
          Add
        </Button>
      </div>
    </fieldset>
  )
}

export const pairsOf = (object: Readonly<Record<string, unknown>>): readonly Pair[] =>
  Object.entries(object).map(([name, value]) => [name, String(value)])

/** Returns the object that the pairs mean; a pair without a name counts for nothing. */
export const objectOf = (pairs: readonly Pair[]): Readonly<Record<string, string>> =>
  Object.fromEntries(pairs.filter(([name]) => name.trim() !== '').map(([name, value]) => [name.trim(), value]))
