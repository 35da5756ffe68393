import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { HeaderList } from '../wire/header-list.ts'
import { tiersInHeaders } from './tier-headers.ts'
import type { ToldAnswer } from './told-answer.ts'

/** The facts of how an answer was served, as far as prices depend on it. */
export interface ServedFacts {
  /** The model that answered; null: the answer does not name it. */
  readonly model: string | null
  /** `priority`, `flex`, `batch`, `fast`; null: standard, or unknown. */
  readonly mode: string | null
  readonly geo: string | null
}

/** Names of modes as answers write them; those that are missing here are the usual mode. */
const modes: Readonly<Record<string, string>> = {
  priority: 'priority',
  fast: 'priority',
  flex: 'flex',
  batch: 'batch',
  ultrafast: 'ultrafast',
  optimized: 'optimized',
  ON_DEMAND_PRIORITY: 'priority',
  ON_DEMAND_FLEX: 'flex',
}

/** Modes that cost more than the usual one. */
export const dearModes: ReadonlySet<string> = new Set(['priority', 'ultrafast', 'fast', 'optimized'])
/** The word for a mode that is left open. */
const open = 'auto'

/** The request behind an answer: its body, and its headers as they were sent; absent: it has none of its own. */
interface ServedRequest {
  readonly json: Fields
  readonly headers?: HeaderList | undefined
}

/**
 * Reads how an answer was served from the values at its places, and from its usage object. The request does not count where the answer states it: priority is often asked and not given. Where it does not, a mode that costs more counts as asked, and a discount is not given.
 */
export function servedFacts(
  told: Pick<ToldAnswer, 'model' | 'tier'>,
  usage: Fields | null,
  { json: request, headers }: ServedRequest,
): ServedFacts {
  const tier = textIn(usage, 'service_tier') ?? textIn(usage, 'trafficType') ?? textIn(usage, 'serviceTier') ?? told.tier
  const speed = textIn(usage, 'speed') ?? (usage !== null && 'speed' in usage ? null : textIn(request, 'speed'))
  return {
    model: told.model,
    mode: speed === 'fast' ? 'fast' : tier === null || tier === open ? dearMode(request, headers) : modeOf(tier),
    geo: known(textIn(usage, 'inference_geo')),
  }
}

const modeOf = (tier: string): string | null => modes[tier] ?? modes[tier.toLowerCase()] ?? null

/** Returns the mode that a request asks for, in the words of any format, if it costs more than the usual one. */
function dearMode(
  { service_tier: snake, serviceTier: camel, performanceConfig: performance }: Fields,
  headers: HeaderList | undefined,
): string | null {
  const named = [snake, isFields(camel) ? camel['type'] : camel, isFields(performance) ? performance['latency'] : null]
  for (const asked of headers === undefined ? named : [...named, ...tiersInHeaders(headers)]) {
    const mode = typeof asked === 'string' ? modeOf(asked) : null
    if (mode !== null && dearModes.has(mode)) return mode
  }
  return null
}

const known = (geo: string | null): string | null => (geo === null || geo === 'global' || geo === 'not_available' ? null : geo)

function textIn(fields: Fields | null, name: string): string | null {
  const value = fields?.[name]
  return typeof value === 'string' ? value : null
}

interface CostPlace {
  readonly path: readonly string[]
  /** Digits by which the figure is moved to be in US dollars. */
  readonly places: number
}

/** Providers that state their own price, and the field of the usage object that has it. */
const reportedCosts: Readonly<Record<string, CostPlace>> = {
  openrouter: { path: ['cost'], places: 0 },
  vercel: { path: ['cost'], places: 0 },
  deepinfra: { path: ['estimated_cost'], places: 0 },
  'perplexity-ai': { path: ['cost', 'total_cost'], places: 0 },
  'x-ai': { path: ['cost_in_usd_ticks'], places: 10 },
}

/**
 * Returns the cost that a provider names in its answer, in pico-US-dollars; null when it names none. With a key of the caller's own at OpenRouter the
 * figure is only its fee: the vendor's charge to that key stands beside it, and the cost is both.
 */
export function reportedCost(usage: Fields, provider: string): bigint | null {
  const place = reportedCosts[provider]
  if (place === undefined) return null
  const named = amountAt(usage, place)
  if (!isOwnKey(usage)) return named
  const upstream = amountAt(usage, { path: ['cost_details', 'upstream_inference_cost'], places: 0 })
  return named === null || upstream === null ? null : named + upstream
}

/** Returns true for an answer that was made with a key of the caller's own at the vendor, through OpenRouter. */
export const isOwnKey = (usage: Fields): boolean => usage['is_byok'] === true

function amountAt(usage: Fields, { path, places }: CostPlace): bigint | null {
  let value: unknown = usage
  for (const name of path) value = isFields(value) ? value[name] : undefined
  return typeof value === 'number' && value >= 0 ? decimalPico(String(value), places) : null
}

/** Reads a decimal text, `places` places further to the right. The shortest decimal of a number is the number as its author wrote it. */
function decimalPico(text: string, places: number): bigint | null {
  const [, whole, behind = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d{1,3}))?$/.exec(text) ?? []
  if (whole === undefined) return null
  const shift = 12 - places - behind.length + Number(exponent)
  const digits = BigInt(whole + behind)
  if (shift >= 0) return digits * 10n ** BigInt(shift)
  const unit = 10n ** BigInt(-shift)
  return (digits + unit / 2n) / unit
}

/** A line of subtitles with the time of their display. */
const subtitleTime = /^(?:\d+:)?\d\d:\d\d[.,]\d{3} --> (?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})\s*$/gm

/** Returns the milliseconds of sound that subtitles cover; null: they state no times. */
export function subtitledMs(tail: Buffer): number | null {
  let last: number | null = null
  for (const [, hours = '0', minutes = '0', whole = '0', part = '0'] of tail.toString('latin1').matchAll(subtitleTime))
    last = Math.max(last ?? 0, ((Number(hours) * 60 + Number(minutes)) * 60 + Number(whole)) * 1000 + Number(part))
  return last
}
