import { distance } from '../../api/figures.ts'
import type { Item } from '../../api/list.ts'
import { amountOf, spentOf } from '../../parts/amounts.ts'
import type { Column } from '../../parts/data-grid.tsx'
import { lifeOf, Status } from '../../parts/status.tsx'
import { kindWords } from './kinds.ts'

export type Key = Item<'GET /api-keys'>

/** The columns of the list of keys. */
export const columns: readonly Column<Key>[] = [
  { id: 'name', label: 'Name', width: 200, cell: (key) => key.name },
  { id: 'key', label: 'Key', width: 110, cell: (key) => key.key.replace('...', '…') },
  { id: 'owner', label: 'Owner', width: 180, cell: (key) => key.owner_name ?? '–' },
  { id: 'kind', label: 'Kind', width: 110, cell: (key) => kindWords[key.type] },
  { id: 'status', label: 'Status', width: 110, cell: (key) => <Status {...lifeOf(key.status)} /> },
  { id: 'scopes', label: 'Scopes', width: 80, end: true, cell: (key) => String(key.scopes.length) },
  { id: 'used', label: 'Last used', width: 110, cell: (key) => (key.last_used_at ? distance(key.last_used_at) : 'never') },
  { id: 'budget', label: 'Budget', width: 210, cell: budgetOf },
  { id: 'expires', label: 'Expires', width: 100, cell: (key) => (key.expires_at === null ? '–' : distance(key.expires_at)) },
]

/** Returns the budget in words: its own, else the tightest of those above it. A key without a budget of its own is not called unlimited. */
export function budgetOf({ usage, usage_limits: own, bounded_by: above = [] }: Key): string {
  if (usage) return spentOf({ ...usage, type: own?.type ?? 'cost' })
  const [first] = above
  return first === undefined ? 'none here' : `within ${first.owner_name}: ${amountOf(first.limit - first.spent, first.type)} left`
}
