import type { ClientDialectId } from '../dialects/dialect.ts'
import { type HeaderList, headerValue } from '../wire/header-list.ts'
import type { Limit, RateTerms } from './limit.ts'

/** The state of a rate limit for the request that just asked. */
export interface RateLimitState {
  readonly limit: Limit
  /** At least so much is left. */
  readonly left: number
  /** Milliseconds until a refused request could pass; absent or null: the whole window has to go by until all is there again. */
  readonly opensMs?: number | null
}

/** The answer that the headers belong to. */
export interface HeadedAnswer {
  readonly dialect: ClientDialectId
  /** `x-service-`, or the alias that the caller uses. */
  readonly prefix: string
  /** Headers of the provider, whose own rate limits keep their names. */
  readonly theirs: HeaderList
  /** Epoch milliseconds. */
  readonly now: number
}

interface Names {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

type CountedUnit = 'requests' | 'tokens'
type NamesByCount = Readonly<Record<CountedUnit, Names>>

const openai = (prefix: string): NamesByCount => {
  const of = (counts: CountedUnit): Names => ({
    limit: `${prefix}ratelimit-limit-${counts}`,
    remaining: `${prefix}ratelimit-remaining-${counts}`,
    reset: `${prefix}ratelimit-reset-${counts}`,
  })
  return { requests: of('requests'), tokens: of('tokens') }
}
const ofOpenai = openai('x-')
const anthropic = (counts: CountedUnit): Names => ({
  limit: `anthropic-ratelimit-${counts}-limit`,
  remaining: `anthropic-ratelimit-${counts}-remaining`,
  reset: `anthropic-ratelimit-${counts}-reset`,
})
const ofAnthropic: NamesByCount = { requests: anthropic('requests'), tokens: anthropic('tokens') }

/** By prefix, of which an installation has a few. */
const ownNames = new Map<string, NamesByCount>()
function namesUnder(prefix: string): NamesByCount {
  const held = ownNames.get(prefix)
  if (held !== undefined) return held
  const names = openai(prefix)
  ownNames.set(prefix, names)
  return names
}

/**
 * Returns headers with the state of rate limits: the tightest of those of requests and of tokens under the names of the caller's dialect, and all of
 * them in those of the IETF's draft (draft-ietf-httpapi-ratelimit-headers-11).
 */
export function rateHeaders(standings: readonly RateLimitState[], headed: HeadedAnswer): readonly string[] {
  let policies = ''
  let states = ''
  let requests: RateLimitOnly | null = null
  let tokens: RateLimitOnly | null = null
  for (const standing of standings) {
    if (!isRated(standing)) continue
    const { policy } = standing.limit.rate
    policies = policies === '' ? policy : `${policies}, ${policy}`
    states = states === '' ? stateOf(standing) : `${states}, ${stateOf(standing)}`
    if (standing.limit.counts === 'tokens') tokens = tighter(tokens, standing)
    else requests = tighter(requests, standing)
  }
  if (requests === null) return tokens === null ? none : headersOf(policies, states, standingOf(tokens, 'tokens', headed))
  const first = headersOf(policies, states, standingOf(requests, 'requests', headed))
  return tokens === null ? first : first.concat(flat(standingOf(tokens, 'tokens', headed)))
}

const none: readonly string[] = []

/** The standing of a rate limit. */
type RateLimitOnly = RateLimitState & { readonly limit: { readonly rate: RateTerms } }
const isRated = (standing: RateLimitState): standing is RateLimitOnly => standing.limit.rate !== undefined

/** One that refuses, which comes first, is tighter than any that lets pass; of several the one that opens last. */
function tighter(one: RateLimitOnly | null, other: RateLimitOnly): RateLimitOnly {
  if (one === null) return other
  const [opens, later] = [one.opensMs ?? null, other.opensMs ?? null]
  if (opens === null) return other.left < one.left ? other : one
  return later !== null && later > opens ? other : one
}

const stateOf = ({ limit: { rate }, left, opensMs = null }: RateLimitOnly): string =>
  opensMs === null ? rate.before + left + rate.after : `${rate.before}${left};t=${Math.ceil(opensMs / 1000)}`

/** The three headers of a standing. */
interface RateHeaderSet {
  readonly names: Names
  readonly limit: string
  readonly left: string
  readonly reset: string
}

// Made at once: nearly every answer under a rate limit has these and no more.
const headersOf = (policies: string, states: string, { names, limit, left, reset }: RateHeaderSet): readonly string[] => [
  'ratelimit-policy',
  policies,
  'ratelimit',
  states,
  names.limit,
  limit,
  names.remaining,
  left,
  names.reset,
  reset,
]

const flat = ({ names, limit, left, reset }: RateHeaderSet): readonly string[] => [
  names.limit,
  limit,
  names.remaining,
  left,
  names.reset,
  reset,
]

function standingOf(
  { limit: { rate }, left, opensMs = null }: RateLimitOnly,
  counts: CountedUnit,
  { dialect, prefix, theirs, now }: HeadedAnswer,
): RateHeaderSet {
  const spoken = (dialect === 'anthropic' ? ofAnthropic : ofOpenai)[counts]
  const isTheirs = headerValue(theirs, spoken.limit) !== undefined
  const names = isTheirs ? namesUnder(prefix)[counts] : spoken
  const reset =
    dialect === 'anthropic' && !isTheirs
      ? new Date(now + (opensMs ?? rate.windowMs)).toISOString()
      : opensMs === null
        ? rate.reset
        : durationText(opensMs)
  return { names, limit: rate.value, left: String(left), reset }
}

/** Returns a length of time as OpenAI writes it: `6m0s`, `120ms`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`
  const seconds = Math.ceil(ms / 1000)
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`
}

/** Returns the constant texts in the headers of a rate limit. `name`: letters, digits, `-` and `:`. */
export function rateTerms(name: string, { counts, value, windowMs }: { counts: CountedUnit; value: number; windowMs: number }): RateTerms {
  const unit = counts === 'tokens' ? ';qu="tokens"' : ''
  return {
    policy: `"${name}";q=${value};w=${windowMs / 1000}${unit}`,
    value: String(value),
    before: `"${name}";r=`,
    after: `;t=${Math.ceil(windowMs / 1000)}`,
    reset: durationText(windowMs),
    windowMs,
  }
}
