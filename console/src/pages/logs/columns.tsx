import { bytes, count, duration, listedCost, moment, type Zone } from '../../api/figures.ts'
import type { Column } from '../../parts/data-grid.tsx'
import { Status, statusOf } from '../../parts/status.tsx'
import { visible } from '../../parts/text-of-data.tsx'
import type { Row } from './use-tail.ts'

/** A column of the list of logs. */
export interface LogColumn extends Column<Row> {
  /** It is shown until a person chooses others. */
  readonly usual: boolean
  /** The term of the filter for the value of a row; null: the row has none. */
  readonly termOf?: (row: Row) => readonly [field: string, value: string] | null
  /** A value of it cannot be left out. */
  readonly onlyKept?: true
}

const term =
  (field: string, value: (row: Row) => string | null) =>
  (row: Row): readonly [string, string] | null => {
    const text = value(row)
    return text === null || text === '' ? null : [field, text]
  }

const orNone = (text: string | null): string => (text === null ? '–' : visible(text))
const optional = (ms: number | null): string => (ms === null ? '–' : duration(ms))

const furtherColumns: readonly Omit<LogColumn, 'usual'>[] = [
  { id: 'operation', label: 'Operation', width: 140, cell: (row) => row.operation, termOf: term('operation', (row) => row.operation) },
  { id: 'error', label: 'Error', width: 160, cell: (row) => orNone(row.error_code), termOf: term('error', (row) => row.error_code) },
  { id: 'person', label: 'Person', width: 150, cell: (row) => orNone(row.user_name), termOf: term('person', (row) => row.user_id) },
  { id: 'config', label: 'Config', width: 140, cell: (row) => orNone(row.config_slug), termOf: term('config', (row) => row.config_slug) },
  { id: 'prompt', label: 'Prompt', width: 140, cell: (row) => orNone(row.prompt_slug), termOf: term('prompt', (row) => row.prompt_slug) },
  { id: 'first-byte', label: 'First byte', width: 85, end: true, cell: (row) => optional(row.time_to_first_byte) },
  {
    id: 'trace',
    label: 'Trace',
    width: 150,
    cell: (row) => `…${visible(row.trace_id).slice(-6)}`,
    termOf: term('trace', (row) => row.trace_id),
    onlyKept: true,
  },
  { id: 'bytes-in', label: 'Bytes in', width: 85, end: true, cell: (row) => bytes(row.request_bytes) },
  { id: 'bytes-out', label: 'Bytes out', width: 85, end: true, cell: (row) => bytes(row.response_bytes) },
]
const more: readonly LogColumn[] = furtherColumns.map((column) => ({ ...column, usual: false }))

/** Returns the columns of the list of logs but those of metadata. */
export const columnsOf = (zone: Zone, withWorkspace: boolean): readonly LogColumn[] => [
  {
    id: 'time',
    label: `Time (${zone === 'utc' ? 'UTC' : 'local'})`,
    width: 170,
    usual: true,
    cell: (row) => <time dateTime={row.created_at}>{moment(row.created_at, zone)}</time>,
  },
  {
    id: 'status',
    label: 'Status',
    width: 210,
    usual: true,
    cell: (row) => <Status {...statusOf(row)} />,
    termOf: term('status', (row) => String(row.response_status_code)),
  },
  ...(withWorkspace
    ? [{ id: 'workspace', label: 'Workspace', width: 140, usual: true, cell: (row: Row) => row.workspace_slug ?? '–' }]
    : []),
  {
    id: 'model',
    label: 'Model',
    width: 160,
    usual: true,
    cell: (row) => orNone(row.ai_model),
    termOf: term('model', (row) => row.ai_model),
  },
  {
    id: 'provider',
    label: 'Provider',
    width: 140,
    usual: true,
    cell: (row) => orNone(row.provider_name ?? row.ai_org),
    termOf: (row) => term('handle', (one) => one.virtual_key)(row) ?? term('provider', (one) => one.ai_org)(row),
  },
  {
    id: 'key',
    label: 'Key',
    width: 150,
    usual: true,
    cell: (row) => orNone(row.api_key_name),
    termOf: term('key', (row) => row.api_key_id),
  },
  { id: 'time-taken', label: 'Time taken', width: 85, end: true, usual: true, cell: (row) => duration(row.response_time) },
  {
    id: 'tokens',
    label: 'Tokens',
    width: 75,
    end: true,
    usual: true,
    cell: (row) => (row.total_units === null ? '–' : count(row.total_units)),
  },
  { id: 'cost', label: 'Cost', width: 120, end: true, usual: true, cell: (row) => listedCost(row.cost_pico_usd, row.cost_state) },
  { id: 'marks', label: 'Marks', width: 130, usual: true, cell: marksOf },
  ...more,
]

const ofMetadata = /^metadata\.([\w.-]+)$/

/** Returns the column of a key of metadata; null: the id is of another column. */
export function metadataColumn(id: string): LogColumn | null {
  const key = ofMetadata.exec(id)?.[1]
  if (key === undefined) return null
  const valueOf = (row: Row): string | null => row['metadata.value'][row['metadata.key'].indexOf(key)] ?? null
  return { id, label: id, width: 140, usual: false, cell: (row) => orNone(valueOf(row)), termOf: term(id, valueOf), onlyKept: true }
}

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
