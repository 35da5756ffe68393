import { NativeSelect, TextInput } from '@mantine/core'
import { useField } from './faults.tsx'

/** A budget as it is typed. */
export interface TypedBudget {
  readonly type: string
  /** Empty: there is no budget. */
  readonly limit: string
  readonly alert: string
  /** `monthly`, `weekly`, `days`, or empty: it never starts again. */
  readonly resets: string
  readonly days: string
  readonly unpriced: string
  /** What is stored and not shown here, kept as it is. */
  readonly kept: Readonly<Record<string, unknown>>
  /** The former resets: with others the stored date of the next one has no meaning. */
  readonly former: string
}

export const noBudget: TypedBudget = {
  type: 'cost',
  limit: '',
  alert: '',
  resets: 'monthly',
  days: '',
  unpriced: '',
  kept: {},
  former: '',
}

interface Stored {
  readonly type?: string
  readonly credit_limit: number | null
  readonly alert_threshold: number | null
  readonly next_usage_reset_at: string | null
  readonly periodic_reset: string | null
  readonly periodic_reset_days: number | null
  readonly on_unpriced?: string
  readonly output_policy?: string
}

export function typedBudget(stored: Stored | null | undefined): TypedBudget {
  if (!stored) return noBudget
  const resets = stored.periodic_reset_days === null ? (stored.periodic_reset ?? '') : 'days'
  const days = String(stored.periodic_reset_days ?? '')
  return {
    type: stored.type ?? 'cost',
    limit: plain(stored.credit_limit),
    alert: plain(stored.alert_threshold),
    resets,
    days,
    unpriced: stored.on_unpriced ?? '',
    kept: {
      next_usage_reset_at: stored.next_usage_reset_at,
      ...(stored.output_policy !== undefined && { output_policy: stored.output_policy }),
    },
    former: resets + days,
  }
}

/** Decimal digits without an exponent. */
const plain = (value: number | null): string =>
  value === null ? '' : value.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 9 })

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text))

const periods = ['monthly', 'weekly'] as const

/** Returns the budget that the fields mean; null: none. */
export function budgetOfFields(budget: TypedBudget) {
  const { type, resets, days, kept, former } = budget
  const [limit, alert] = [numberOf(budget.limit), numberOf(budget.alert)]
  if (limit === null && alert === null) return null
  const isAsBefore = resets !== '' && resets + days === former
  const { next_usage_reset_at: next } = kept
  return {
    type: type as 'cost' | 'tokens' | 'requests',
    credit_limit: limit,
    alert_threshold: alert,
    periodic_reset: periods.find((one) => one === resets) ?? null,
    periodic_reset_days: resets === 'days' ? Number(days) : null,
    next_usage_reset_at: isAsBefore && typeof next === 'string' ? next : null,
    ...(type === 'cost' && moneyTerms(budget)),
  }
}

/** Returns how a budget in money treats what is not known before. */
const moneyTerms = ({ unpriced, kept: { output_policy: output } }: TypedBudget) => ({
  ...(unpriced !== '' && { on_unpriced: unpriced as 'deny' | 'allow' }),
  ...(typeof output === 'string' && { output_policy: output as 'typical' | 'strict' | 'inject' }),
})

/** The labels of the fields, by the paths of the API. */
export const budgetLabels = {
  'usage_limits.credit_limit': 'Limit',
  'usage_limits.alert_threshold': 'Tell at',
  'usage_limits.periodic_reset': 'Resets',
  'usage_limits.periodic_reset_days': 'Days',
  'usage_limits.on_unpriced': 'When unpriced',
}

const types = [
  { value: 'cost', label: 'US dollars' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'requests', label: 'Requests' },
]
const resetsOffered = [
  { value: 'monthly', label: 'Each month' },
  { value: 'weekly', label: 'Each week' },
  { value: 'days', label: 'Every some days' },
  { value: '', label: 'Never' },
]
const unpricedOffered = [
  { value: '', label: 'As usual: refuse' },
  { value: 'deny', label: 'Refuse' },
  { value: 'allow', label: 'Let through' },
]

interface BudgetFieldsProps {
  readonly budget: TypedBudget
  readonly onChange: (change: Partial<TypedBudget>) => void
}

/** A budget: how much, of what, when it starts again, and whom it tells before. */
export function BudgetFields({ budget, onChange }: BudgetFieldsProps) {
  const limit = useField('usage_limits.credit_limit')
  const alert = useField('usage_limits.alert_threshold')
  const resets = useField('usage_limits.periodic_reset')
  const days = useField('usage_limits.periodic_reset_days')
  const unpriced = useField('usage_limits.on_unpriced')
  const number = { inputMode: 'decimal', pattern: '\\d+(\\.\\d+)?' } as const
  return (
    <div className="row start">
      <TextInput
        {...limit}
        {...number}
        description="Optional"
        value={budget.limit}
        onChange={(event) => onChange({ limit: event.currentTarget.value })}
      />
      <NativeSelect
        label="Counts"
        description="What is bounded"
        data={types}
        value={budget.type}
        onChange={(event) => onChange({ type: event.currentTarget.value })}
      />
      <NativeSelect
        {...resets}
        description="In UTC"
        data={resetsOffered}
        value={budget.resets}
        onChange={(event) => onChange({ resets: event.currentTarget.value })}
      />
      {budget.resets === 'days' && (
        <TextInput
          {...days}
          description="1 to 365"
          required
          inputMode="numeric"
          pattern="\d+"
          value={budget.days}
          onChange={(event) => onChange({ days: event.currentTarget.value })}
        />
      )}
      <TextInput
        {...alert}
        {...number}
        description="Optional, below the limit"
        value={budget.alert}
        onChange={(event) => onChange({ alert: event.currentTarget.value })}
      />
      {budget.type === 'cost' && (
        <NativeSelect
          {...unpriced}
          description="Models without a price"
          data={unpricedOffered}
          value={budget.unpriced}
          onChange={(event) => onChange({ unpriced: event.currentTarget.value })}
        />
      )}
    </div>
  )
}
