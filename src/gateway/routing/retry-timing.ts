/** Longest that a request waits for its retries in sum, in milliseconds: a provider that asks for more is left. */
export const longestWaitMs = 60_000
const firstBackOffMs = 1000
const longestBackOffMs = 16_000

/** Returns the milliseconds before a repetition (the first is 1): exponential with full jitter; `random` is in [0, 1). */
export const backOffMs = (repetition: number, random: number): number =>
  Math.floor(random * Math.min(longestBackOffMs, firstBackOffMs * 2 ** (repetition - 1)))

export interface Wait {
  readonly rule: 'exact' | 'atLeast' | 'ignored'
  readonly repetition: number
  /** In [0, 1). */
  readonly random: number
  /** The wait that the provider asks for. */
  readonly retryAfterMs: number | null
  /** The rest of the request's time and of `longestWaitMs`. */
  readonly leftMs: number
}

/** Returns how long to wait before a repetition; null when there is no time for it. */
export function waitBeforeRetry({ rule, repetition, random, retryAfterMs, leftMs }: Wait): number | null {
  const backOff = backOffMs(repetition, random)
  const asked = rule === 'ignored' || retryAfterMs === null ? 0 : retryAfterMs
  if (rule === 'exact' && asked > 0) return asked <= leftMs ? asked : null
  const wait = asked <= leftMs ? Math.max(backOff, asked) : backOff
  return wait <= leftMs ? wait : null
}

const millisecondHeaders = ['retry-after-ms', 'x-ms-retry-after-ms']

/**
 * Returns the milliseconds that an answer asks to wait: `retry-after-ms`, `x-ms-retry-after-ms`, then `retry-after` in seconds or as a date. Null
 * without one, or in an unknown form. `header` returns a header's value by its lower-case name.
 */
export function readRetryAfter(header: (name: string) => string | undefined, now: number): number | null {
  for (const name of millisecondHeaders) {
    const ms = readNumber(header(name))
    if (ms !== null) return Math.ceil(ms)
  }
  const text = header('retry-after')
  const seconds = readNumber(text)
  if (seconds !== null) return Math.ceil(seconds * 1000)
  const date = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

const readNumber = (text: string | undefined): number | null =>
  text !== undefined && /^\s*\d{1,10}(?:\.\d{1,6})?\s*$/.test(text) ? Number(text) : null
