import type { DialectId } from '../dialects/dialect.ts'
import { hasHeader, type HeaderList, headersWithout, headerValue, someHeader } from '../wire/header-list.ts'

/** The names of rate-limit headers, in the order of Anthropic's and OpenAI's. */
const pairs: readonly (readonly [anthropic: string, openai: string])[] = [
  ['anthropic-ratelimit-requests-limit', 'x-ratelimit-limit-requests'],
  ['anthropic-ratelimit-requests-remaining', 'x-ratelimit-remaining-requests'],
  ['anthropic-ratelimit-requests-reset', 'x-ratelimit-reset-requests'],
  ['anthropic-ratelimit-tokens-limit', 'x-ratelimit-limit-tokens'],
  ['anthropic-ratelimit-tokens-remaining', 'x-ratelimit-remaining-tokens'],
  ['anthropic-ratelimit-tokens-reset', 'x-ratelimit-reset-tokens'],
]

interface DialectPair {
  readonly from: DialectId
  readonly to: DialectId
  /** Epoch milliseconds. */
  readonly now: number
}

/** Returns headers with the provider's rate limits in the words of the caller's dialect. */
export function rateHeaders(headers: HeaderList, { from, to, now }: DialectPair): HeaderList {
  const isFromAnthropic = from === 'anthropic'
  if (isFromAnthropic === (to === 'anthropic') || !tellsLimits(headers)) return headers
  const moved: string[] = []
  for (const [anthropic, openai] of pairs) {
    const value = headerValue(headers, isFromAnthropic ? anthropic : openai)
    if (value === undefined) continue
    const told = anthropic.endsWith('-reset') ? (isFromAnthropic ? durationUntil(value, now) : timeAfter(value, now)) : value
    if (told !== null) moved.push(isFromAnthropic ? openai : anthropic, told)
  }
  const names = new Set(pairs.map(([anthropic, openai]) => (isFromAnthropic ? anthropic : openai)))
  return moved.length === 0 ? headers : [...headersWithout(headers, (name) => names.has(name)), ...moved]
}

/** Returns headers with the seconds to wait, where the provider states them in the body of an error alone. */
export const withRetryAfter = (headers: HeaderList, seconds: number | undefined): HeaderList =>
  seconds === undefined || hasHeader(headers, 'retry-after') ? headers : [...headers, 'retry-after', String(seconds)]

/** Most answers have no limits, and this is one look at each of their headers. */
const tellsLimits = (headers: HeaderList): boolean => someHeader(headers, (name) => name.length >= shortestName && /ratelimit/i.test(name))

const shortestName = 'x-ratelimit-reset-tokens'.length

function durationUntil(time: string, now: number): string | null {
  const at = Date.parse(time)
  return Number.isNaN(at) ? null : `${Math.max(0, Math.ceil((at - now) / 1000))}s`
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** OpenAI writes `6m0s`, or `120ms`. */
function timeAfter(duration: string, now: number): string | null {
  let sum: number | null = null
  for (const [, count, unit] of duration.matchAll(/(\d{1,15}(?:\.\d{1,15})?)(ms|[smhd])/g))
    sum = (sum ?? 0) + Number(count) * (units[unit ?? ''] ?? 0)
  return sum === null ? null : new Date(now + sum).toISOString()
}
