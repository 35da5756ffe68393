import type { ClientDialectId } from '../dialects/dialect.ts'
import { type HeaderList, headerValue } from '../wire/header-list.ts'
import type { Limit, RateTerms } from './limit.ts'

/** How a rate limit stands for somebody who just asked. */
export interface RateStanding {
  readonly limit: Limit
  /** At least so much is left. */
  readonly left: number
  /** Milliseconds until a refused request could pass; absent or null: the whole window has to go by until all is there again. */
  readonly opensMs?: number | null
}

/** The answer that the headers belong to. */
export interface Headed {
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

type Counted = 'requests' | 'tokens'
type NamesByCount = Readonly<Record<Counted, Names>>

const openai = (prefix: string): NamesByCount => {
  const of = (counts: Counted): Names => ({
    limit: `${prefix}ratelimit-limit-${counts}`,
    remaining: `${prefix}ratelimit-remaining-${counts}`,
    reset: `${prefix}ratelimit-reset-${counts}`,
  })
  return { requests: of('requests'), tokens: of('tokens') }
}
const ofOpenai = openai('x-')
const anthropic = (counts: Counted): Names => ({
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
 * Returns headers that tell how rate limits stand: of those of requests and of tokens the tightest in the names of the caller's dialect, and all of
 * them in those of the IETF's draft (draft-ietf-httpapi-ratelimit-headers-11).
 */
export function rateHeaders(standings: readonly RateStanding[], headed: Headed): readonly string[] {
  let policies = ''
  let states = ''
  let requests: RateStanding | null = null
  let tokens: RateStanding | null = null
  for (const standing of standings) {
    const { limit, left } = standing
    const terms = limit.rate
    if (terms === undefined) continue
    const comma = policies === '' ? '' : ', '
    policies += comma + terms.policy
    states += `${comma}${terms.label};r=${left};t=${Math.ceil(waitOf(standing, terms) / 1000)}`
    if (limit.counts === 'tokens') tokens = tighter(tokens, standing)
    else requests = tighter(requests, standing)
  }
  if (policies === '') return none
  const all = ['ratelimit-policy', policies, 'ratelimit', states]
  return all.concat(
    requests === null ? none : standingHeaders(requests, 'requests', headed),
    tokens === null ? none : standingHeaders(tokens, 'tokens', headed),
  )
}

const none: readonly string[] = []

const tighter = (one: RateStanding | null, other: RateStanding): RateStanding => (one === null || other.left < one.left ? other : one)

const waitOf = ({ opensMs = null }: RateStanding, { windowMs }: RateTerms): number => opensMs ?? windowMs

function standingHeaders(standing: RateStanding, counts: Counted, { dialect, prefix, theirs, now }: Headed): readonly string[] {
  const { limit, left, opensMs = null } = standing
  const { rate } = limit
  if (rate === undefined) return none
  const spoken = (dialect === 'anthropic' ? ofAnthropic : ofOpenai)[counts]
  const isTheirs = headerValue(theirs, spoken.limit) !== undefined
  const names = isTheirs ? namesUnder(prefix)[counts] : spoken
  const reset =
    dialect === 'anthropic' && !isTheirs
      ? new Date(now + waitOf(standing, rate)).toISOString()
      : opensMs === null
        ? rate.reset
        : durationText(opensMs)
  return [names.limit, String(limit.value), names.remaining, String(left), names.reset, reset]
}

/** Returns a length of time as OpenAI writes it: `6m0s`, `120ms`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`
  const seconds = Math.ceil(ms / 1000)
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`
}

/** Returns what the headers of a rate limit say the same each time. `name`: letters, digits, `-` and `:`. */
export function rateTerms(name: string, { counts, value, windowMs }: { counts: Counted; value: number; windowMs: number }): RateTerms {
  const label = `"${name}"`
  const unit = counts === 'tokens' ? ';qu="tokens"' : ''
  return { label, policy: `${label};q=${value};w=${windowMs / 1000}${unit}`, reset: durationText(windowMs), windowMs }
}
