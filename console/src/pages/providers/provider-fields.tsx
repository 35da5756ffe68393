import { Button, Checkbox, NativeSelect, PasswordInput, TextInput } from '@mantine/core'
import type { Answer } from '../../api/client.ts'
import { useField } from '../../parts/form/faults.tsx'

export type CatalogueProvider = Answer<'GET /catalogue/providers'>['data'][number]
type Field = CatalogueProvider['fields'][number]

/** The typed values of the fields of a provider, by name. */
export type FieldValues = Readonly<Record<string, string>>

/** Returns the value of a field, or its default. */
const valueOf = ({ name, default: otherwise }: Field, values: FieldValues): string => values[name] ?? otherwise ?? ''

/** Returns true for a field that the chosen way to sign in to the provider needs. */
export const isNeeded = (field: Field, { fields }: CatalogueProvider, values: FieldValues): boolean =>
  field.required ||
  field.needed_with.some(({ field: name, value }) => {
    const other = fields.find((one) => one.name === name)
    return other !== undefined && valueOf(other, values) === value
  })

/** Returns the configuration that the values mean; fields that nobody filled are left out. */
export function configurationOf({ fields }: CatalogueProvider, values: FieldValues): Readonly<Record<string, unknown>> {
  const filled = fields.filter((field) => valueOf(field, values) !== '')
  return Object.fromEntries(filled.map((field) => [field.name, typed(field, valueOf(field, values))]))
}

/** Returns the value that a text means for a field. */
export function typed({ kind }: Field, value: string): unknown {
  if (kind === 'boolean') return value === 'true'
  if (kind === 'list') return value.split(',').map((part) => part.trim())
  return value
}

interface ProviderFieldsProps {
  readonly provider: CatalogueProvider
  readonly values: FieldValues
  readonly onChange: (values: FieldValues) => void
  /** The secret fields that are stored and never shown; they stay as they are until they are replaced. */
  readonly stored?: readonly string[]
}

/** The fields of a provider, made from the catalogue: the needed ones, and the others folded. Objects are left to the API. */
export function ProviderFields({ provider, values, onChange, stored = [] }: ProviderFieldsProps) {
  const shown = provider.fields.filter(({ kind }) => kind !== 'object')
  const needed = shown.filter((field) => isNeeded(field, provider, values))
  const others = shown.filter((field) => !needed.includes(field))
  const input = (field: Field) => (
    <FieldInput
      isStored={field.secret && stored.includes(field.name) && values[field.name] === undefined}
      key={field.name}
      field={field}
      value={valueOf(field, values)}
      onChange={(value) => onChange({ ...values, [field.name]: value })}
    />
  )
  return (
    <>
      {needed.map(input)}
      {others.length > 0 && (
        <details>
          <summary>More fields</summary>
          <div className="stack">{others.map(input)}</div>
        </details>
      )}
    </>
  )
}

interface FieldInputProps {
  readonly field: Field
  readonly value: string
  readonly isStored: boolean
  readonly onChange: (value: string) => void
}

/** Returns the label of a field of a provider. */
export const labelOf = (name: string): string => name.replaceAll('_', ' ').replace(/^./, (sign) => sign.toUpperCase())

function FieldInput({ field: { name, kind, secret, choices }, value, isStored, onChange }: FieldInputProps) {
  const { id, error } = useField(`configurations.${name}`)
  const label = labelOf(name)
  const common = { id, error, label, value }
  if (kind === 'choice')
    return <NativeSelect {...common} data={['', ...(choices ?? [])]} onChange={(event) => onChange(event.currentTarget.value)} />
  if (kind === 'boolean')
    return <Checkbox label={label} checked={value === 'true'} onChange={(event) => onChange(String(event.currentTarget.checked))} />
  if (secret) return <SecretField {...common} hint={isStored ? '' : null} onChange={onChange} />
  return (
    <TextInput
      {...common}
      description={kind === 'list' ? 'Comma-separated' : undefined}
      autoComplete="off"
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

interface SecretFieldProps {
  readonly id: string
  readonly label: string
  readonly error: string | undefined
  readonly value: string
  /** What may be shown of the stored secret; null: none is stored, or it is being replaced. */
  readonly hint: string | null
  readonly onChange: (value: string) => void
}

/** A secret, which is written and never shown: a stored one stays until it is replaced. */
export const SecretField = ({ hint, value, onChange, ...field }: SecretFieldProps) =>
  hint === null ? (
    <PasswordInput {...field} autoComplete="off" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
  ) : (
    <div className="row">
      <span>
        {field.label}: stored{hint === '' ? '' : `, ends in ${hint}`}
      </span>
      <Button id={field.id} variant="default" aria-label={`Replace ${field.label}`} onClick={() => onChange('')}>
        Replace
      </Button>
    </div>
  )
