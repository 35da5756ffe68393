import type { Registry } from 'prom-client'
import type { Observation } from '../../gateway/ports/records.ts'
import { findProvider } from '../../gateway/ports/providers.ts'
import { mcpOperation, operations } from '../../gateway/ports/operations.ts'
import { counterFamily, histogramFamily, observe, type CounterCell, type HistogramCell } from './cells.ts'

/** The metrics that count one exchange. One map look-up finds them, since every request needs them. */
interface Series {
  readonly requests: CounterCell
  readonly duration: HistogramCell
  readonly upstream: HistogramCell
  readonly overhead: HistogramCell
  readonly firstByte: HistogramCell
}

/** Further label sets fold into `other`, so that callers cannot grow them without bound. */
const maxSeries = 2000

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
const overheadSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1]

/** Registers the metrics of exchanges, and returns the function that counts one. */
export function exchangeMetrics(registry: Registry): (observation: Observation) => void {
  const open = seriesOpener(registry)
  const countTokens = tokenCounter(registry)
  const find = seriesFinder(open)
  return (seen) => {
    const series = find(seen)
    series.requests.value++
    observe(series.duration, seen.durationMs / 1000)
    observe(series.overhead, seen.overheadMs / 1000)
    if (seen.upstreamMs !== null) observe(series.upstream, seen.upstreamMs / 1000)
    if (seen.firstByteMs !== null) observe(series.firstByte, seen.firstByteMs / 1000)
    if (seen.usage !== null) countTokens(seen.usage)
  }
}

/** A series, and its metrics. */
interface KnownSeries extends Pick<Observation, 'method' | 'stream' | 'cacheStatus'> {
  readonly statusClass: number
  readonly series: Series
}

/** Returns the function that finds the series of an exchange without making a key for it: few of an operation and a provider differ in the rest. */
function seriesFinder(open: (labels: SeriesLabels) => Series): (seen: Observation) => Series {
  const known = new Map<string, Map<string | null, readonly KnownSeries[]>>()
  let count = 0
  return (seen) => {
    const statusClass = Math.trunc(seen.status / 100)
    const { operation, provider, method, stream, cacheStatus } = seen
    const list = known.get(operation)?.get(provider) ?? none
    for (const one of list)
      if (one.statusClass === statusClass && one.stream === stream && one.method === method && one.cacheStatus === cacheStatus)
        return one.series
    const series = open(labelsOf(seen, count >= maxSeries))
    if (count >= maxSeries * 2) return series
    count += 1
    const byProvider = known.get(operation) ?? new Map<string | null, readonly KnownSeries[]>()
    known.set(operation, byProvider.set(provider, [...list, { statusClass, stream, method, cacheStatus, series }]))
    return series
  }
}

const none: readonly KnownSeries[] = []

interface SeriesLabels {
  readonly route: string
  readonly method: string
  readonly status_class: string
  readonly provider: string
  readonly stream: string
  readonly cache: string
}

function seriesOpener(registry: Registry): (labels: SeriesLabels) => Series {
  const byRoute = ['route', 'stream']
  const time = (name: string, help: string, labelNames: readonly string[]) =>
    histogramFamily(registry, { name, help, labelNames, buckets: seconds })
  const requests = counterFamily(registry, {
    name: 'gateway_requests_total',
    help: 'Finished exchanges of the data plane, with every outcome.',
    labelNames: ['route', 'method', 'status_class', 'provider', 'stream', 'cache'],
  })
  const duration = time('gateway_request_duration_seconds', 'From the request line to the last byte of the answer.', byRoute)
  const upstream = time('gateway_upstream_duration_seconds', "Until the provider's headers.", ['provider'])
  const firstByte = time('gateway_time_to_first_byte_seconds', 'Until the first body byte went to the client.', byRoute)
  const overhead = histogramFamily(registry, {
    name: 'gateway_overhead_seconds',
    help: 'Time spent in the gateway itself.',
    labelNames: byRoute,
    buckets: overheadSeconds,
  })
  const counters = new Map<string, CounterCell>()
  return (labels) => {
    const { route, stream, provider } = labels
    const key = JSON.stringify(labels)
    const counter = counters.get(key) ?? requests({ ...labels })
    counters.set(key, counter)
    const place = { route, stream }
    return {
      requests: counter,
      duration: duration(place),
      upstream: upstream({ provider }),
      overhead: overhead(place),
      firstByte: firstByte(place),
    }
  }
}

const methods = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
const caches = new Set(['hit', 'miss', 'disabled', 'semantic hit', 'semantic miss', 'refresh'])

/** Every value from a closed set, so that no caller can add a series. */
function labelsOf(seen: Observation, full: boolean): SeriesLabels {
  const cache = seen.cacheStatus.toLowerCase()
  return {
    route: full ? 'other' : routeOf(seen.operation),
    method: methods.has(seen.method) ? seen.method : 'other',
    status_class: `${Math.trunc(seen.status / 100)}xx`,
    provider: full ? 'other' : providerOf(seen.provider),
    stream: String(seen.stream),
    cache: caches.has(cache) ? cache : 'other',
  }
}

const routeOf = (operation: string) =>
  operation === 'proxy' || operation === mcpOperation || Object.hasOwn(operations, operation) ? operation : 'other'

function providerOf(id: string | null): string {
  if (id === null) return 'none'
  return findProvider(id) === null ? 'other' : id
}

function tokenCounter(registry: Registry): (usage: NonNullable<Observation['usage']>) => void {
  const family = counterFamily(registry, {
    name: 'gateway_tokens_total',
    help: 'Tokens as the providers counted them.',
    labelNames: ['type'],
  })
  const input = family({ type: 'input' })
  const output = family({ type: 'output' })
  const cacheRead = family({ type: 'cache_read' })
  const cacheWrite = family({ type: 'cache_write' })
  const reasoning = family({ type: 'reasoning' })
  return (usage) => {
    input.value += usage.inputTokens ?? 0
    output.value += usage.outputTokens ?? 0
    cacheRead.value += usage.cacheReadTokens ?? 0
    cacheWrite.value += usage.cacheWriteTokens ?? 0
    reasoning.value += usage.reasoningTokens ?? 0
  }
}
