import { NativeSelect, TextInput } from '@mantine/core'
import { distance } from '../../api/figures.ts'
import { useField } from './faults.tsx'

/** When something ends, as it is typed. */
export interface TypedExpiry {
  /** `kept`, `never`, `date`, or a number of days from now. */
  readonly choice: string
  /** A moment in UTC as the browser's field has it: `2026-12-31T12:00`. */
  readonly date: string
  /** What is stored; null: it does not end. */
  readonly stored: string | null
}

export const noExpiry: TypedExpiry = { choice: 'never', date: '', stored: null }
export const keptExpiry = (stored: string | null): TypedExpiry => ({ choice: 'kept', date: stored?.slice(0, 16) ?? '', stored })

const dayMs = 86_400_000
const spans = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'At a date' },
]

/** Returns the moment that the fields mean; null: never; undefined: as it is. */
export function expiryOf({ choice, date }: TypedExpiry): string | null | undefined {
  if (choice === 'kept') return undefined
  if (choice === 'never') return null
  return choice === 'date' ? new Date(`${date}Z`).toISOString() : new Date(Date.now() + Number(choice) * dayMs).toISOString()
}

interface ExpiryFieldProps {
  readonly expiry: TypedExpiry
  readonly onChange: (change: Partial<TypedExpiry>) => void
  /** True for something stored, which can stay as it is. */
  readonly canKeep?: boolean
}

/** When something stops by itself. */
export function ExpiryField({ expiry, onChange, canKeep = false }: ExpiryFieldProps) {
  const field = useField('expires_at')
  const { stored } = expiry
  const kept = { value: 'kept', label: `As it is: ${stored === null ? 'never' : distance(stored)}` }
  return (
    <div className="row start">
      <NativeSelect
        {...field}
        description="Then it stops"
        data={canKeep ? [kept, ...spans] : spans}
        value={expiry.choice}
        onChange={(event) => onChange({ choice: event.currentTarget.value })}
      />
      {expiry.choice === 'date' && (
        <TextInput
          label="Date and time"
          description="In UTC"
          type="datetime-local"
          required
          value={expiry.date}
          onChange={(event) => onChange({ date: event.currentTarget.value })}
        />
      )}
    </div>
  )
}
