import { Checkbox, NativeSelect, PasswordInput, TextInput } from '@mantine/core'
import type { Answer } from '../../api/client.ts'

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

function typed({ kind }: Field, value: string): unknown {
  if (kind === 'boolean') return value === 'true'
  if (kind === 'list') return value.split(',').map((part) => part.trim())
  return value
}

interface ProviderFieldsProps {
  readonly provider: CatalogueProvider
  readonly values: FieldValues
  readonly onChange: (values: FieldValues) => void
}

/** The fields of a provider, made from the catalogue: the needed ones, and the others folded. Objects are left to the API. */
export function ProviderFields({ provider, values, onChange }: ProviderFieldsProps) {
  const shown = provider.fields.filter(({ kind }) => kind !== 'object')
  const needed = shown.filter((field) => isNeeded(field, provider, values))
  const others = shown.filter((field) => !needed.includes(field))
  const input = (field: Field) => (
    <FieldInput
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
  readonly onChange: (value: string) => void
}

const labelOf = (name: string): string => name.replaceAll('_', ' ').replace(/^./, (sign) => sign.toUpperCase())

function FieldInput({ field: { name, kind, secret, choices }, value, onChange }: FieldInputProps) {
  const label = labelOf(name)
  if (kind === 'choice')
    return (
      <NativeSelect label={label} value={value} data={['', ...(choices ?? [])]} onChange={(event) => onChange(event.currentTarget.value)} />
    )
  if (kind === 'boolean')
    return <Checkbox label={label} checked={value === 'true'} onChange={(event) => onChange(String(event.currentTarget.checked))} />
  if (secret)
    return <PasswordInput label={label} autoComplete="off" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
  return (
    <TextInput
      label={label}
      description={kind === 'list' ? 'Comma-separated' : undefined}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
