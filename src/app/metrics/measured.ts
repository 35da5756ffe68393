import { Counter, Gauge, type Registry } from 'prom-client'
import type { Labels } from './cells.ts'

interface Figure {
  readonly help: string
  readonly labelNames: readonly string[]
  /** How the figures of several workers become one; `sum` when absent. Figures of the whole installation are equal in all of them. */
  readonly aggregator?: 'max' | 'min' | 'first'
}

/** Figures that other code keeps: name -> description. A name in `_total` is a counter. */
const measured = {
  gateway_inflight: { help: 'Requests that are being answered.', labelNames: ['kind'] },
  gateway_websockets: { help: 'WebSockets that are open.', labelNames: [] },
  gateway_websockets_accepted_total: { help: 'WebSockets that were accepted.', labelNames: [] },
  gateway_mcp_streams: { help: 'Streams of MCP that are open to clients.', labelNames: [] },
  gateway_mcp_sessions: { help: 'Sessions with MCP servers of before 2026-07-28 that are open.', labelNames: [] },
  gateway_batch_lines_running: { help: 'Lines of batches that Gatehouse runs itself, and that are on their way.', labelNames: [] },
  gateway_batch_lines_total: {
    help: 'Lines of batches that have ended, by outcome; those that began again when a process had died are `repeated` too.',
    labelNames: ['kind'],
  },
  gateway_log_spool_bytes: { help: 'Bytes of the journal that wait for the database.', labelNames: [] },
  gateway_log_spool_records: { help: 'Records of the journal that wait for the database.', labelNames: [] },
  gateway_log_spool_dropped_total: { help: 'Records and bodies that the journal had to drop, by kind.', labelNames: ['kind'] },
  gateway_spans_exported_total: { help: 'Spans that the receiver of OTLP took.', labelNames: [] },
  gateway_spans_dropped_total: { help: 'Spans that were too many, or that the receiver of OTLP did not take.', labelNames: [] },
  gateway_log_store_moved_total: { help: 'Logs whose bodies this process moved to the log store.', labelNames: [] },
  gateway_log_store_failures_total: { help: 'Objects that the log store did not take; each is tried again.', labelNames: [] },
  gateway_log_store_waiting: {
    help: 'Logs of the installation whose bodies wait in the database for the log store.',
    labelNames: [],
    aggregator: 'max',
  },
  gateway_log_store_failing: { help: '1 while the log store takes no objects.', labelNames: [], aggregator: 'max' },
  gateway_exports_running: {
    help: 'Exports of the installation that are being made, as the process that makes them last found.',
    labelNames: [],
    aggregator: 'max',
  },
  gateway_exports_retrying: {
    help: 'Those of them whose next part could not be made when it was tried last.',
    labelNames: [],
    aggregator: 'max',
  },
  gateway_cached_answers_bytes: { help: 'Bytes of cached answers in memory.', labelNames: [] },
  gateway_cached_answers_dropped_total: { help: 'Answers that the database could not keep for the cache.', labelNames: [] },
  gateway_cached_answers_stored_bytes: {
    help: 'Bytes of cached answers in the database, as the process that counted them last found.',
    labelNames: [],
    aggregator: 'max',
  },
  gateway_cached_answers_fullest_ratio: {
    help: 'The part of its bound in the database that the organisation with the most cached answers uses.',
    labelNames: [],
    aggregator: 'max',
  },
  gateway_cached_vectors_bytes: { help: 'Bytes of embeddings in memory, for the semantic cache.', labelNames: [] },
  gateway_price_lists: {
    help: 'Lists of prices and abilities in memory, by kind and by the layer that they come from.',
    labelNames: ['kind', 'layer'],
  },
  gateway_price_lists_failing: {
    help: 'Lists of prices and abilities that could not be read when they were last due, by kind and layer.',
    labelNames: ['kind', 'layer'],
  },
  gateway_price_lists_age_seconds: {
    help: 'Seconds since the oldest list in memory was read, by kind and layer.',
    labelNames: ['kind', 'layer'],
    aggregator: 'max',
  },
  gateway_event_streams: { help: 'Callers that listen to events.', labelNames: [] },
  gateway_secrets_held: { help: 'Secrets of external managers that are held in memory, sealed.', labelNames: [] },
  gateway_secrets_failing: { help: 'Secrets that their managers did not give when they were asked last.', labelNames: [] },
  gateway_secrets_stale: {
    help: 'Secrets that serve although they should have been replaced, because their managers do not give them.',
    labelNames: [],
  },
  gateway_breakers_open: { help: 'Circuit breakers that are not closed.', labelNames: [], aggregator: 'max' },
  gateway_limit_reservations_total: { help: 'Requests under limits, by the outcome of their reservations.', labelNames: ['kind'] },
  gateway_limits_away: {
    help: '1 while the process cannot reach the counters of limits, and serves from the slices that it holds.',
    labelNames: [],
    aggregator: 'max',
  },
  gateway_limit_counters: { help: 'Counters of limits of which slices are in memory.', labelNames: [] },
  gateway_db_pool_in_use: { help: 'Database connections in use.', labelNames: [] },
  gateway_db_pool_waiting: { help: 'Requests that wait for a database connection.', labelNames: [] },
  gateway_failed_credential_addresses: { help: 'Addresses with remembered failed credentials.', labelNames: [] },
  gateway_migrations_pending: { help: 'Migrations of this build that the database lacks.', labelNames: [], aggregator: 'max' },
  gateway_backfills_pending: { help: 'Backfills of this build that are not done.', labelNames: [], aggregator: 'max' },
  gateway_sealed: {
    help: '1 while the process lacks the right encryption key and refuses all requests, else 0.',
    labelNames: [],
    aggregator: 'max',
  },
  gateway_tls_certificate_ends_timestamp_seconds: {
    help: 'When the certificate of the port ends, in seconds since 1970.',
    labelNames: ['certificate'],
    aggregator: 'min',
  },
} as const satisfies Record<string, Figure>

