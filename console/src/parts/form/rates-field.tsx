import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useField } from './faults.tsx'

/** A bound on how fast something may be used, as it is typed. */
export interface TypedRate {
  readonly type: string
  readonly unit: string
  readonly value: string
}

const types = [
  { value: 'requests', label: 'requests' },
  { value: 'tokens', label: 'tokens' },
]

const unitNames: Readonly<Record<string, string>> = {
  rps: 'a second',
  rpm: 'a minute',
  rph: 'an hour',
  rpd: 'a day',
  rpw: 'a week',
}

interface RatesFieldProps {
  readonly rates: readonly TypedRate[]
  /** The units that the limited thing can have. */
  readonly units: readonly string[]
  readonly onChange: (rates: readonly TypedRate[]) => void
  /** The most rates that it can have. */
  readonly most?: number
}

/** The rates of a key or a provider, one a row. */
export function RatesField({ rates, units, onChange, most = 20 }: RatesFieldProps) {
  const { id, label, error } = useField('rate_limits')
  const set = (at: number, change: Partial<TypedRate>) => onChange(rates.map((one, index) => (index === at ? { ...one, ...change } : one)))
  const offered = units.map((value) => ({ value, label: unitNames[value] ?? value }))
  return (
    <fieldset className="stack plain-fields" id={id} tabIndex={-1}>
      <legend>{label} (optional)</legend>
      {error !== undefined && <p className="fault danger chip">{error}</p>}
      {rates.map(({ type, unit, value }, at) => (
        <div className="row" key={at}>
          <TextInput
            label={`Rate ${at + 1}`}
            inputMode="numeric"
            pattern="\d+"
            required
            value={value}
            onChange={(event) => set(at, { value: event.currentTarget.value })}
          />
          <NativeSelect
            label={`Counts ${at + 1}`}
            data={types}
            value={type}
            onChange={(event) => set(at, { type: event.currentTarget.value })}
          />
          <NativeSelect
            label={`In ${at + 1}`}
            data={offered}
            value={unit}
            onChange={(event) => set(at, { unit: event.currentTarget.value })}
          />
          <Button variant="default" aria-label={`Remove rate ${at + 1}`} onClick={() => onChange(rates.filter((_, index) => index !== at))}>
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button
          variant="default"
          disabled={rates.length >= most}
          onClick={() => onChange([...rates, { type: 'requests', unit: 'rpm', value: '' }])}
        >
          Add rate
        </Button>
      </div>
    </fieldset>
  )
}

interface Rate {
  readonly type: string
  readonly unit: string
  readonly value: number
}

export const typedRates = (rates: readonly Rate[] | null): readonly TypedRate[] =>
  (rates ?? []).map(({ type, unit, value }) => ({ type, unit, value: String(value) }))

/** Returns the rates that the rows mean; null: none. */
export const ratesOf = <R extends Rate>(rows: readonly TypedRate[]): readonly R[] | null =>
  rows.length === 0 ? null : rows.map(({ type, unit, value }) => ({ type, unit, value: Number(value) }) as R)

/** Returns a rate in words: `600 requests a minute`. */
export const rateWords = ({ type, unit, value }: Rate): string => `${value.toLocaleString('en')} ${type} ${unitNames[unit] ?? unit}`
