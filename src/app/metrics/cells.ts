import { Counter, Histogram, type Registry } from 'prom-client'

/**
 * Counting on the hot path: a cell is a plain object found once per label set, and prom-client, whose own label hashing takes microseconds, reads the
 * cells at a scrape.
 */
export interface CounterCell {
  value: number
}

export interface HistogramCell {
  readonly bounds: readonly number[]
  /** Not cumulative; the last one counts values above every bound. */
  readonly counts: number[]
  sum: number
}

export type Labels = Readonly<Record<string, string>>

interface MetricName {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

/** Opens a family of counters; the function gives the cell of one label set, and must be called once per set. */
export function counterFamily(registry: Registry, spec: MetricName): (labels: Labels) => CounterCell {
  const cells: { readonly labels: Labels; readonly cell: CounterCell }[] = []
  const counter = new Counter({
    ...spec,
    registers: [registry],
    collect() {
      counter.reset()
      for (const { labels, cell } of cells) counter.inc(labels, cell.value)
    },
  })
  return (labels) => {
    const cell = { value: 0 }
    cells.push({ labels, cell })
    return cell
  }
}

/** Opens a family of histograms, as `counterFamily`; asking for the same labels again gives the same cell. */
export function histogramFamily(
  registry: Registry,
  spec: MetricName & { readonly buckets: readonly number[] },
): (labels: Labels) => HistogramCell {
  const cells = new Map<string, { readonly labels: Labels; readonly cell: HistogramCell }>()
  const histogram = new Histogram({ ...spec, buckets: [...spec.buckets], registers: [registry] })
  const read = async () => ({
    name: spec.name,
    help: spec.help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...cells.values()].flatMap(({ labels, cell }) => exposition(spec.name, labels, cell)),
  })
  Object.assign(histogram, { get: read, getForPromString: read })
  return (labels) => {
    const key = JSON.stringify(labels)
    const held = cells.get(key)
    if (held !== undefined) return held.cell
    const cell: HistogramCell = { bounds: spec.buckets, counts: spec.buckets.map(() => 0).concat(0), sum: 0 }
    cells.set(key, { labels, cell })
    return cell
  }
}

/** Adds one value, in the unit of the bounds. */
export function observe(cell: HistogramCell, value: number): void {
  const { bounds, counts } = cell
  let at = 0
  while (at < bounds.length && value > (bounds[at] ?? 0)) at++
  counts[at] = (counts[at] ?? 0) + 1
  cell.sum += value
}

function exposition(name: string, labels: Labels, cell: HistogramCell) {
  let count = 0
  const buckets = cell.counts.map((inside, at) => {
    count += inside
    return { metricName: `${name}_bucket`, labels: { ...labels, le: cell.bounds[at] ?? '+Inf' }, value: count }
  })
  return [...buckets, { metricName: `${name}_sum`, labels, value: cell.sum }, { metricName: `${name}_count`, labels, value: count }]
}
