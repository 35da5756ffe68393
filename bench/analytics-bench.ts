import { adminKey, type Gatehouse } from '../test/support/process.ts'

/** A product with many logs, and how it is asked. */
export interface Bench {
  readonly gatehouse: Gatehouse
  /** Asks below `/v1` as the organisation's admin; the body is null when the database took longer than it may. */
  ask(path: string, options?: { readonly method?: string; readonly body?: object; readonly as?: string }): Promise<Asked>
}

export interface Asked {
  /** Milliseconds; infinite when the database took longer than it may. */
  readonly ms: number
  readonly body: Readonly<Record<string, unknown>>
}

export const openBench = (gatehouse: Gatehouse): Bench => ({
  gatehouse,
  async ask(path, { method = 'GET', body, as = adminKey } = {}) {
    const startedAt = performance.now()
    const response = await fetch(`${gatehouse.origin}/v1${path}`, {
      method,
      headers: { 'x-service-api-key': as, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.status === 503) return { ms: Infinity, body: {} }
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
    return { ms: performance.now() - startedAt, body: JSON.parse(text) as Asked['body'] }
  },
})

export interface Spread {
  readonly p50: number
  readonly p95: number
  readonly max: number
}

const at = (sorted: readonly number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN

export function spread(times: readonly number[]): Spread {
  const sorted = times.toSorted((one, other) => one - other)
  return { p50: at(sorted, 0.5), p95: at(sorted, 0.95), max: sorted.at(-1) ?? NaN }
}

/** Repeats work until it is stopped; returns the function that ends it. */
export function again(work: (turn: number) => Promise<unknown>): () => Promise<void> {
  const ending = new AbortController()
  const going = (async () => {
    for (let turn = 0; !ending.signal.aborted; turn++) await work(turn)
  })()
  return async () => {
    ending.abort()
    await going
  }
}
