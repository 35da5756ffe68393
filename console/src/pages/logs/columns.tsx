import { count, duration, listedCost, moment, type Zone } from '../../api/figures.ts'
import type { Column } from '../../parts/data-grid.tsx'
import { Status, statusOf } from '../../parts/status.tsx'
import type { Row } from './use-tail.ts'

/** The columns of the list of logs. */
export const columnsOf = (zone: Zone, withWorkspace: boolean): readonly Column<Row>[] => [
  {
    id: 'time',
    label: `Time (${zone === 'utc' ? 'UTC' : 'local'})`,
    width: 170,
    cell: (row) => <time dateTime={row.created_at}>{moment(row.created_at, zone)}</time>,
  },
  { id: 'status', label: 'Status', width: 210, cell: (row) => <Status {...statusOf(row)} /> },
  ...(withWorkspace ? [{ id: 'workspace', label: 'Workspace', width: 140, cell: (row: Row) => row.workspace_slug ?? '–' }] : []),
  { id: 'model', label: 'Model', width: 160, cell: (row) => row.ai_model ?? '–' },
  { id: 'provider', label: 'Provider', width: 140, cell: (row) => row.provider_name ?? row.ai_org ?? '–' },
  { id: 'key', label: 'Key', width: 150, cell: (row) => row.api_key_name ?? '–' },
  { id: 'time-taken', label: 'Time taken', width: 85, end: true, cell: (row) => duration(row.response_time) },
  { id: 'tokens', label: 'Tokens', width: 75, end: true, cell: (row) => (row.total_units === null ? '–' : count(row.total_units)) },
  { id: 'cost', label: 'Cost', width: 120, end: true, cell: (row) => listedCost(row.cost_pico_usd, row.cost_state) },
  { id: 'marks', label: 'Marks', width: 130, cell: marksOf },
]

/** Returns the words for what is special about a request. */
function marksOf({ attempts, cache_status: cache, guardrail, stream_mode: streams }: Row): string {
  const marks = [
    attempts.count > 1 ? `${attempts.count} attempts` : '',
    cache === 'HIT' || cache === 'SEMANTIC HIT' ? 'Cache hit' : '',
    guardrail === 'denied' ? 'Blocked' : guardrail === 'failed' ? 'Warned' : '',
    streams ? 'Stream' : '',
  ]
  return marks.filter(Boolean).join(', ')
}
