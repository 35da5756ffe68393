import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useRead } from '../../api/query.ts'
import { BudgetFields } from '../../parts/form/budget-field.tsx'
import { ExpiryField } from '../../parts/form/expiry-field.tsx'
import { useField } from '../../parts/form/faults.tsx'
import { PairsField } from '../../parts/form/pairs-field.tsx'
import { RatesField } from '../../parts/form/rates-field.tsx'
import { ScopePicker } from '../../parts/form/scope-picker.tsx'
import { isOn } from '../../shell/places.ts'
import { may, type Scope } from '../../shell/scope.ts'
import type { KeyValues } from './key-values.ts'
import { groupsOf, scopesOf, type Catalogue, type KeyType } from './kinds.ts'

export interface KeyFieldsProps {
  readonly values: KeyValues
  readonly set: (change: Partial<KeyValues>) => void
  readonly scope: Scope
}

/** The name of a key. */
export const NameField = ({ values, set }: KeyFieldsProps) => (
  <TextInput
    {...useField('name')}
    data-autofocus
    required
    maxLength={255}
    value={values.name}
    onChange={(event) => set({ name: event.currentTarget.value })}
  />
)

/** What a key is for, in the words of its maker. */
export const DescriptionField = ({ values, set }: KeyFieldsProps) => (
  <TextInput
    {...useField('description')}
    description="Optional"
    value={values.description}
    onChange={(event) => set({ description: event.currentTarget.value })}
  />
)

interface ScopeFieldsProps extends KeyFieldsProps {
  readonly catalogue: Catalogue
  readonly type: KeyType
}

/** The rights of a key: sets that go together, and each by itself. */
export function ScopeFields({ values, set, scope, catalogue, type }: ScopeFieldsProps) {
  const presets = catalogue.presets.filter((preset) => scopesOf(preset, type, scope).length > 0)
  return (
    <fieldset className="stack plain-fields">
      <legend>May do</legend>
      <div className="row">
        {presets.map((preset) => (
          <Button
            key={preset.id}
            variant="default"
            title={preset.description}
            onClick={() => set({ scopes: scopesOf(preset, type, scope) })}
          >
            {preset.title}
          </Button>
        ))}
      </div>
      <ScopePicker groups={groupsOf(catalogue, type, scope)} chosen={values.scopes} onChange={(scopes) => set({ scopes })} />
    </fieldset>
  )
}

const units = ['rps', 'rpm', 'rph', 'rpd', 'rpw']

interface BoundFieldsProps extends KeyFieldsProps {
  readonly canKeep?: boolean
}

/** The budget, the rates and the end of a key. */
export const BoundFields = ({ values, set, canKeep = false }: BoundFieldsProps) => (
  <>
    <BudgetFields budget={values.budget} onChange={(change) => set({ budget: { ...values.budget, ...change } })} />
    <ExpiryField expiry={values.expiry} canKeep={canKeep} onChange={(change) => set({ expiry: { ...values.expiry, ...change } })} />
    <RatesField rates={values.rates} units={units} onChange={(rates) => set({ rates })} />
    <TextInput
      {...useField('alert_emails')}
      description="E-mail addresses, separated by commas; optional"
      autoComplete="off"
      value={values.emails}
      onChange={(event) => set({ emails: event.currentTarget.value })}
    />
  </>
)

const overrideChoices = [
  { value: '', label: 'As usual: requests may name others' },
  { value: 'yes', label: 'Requests may name others' },
  { value: 'no', label: 'Requests use the default one alone' },
]

/** What the requests of a key start from: config and metadata. */
export function DefaultFields({ values, set, scope }: KeyFieldsProps) {
  const isListed = scope.kind === 'workspace' && may(scope, 'configs.list') && isOn({ feature: 'configs' }, scope)
  const { data } = useRead(
    'GET /configs',
    { workspace: scope.workspace, query: { page_size: 100, ...(scope.workspace !== undefined && { workspace_id: scope.workspace }) } },
    { enabled: isListed },
  )
  return (
    <>
      <TextInput
        {...useField('defaults.config_id')}
        description="The slug of a config; optional"
        list="configs"
        autoComplete="off"
        value={values.config}
        onChange={(event) => set({ config: event.currentTarget.value })}
      />
      <datalist id="configs">
        {(data?.data ?? []).map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </datalist>
      <NativeSelect
        {...useField('defaults.allow_config_override')}
        data={overrideChoices}
        value={values.override}
        onChange={(event) => set({ override: event.currentTarget.value as KeyValues['override'] })}
      />
      <PairsField path="defaults.metadata" pairs={values.metadata} onChange={(metadata) => set({ metadata })} />
    </>
  )
}

const periodChoices = [
  { value: '', label: 'Not planned' },
  { value: 'weekly', label: 'Each week' },
  { value: 'monthly', label: 'Each month' },
]

/** Clients need at least half an hour to take up a new key. */
export const transitions = [
  { value: '1800000', label: 'Half an hour' },
  { value: '3600000', label: '1 hour' },
  { value: '86400000', label: '24 hours' },
  { value: '604800000', label: '7 days' },
]

/** How often a rotation of a key is due, and how long the old one serves on then. */
export function RotationFields({ values, set }: KeyFieldsProps) {
  const known = ['', ...transitions.map(({ value }) => value)].includes(values.transition)
  const own = known ? [] : [{ value: values.transition, label: `${Number(values.transition) / 60_000} minutes` }]
  return (
    <div className="row start">
      <NativeSelect
        {...useField('rotation_policy.rotation_period')}
        data={periodChoices}
        value={values.period}
        onChange={(event) => set({ period: event.currentTarget.value as KeyValues['period'] })}
      />
      <NativeSelect
        {...useField('rotation_policy.key_transition_period_ms')}
        data={[{ value: '', label: 'As usual: half an hour' }, ...transitions, ...own]}
        value={values.transition}
        onChange={(event) => set({ transition: event.currentTarget.value })}
      />
    </div>
  )
}
