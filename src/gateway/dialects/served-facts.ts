import { type Fields, isFields } from '../../lib/json/fields.ts'
import { milliseconds } from './read-counts.ts'

/** The facts of how an answer was served, as far as prices depend on it. */
export interface ServedFacts {
  /** The model that answered; null: the answer does not say. */
  readonly model: string | null
  /** `priority`, `flex`, `batch`, `fast`; null: as usual, or not said. */
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
  ON_DEMAND_PRIORITY: 'priority',
  ON_DEMAND_FLEX: 'flex',
}

/**
 * Reads how an answer was served from its bytes and its usage object. What was asked does not count where the answer speaks: priority is
 * often asked and not given. `asked` is the mode of the request, for answers that do not say.
 */
export function servedFacts(
  bytes: { readonly head: Buffer; readonly tail: Buffer },
  usage: Fields | null,
  asked: string | null,
): ServedFacts {
  const tier =
    textIn(usage, 'service_tier') ??
    textIn(usage, 'trafficType') ??
    textIn(usage, 'serviceTier') ??
    lastText(bytes.tail, 'service_tier') ??
    lastText(bytes.head, 'service_tier') ??
    converseTier(bytes.tail)
  const mode = tier === null ? (modes[asked ?? ''] ?? null) : (modes[tier] ?? null)
  return {
    model: firstText(bytes.head, 'model') ?? firstText(bytes.head, 'modelVersion'),
    mode: textIn(usage, 'speed') === 'fast' ? 'fast' : mode,
    geo: known(textIn(usage, 'inference_geo')),
  }
}

const known = (geo: string | null): string | null => (geo === null || geo === 'global' || geo === 'not_available' ? null : geo)

function textIn(fields: Fields | null, name: string): string | null {
  const value = fields?.[name]
  return typeof value === 'string' ? value : null
}

/** Converse tells its tier in an object beside the usage: `"serviceTier":{"type":"flex"}`. */
function converseTier(bytes: Buffer): string | null {
  const at = bytes.lastIndexOf('"serviceTier"')
  return at === -1 ? null : textAt(bytes, bytes.indexOf('"type"', at), 'type')
}

/** Bytes of the longest value. */
const longestText = 255

const firstText = (bytes: Buffer, name: string): string | null => textAt(bytes, bytes.indexOf(`"${name}"`), name)
const lastText = (bytes: Buffer, name: string): string | null => textAt(bytes, bytes.lastIndexOf(`"${name}"`), name)

/** Reads the text behind a name. A name within a text has a backslash before its quote and is none. */
function textAt(bytes: Buffer, at: number, name: string): string | null {
  if (at === -1) return null
  const colon = afterBlanks(bytes, at + name.length + 2)
  if (bytes[colon] !== 0x3a) return null
  const start = afterBlanks(bytes, colon + 1) + 1
  if (bytes[start - 1] !== 0x22) return null
  const end = bytes.indexOf('"', start)
  if (end <= start || end - start > longestText) return null
  const value = bytes.toString('utf8', start, end)
  return value.includes('\\') ? null : value
}

const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

function afterBlanks(bytes: Buffer, from: number): number {
  let at = from
  while (isBlank(bytes[at] ?? 0)) at += 1
  return at
}

interface CostPlace {
  readonly path: readonly string[]
  /** Digits by which the figure is moved to be in US dollars. */
  readonly places: number
}

/** Providers that tell their own price, and the field of the usage object that has it. */
const reportedCosts: Readonly<Record<string, CostPlace>> = {
  openrouter: { path: ['cost'], places: 0 },
  vercel: { path: ['cost'], places: 0 },
  deepinfra: { path: ['estimated_cost'], places: 0 },
  'perplexity-ai': { path: ['cost', 'total_cost'], places: 0 },
  'x-ai': { path: ['cost_in_usd_ticks'], places: 10 },
}

/**
 * Returns the cost that a provider names in its answer, in pico-US-dollars; null when it names none. With a key of the caller's own at
 * OpenRouter the figure is only its fee: what the vendor charges to that key stands beside it, and the cost is both.
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

/** Reads a decimal text, `places` places further to the right. The shortest decimal of a number is what its author wrote. */
function decimalPico(text: string, places: number): bigint | null {
  const [, whole, behind = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d{1,3}))?$/.exec(text) ?? []
  if (whole === undefined) return null
  const shift = 12 - places - behind.length + Number(exponent)
  const digits = BigInt(whole + behind)
  if (shift >= 0) return digits * 10n ** BigInt(shift)
  const unit = 10n ** BigInt(-shift)
  return (digits + unit / 2n) / unit
}

/** Reads the size and the quality of the images of an answer; null: it does not say. They stand before the images or behind them. */
export const imageFacts = ({ head, tail }: { readonly head: Buffer; readonly tail: Buffer }) => ({
  size: lastText(tail, 'size') ?? firstText(head, 'size'),
  quality: lastText(tail, 'quality') ?? firstText(head, 'quality'),
})

/** Returns the milliseconds of sound that a transcription was made of, as far as its form tells: `verbose_json`, `srt` and `vtt` do. */
export function transcribedMs(bytes: {
  readonly head: Buffer
  readonly tail: Buffer
}): { readonly ms: number; readonly estimated: boolean } | null {
  const [, seconds] = /"duration"\s*:\s*"?(\d+(?:\.\d+)?)/.exec(bytes.head.toString('utf8', 0, 2000)) ?? []
  if (seconds !== undefined) return { ms: milliseconds(Number(seconds)), estimated: false }
  const last = [...bytes.tail.toString('latin1').matchAll(/--> (?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})/g)].at(-1)
  if (last === undefined) return null
  const [, hours = '0', minutes = '0', whole = '0', part = '0'] = last
  return { ms: ((Number(hours) * 60 + Number(minutes)) * 60 + Number(whole)) * 1000 + Number(part), estimated: true }
}