export type MeasuredName = keyof typeof measured

/** Facts in words, shown as the labels of gauges that are always 1. */
const stated = {
  gateway_build_info: { help: 'Always 1; the labels name the build.', labelNames: ['version'] },
  gateway_semantic_index_info: {
    help: 'Always 1; the label names the place where embeddings of the semantic cache are compared.',
    labelNames: ['place'],
  },
  gateway_price_list_info: {
    help: 'Always 1; the labels name the version of each list of prices and abilities in memory. `all`: the catalogue of the release.',
    labelNames: ['kind', 'layer', 'provider', 'digest'],
  },
  gateway_level_info: {
    help: 'Always 1; the labels name the release level in effect, and the one finalized in the database.',
    labelNames: ['level', 'finalized'],
  },
} as const satisfies Record<string, Figure>

export type StatedName = keyof typeof stated

/** Registers figures that their owners keep; the returned function names the owner of one, in place of one named before. */
export function measuring(registry: Registry): (name: MeasuredName, read: () => number, labels?: Labels) => void {
  const readers = new Map<MeasuredName, { readonly read: () => number; readonly labels: Labels }[]>()
  for (const name of Object.keys(measured).filter((key): key is MeasuredName => Object.hasOwn(measured, key))) {
    const list: { readonly read: () => number; readonly labels: Labels }[] = []
    readers.set(name, list)
    const Kind = name.endsWith('_total') ? Counter : Gauge
    const metric = new Kind<string>({
      name,
      ...measured[name],
      registers: [registry],
      collect() {
        metric.reset()
        for (const { read, labels } of list) metric.inc(labels, read())
      },
    })
  }
  return (name, read, labels = {}) => {
    const list = readers.get(name) ?? []
    const at = list.findIndex((held) => keyOf(held.labels) === keyOf(labels))
    list.splice(at === -1 ? list.length : at, 1, { read, labels })
  }
}

/** Registers the facts; the returned function sets the reader of the labels of one, in place of the former reader. */
export function stating(registry: Registry): (name: StatedName, read: () => readonly Labels[]) => void {
  const readers = new Map<StatedName, () => readonly Labels[]>()
  for (const name of Object.keys(stated).filter((key): key is StatedName => Object.hasOwn(stated, key))) {
    const gauge = new Gauge<string>({
      name,
      ...stated[name],
      aggregator: 'first',
      registers: [registry],
      collect() {
        gauge.reset()
        for (const labels of readers.get(name)?.() ?? []) gauge.set(labels, 1)
      },
    })
  }
  return (name, read) => void readers.set(name, read)
}

/** One text for the values of a set of labels. */
export const keyOf = (labels: Labels): string => Object.values(labels).join(' ')
