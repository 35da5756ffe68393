import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { GatewayMetrics } from '../gateway/metrics.ts'
import { counterFamily, type CounterCell, type Labels } from './metrics/cells.ts'
import { exchangeMetrics } from './metrics/exchanges.ts'
import type { Pressure } from './overload.ts'

/** The metrics of a process. Label values come from closed sets, so that their number is bounded. */
export interface Metrics extends GatewayMetrics {
  /** A URL that the egress guard refused; `reason` is a word of the guard, never the URL. */
  egressBlocked(reason: string): void
  /** A request that was refused to keep the others going. */
  shed(reason: Pressure): void
  jobRan(job: string, outcome: 'done' | 'failed' | 'skipped'): void
  /** Gives a figure that its owner keeps, in place of one given before; it is read when somebody scrapes. */
  measure(name: MeasuredName, read: () => number, labels?: Labels): void
  /** The text for Prometheus. */
  render(): Promise<string>
  readonly contentType: string
  readonly registry: Registry
}

/** Figures that others keep: name -> what it is. A name in `_total` is a counter. */
const measured = {
  gateway_inflight: { help: 'Requests that are being answered.', labelNames: ['kind'] },
  gateway_log_spool_bytes: { help: 'Bytes of the journal that wait for the database.', labelNames: [] },
  gateway_log_spool_records: { help: 'Records of the journal that wait for the database.', labelNames: [] },
  gateway_log_spool_dropped_total: { help: 'What the journal had to drop, by what it was.', labelNames: ['kind'] },
  gateway_db_pool_in_use: { help: 'Database connections in use.', labelNames: [] },
  gateway_db_pool_waiting: { help: 'Requests that wait for a database connection.', labelNames: [] },
  gateway_migrations_pending: { help: 'Migrations of this build that the database lacks.', labelNames: [] },
} as const satisfies Record<string, { help: string; labelNames: readonly string[] }>

export type MeasuredName = keyof typeof measured

/** Builds the registry of a process. */
export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  buildInfo(registry, version)
  return {
    registry,
    contentType: registry.contentType,
    render: () => registry.metrics(),
    record: exchangeMetrics(registry),
    measure: measuring(registry),
    ...counters(registry),
  }
}

function buildInfo(registry: Registry, version: string): void {
  const info = new Gauge({
    name: 'gateway_build_info',
    help: 'Always 1; the labels say which build runs.',
    labelNames: ['version'],
    registers: [registry],
    aggregator: 'first',
  })
  info.set({ version }, 1)
}

function counters(registry: Registry): Pick<Metrics, 'authFailure' | 'checkRan' | 'egressBlocked' | 'shed' | 'jobRan'> {
  const authFailures = cells(registry, {
    name: 'gateway_auth_failures_total',
    help: 'Requests refused for their key.',
    labelNames: ['reason'],
  })
  const checks = cells(registry, {
    name: 'gateway_guardrail_checks_total',
    help: 'Runs of the checks of guardrails.',
    labelNames: ['check', 'outcome'],
  })
  const blocked = cells(registry, {
    name: 'gateway_egress_blocked_total',
    help: 'URLs that the egress guard refused.',
    labelNames: ['reason'],
  })
  const shed = cells(registry, {
    name: 'gateway_shed_total',
    help: 'Requests refused because the process is overloaded.',
    labelNames: ['reason'],
  })
  const jobs = cells(registry, { name: 'gateway_job_runs_total', help: 'Runs of background jobs.', labelNames: ['job', 'outcome'] })
  return {
    authFailure: (reason) => authFailures({ reason }),
    checkRan: (check, outcome) => checks({ check, outcome }),
    egressBlocked: (reason) => blocked({ reason }),
    shed: (reason) => shed({ reason }),
    jobRan: (job, outcome) => jobs({ job, outcome }),
  }
}

const maxCells = 200
const keyOf = (labels: Labels) => Object.values(labels).join(' ')

/** Counts by labels; past the limit new label sets count as `other`. */
function cells(
  registry: Registry,
  spec: { readonly name: string; readonly help: string; readonly labelNames: readonly string[] },
): (labels: Labels) => void {
  const family = counterFamily(registry, spec)
  const other = Object.fromEntries(spec.labelNames.map((name) => [name, 'other']))
  const held = new Map<string, CounterCell>()
  const open = (labels: Labels): CounterCell => {
    const counted = held.size < maxCells ? labels : other
    const key = keyOf(counted)
    const cell = held.get(key) ?? family(counted)
    held.set(key, cell)
    return cell
  }
  return (labels) => {
    const cell = held.get(keyOf(labels)) ?? open(labels)
    cell.value++
  }
}

function measuring(registry: Registry): Metrics['measure'] {
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
