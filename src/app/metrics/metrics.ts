import { collectDefaultMetrics, Registry } from 'prom-client'
import type { GatewayMetrics } from '../../gateway/ports/records.ts'
import { counterFamily, type CounterCell, type Labels } from './cells.ts'
import { exchangeMetrics } from './exchanges.ts'
import { contradictionCounter, spendCounter } from './spend.ts'
import { keyOf, measuring, stating, type MeasuredName, type StatedName } from './measured.ts'
import type { Pressure } from '../http/listener/overload.ts'

/** The metrics of a process. Label values come from closed sets, so that their number is bounded. */
export interface Metrics extends GatewayMetrics {
  /** A URL that the egress guard refused; `reason` is a word of the guard, never the URL. */
  egressBlocked(reason: string): void
  /** Counts a read from an external secret manager; `outcome` is `read`, or the reason of its failure. */
  secretRead(manager: string, outcome: string): void
  /** A request that was refused to keep the others going. */
  shed(reason: Pressure): void
  jobRan(job: string, outcome: 'done' | 'failed' | 'skipped'): void
  /** Sets the reader of a figure, in place of the former reader; it is called at each scrape. */
  measure(name: MeasuredName, read: () => number, labels?: Labels): void
  /** Sets the reader of a fact's labels; it is called at each scrape. */
  state(name: StatedName, read: () => readonly Labels[]): void
  /** The text for Prometheus. */
  render(): Promise<string>
  readonly contentType: string
  readonly registry: Registry
}

/** Gauges of prom-client whose names end like those of counters; the same figures by kind are in `nodejs_active_handles` and so on. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Builds the registry of a process. */
export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
  const state = stating(registry)
  state('gateway_build_info', () => [{ version }])
  return {
    registry,
    state,
    contentType: registry.contentType,
    render: () => registry.metrics(),
    record: exchangeMetrics(registry),
    spent: spendCounter(registry),
    contradicted: contradictionCounter(registry),
    measure: measuring(registry),
    ...counters(registry),
  }
}

function counters(
  registry: Registry,
): Pick<
  Metrics,
  'attemptFailed' | 'mirrored' | 'authFailure' | 'checkRan' | 'embedded' | 'egressBlocked' | 'secretRead' | 'shed' | 'jobRan'
> {
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
  const embeddings = cells(registry, {
    name: 'gateway_cache_embeddings_total',
    help: 'Embeddings for the semantic cache; `resting`: none was asked for, because the one before failed.',
    labelNames: ['outcome'],
  })
  const attempts = cells(registry, {
    name: 'gateway_failed_attempts_total',
    help: 'Attempts after which a request was retried, by the failure.',
    labelNames: ['provider', 'reason'],
  })
  const mirrored = cells(registry, {
    name: 'gateway_mirrored_requests_total',
    help: 'Copies of requests for mirrors, by outcome.',
    labelNames: ['outcome'],
  })
  const blocked = cells(registry, {
    name: 'gateway_egress_blocked_total',
    help: 'URLs that the egress guard refused.',
    labelNames: ['reason'],
  })
  const secretReads = cells(registry, {
    name: 'gateway_secret_reads_total',
    help: 'Reads from external secret managers, by outcome.',
    labelNames: ['manager', 'outcome'],
  })
  const shed = cells(registry, {
    name: 'gateway_shed_total',
    help: 'Requests refused because the process is overloaded.',
    labelNames: ['reason'],
  })
  const jobs = cells(registry, { name: 'gateway_job_runs_total', help: 'Runs of background jobs.', labelNames: ['job', 'outcome'] })
  return {
    attemptFailed: (provider, reason) => attempts({ provider, reason }),
    mirrored: (outcome) => mirrored({ outcome }),
    authFailure: (reason) => authFailures({ reason }),
    checkRan: (check, outcome) => checks({ check, outcome }),
    embedded: (outcome) => embeddings({ outcome }),
    egressBlocked: (reason) => blocked({ reason }),
    secretRead: (manager, outcome) => secretReads({ manager, outcome }),
    shed: (reason) => shed({ reason }),
    jobRan: (job, outcome) => jobs({ job, outcome }),
  }
}

const maxCells = 200

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
