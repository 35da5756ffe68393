import { BoundedBy } from '../../parts/bounded-by.tsx'
import { Facts } from '../../parts/facts.tsx'
import { rateWords } from '../../parts/form/rates-field.tsx'
import { BudgetMeter } from '../../parts/meter.tsx'
import { TimeOf } from '../../parts/time-of.tsx'
import { budgetOf, type Key } from './columns.tsx'
import { kindWords } from './kinds.ts'

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

const overrideWords = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'requests may name other configs' : 'requests use the default config alone') : ''

const timeOr = (iso: string | null | undefined, otherwise: string) => (iso ? <TimeOf iso={iso} /> : otherwise)

/** One key in facts: its owner, its rights, its budget and the bounds above it. */
export function KeySummary({ apiKey }: { readonly apiKey: Key }) {
  const { usage, bounded_by: bounds = [] } = apiKey
  return (
    <>
      {usage && <BudgetMeter name={apiKey.name} usage={usage} type={apiKey.usage_limits?.type ?? 'cost'} />}
      <Facts facts={[...ownFacts(apiKey), ...boundFacts(apiKey), ...defaultFacts(apiKey), ['Scopes', apiKey.scopes.join(', ')]]} />
      {bounds.length > 0 && <BoundedBy bounds={bounds} />}
    </>
  )
}

type FactRows = Parameters<typeof Facts>[0]['facts']

const ownFacts = (key: Key): FactRows => [
  ['Key', key.key.replace('...', '…')],
  ['Kind', kindWords[key.type]],
  ['Owner', key.owner_name],
  ['Description', key.description],
  ['Last used', timeOr(key.last_used_at, 'never')],
  ['Made', <TimeOf key="made" iso={key.created_at} />],
  ['Expires', timeOr(key.expires_at, 'never')],
  ['Rotation due', timeOr(key.rotation_policy?.next_rotation_at, '')],
]

const boundFacts = (key: Key): FactRows => [
  ['Budget', budgetOf(key)],
  ['Budget resets', timeOr(key.usage?.resets_at, '')],
  ['Runs out', timeOr(key.usage?.runs_out_at, '')],
  ['Alerts to', key.alert_emails.join(', ')],
  ['Rates', key.rate_limits?.map(rateWords).join(', ')],
]

function defaultFacts({ defaults }: Key): FactRows {
  const { config_id: config, allow_config_override: override, metadata } = defaults
  const pairs = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : []
  return [
    ['Default config', textIn(config)],
    ['Configs', overrideWords(override)],
    ['Metadata', pairs.map(([name, value]) => `${name}=${String(value)}`).join(', ')],
  ]
}
