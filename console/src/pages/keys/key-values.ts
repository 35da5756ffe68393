import type { Answer, Asked } from '../../api/client.ts'
import { budgetOfFields, noBudget, typedBudget, type TypedBudget } from '../../parts/form/budget-field.tsx'
import { expiryOf, keptExpiry, noExpiry, type TypedExpiry } from '../../parts/form/expiry-field.tsx'
import { objectOf, pairsOf, type Pair } from '../../parts/form/pairs-field.tsx'
import { ratesOf, typedRates, type TypedRate } from '../../parts/form/rates-field.tsx'

export type KeyDetail = Answer<'GET /api-keys/{id}'>
export type KeyChange = Asked<'PUT /api-keys/{id}'>['body']

/** The values of the form of a key. */
export type KeyValues = {
  readonly name: string
  readonly description: string
  readonly scopes: readonly string[]
  readonly budget: TypedBudget
  readonly rates: readonly TypedRate[]
  readonly expiry: TypedExpiry
  /** Separated by commas. */
  readonly emails: string
  readonly config: string
  /** Empty: as usual. */
  readonly override: '' | 'yes' | 'no'
  readonly metadata: readonly Pair[]
  /** How often a rotation is due; empty: none is planned. */
  readonly period: '' | 'weekly' | 'monthly'
  /** In milliseconds. */
  readonly transition: string
}

export const newKey: KeyValues = {
  name: '',
  description: '',
  scopes: [],
  budget: noBudget,
  rates: [],
  expiry: noExpiry,
  emails: '',
  config: '',
  override: '',
  metadata: [],
  period: '',
  transition: '',
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

/** Returns a stored key as the values of its form. */
export function valuesOf(key: KeyDetail): KeyValues {
  const { metadata, config_id: config, allow_config_override: override } = key.defaults
  const { rotation_period: period, key_transition_period_ms: transition } = key.rotation_policy ?? {}
  return {
    name: key.name,
    description: key.description ?? '',
    scopes: key.scopes,
    budget: typedBudget(key.usage_limits),
    rates: typedRates(key.rate_limits),
    expiry: keptExpiry(key.expires_at),
    emails: key.alert_emails.join(', '),
    config: typeof config === 'string' ? config : '',
    override: typeof override === 'boolean' ? (override ? 'yes' : 'no') : '',
    metadata: isFields(metadata) ? pairsOf(metadata) : [],
    period: period === 'weekly' || period === 'monthly' ? period : '',
    transition: typeof transition === 'number' ? String(transition) : '',
  }
}

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

const overrides = { '': null, yes: true, no: false } as const

type Writers = { readonly [Field in keyof KeyValues]: (value: KeyValues[Field], values: KeyValues) => KeyChange }

/** The fields of the API that the values mean. */
const writers: Writers = {
  name: (name) => ({ name }),
  description: (text) => ({ description: textOrNull(text) }),
  scopes: (scopes) => ({ scopes }),
  budget: (budget) => ({ usage_limits: budgetOfFields(budget) }),
  rates: (rates) => ({ rate_limits: ratesOf<NonNullable<KeyChange['rate_limits']>[number]>(rates) }),
  expiry(expiry) {
    const expires = expiryOf(expiry)
    return expires === undefined ? {} : { expires_at: expires }
  },
  emails: (emails) => ({ alert_emails: listOf(emails) }),
  config: (config) => ({ defaults: { config_id: textOrNull(config.trim()) } }),
  override: (override) => ({ defaults: { allow_config_override: overrides[override] } }),
  metadata: (pairs) => ({ defaults: { metadata: pairs.length === 0 ? null : objectOf(pairs) } }),
  period: (_, values) => ({ rotation_policy: rotationOf(values) }),
  transition: (_, values) => ({ rotation_policy: rotationOf(values) }),
}

const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text)

/** Returns the fields of the API for those values that were typed; defaults change one by one. */
export function bodyOf(typed: Partial<KeyValues>, values: KeyValues): KeyChange {
  const parts = (Object.keys(typed) as (keyof KeyValues)[]).map((field) => (writers[field] as Writer)(typed[field], values))
  const defaults = Object.assign({}, ...parts.map((part) => part.defaults)) as NonNullable<KeyChange['defaults']>
  const body = Object.assign({}, ...parts) as KeyChange
  return Object.keys(defaults).length === 0 ? body : { ...body, defaults }
}

type Writer = (value: unknown, values: KeyValues) => KeyChange

const rotationOf = ({ period, transition }: KeyValues) =>
  period === '' && transition === ''
    ? null
    : { rotation_period: period === '' ? null : period, key_transition_period_ms: transition === '' ? null : Number(transition) }

/** Returns the fields of a new key: those that differ from an empty form. */
export function newBodyOf(values: KeyValues): KeyChange {
  const differing = Object.entries(values).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(newKey[field as keyof KeyValues]),
  )
  const { usage_limits: budget, ...body } = bodyOf(Object.fromEntries(differing), values)
  return { ...body, ...(budget && { usage_limits: budget }) }
}
