import type { Deps } from '../deps.ts'
import type { OpenJournal } from '../../gateway/ports/journal.ts'
import type { Shipper } from '../journal/shipper.ts'

interface JournalSources {
  readonly journal: OpenJournal
  readonly shipper: Shipper
}

/** Measures the records of a journal that wait for the database, and those that are lost. */
export function measureJournal({ metrics }: Deps, { journal, shipper }: JournalSources): void {
  metrics.measure('gateway_log_spool_bytes', () => journal.stats().bytes)
  metrics.measure('gateway_log_spool_records', () => Math.max(0, journal.stats().records - shipper.stats().shipped))
  metrics.measure('gateway_log_spool_dropped_total', () => journal.stats().dropped.body, { kind: 'body' })
  metrics.measure('gateway_log_spool_dropped_total', () => journal.stats().dropped.record, { kind: 'record' })
  metrics.measure('gateway_spans_exported_total', () => shipper.stats().spans.exported)
  metrics.measure('gateway_spans_dropped_total', () => shipper.stats().spans.dropped)
}
