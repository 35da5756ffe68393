// Figures as people read them. Money comes as decimal strings of pico-dollars and stays exact until the last step.

const picoDigits = 12

/** Returns an amount of pico-dollars with all its digits: `$0.006110`. */
export function exactMoney(pico: string): string {
  const negative = pico.startsWith('-')
  const digits = (negative ? pico.slice(1) : pico).padStart(picoDigits + 1, '0')
  const fraction = digits.slice(-picoDigits).replace(/0+$/, '').padEnd(2, '0')
  return `${negative ? '-' : ''}$${groups(digits.slice(0, -picoDigits))}.${fraction}`
}

/** Returns an amount of pico-dollars in cents, and below a dollar with four digits that count: `$1,204.18`, `$0.01230`. */
export function shortMoney(pico: string): string {
  const negative = pico.startsWith('-')
  const digits = (negative ? pico.slice(1) : pico).padStart(picoDigits + 1, '0')
  const first = digits.search(/[1-9]/)
  if (first === -1) return '$0.00'
  const whole = digits.length - picoDigits
  const decimals = first < whole ? 2 : Math.min(picoDigits, first + 4 - whole)
  const step = 10n ** BigInt(picoDigits - decimals)
  const rounded = ((BigInt(digits) + step / 2n) / step).toString().padStart(decimals + 1, '0')
  return `${negative ? '-' : ''}$${groups(rounded.slice(0, -decimals))}.${rounded.slice(-decimals)}`
}

/** Returns an amount of cents, as older fields of the API have it, in pico-dollars. */
export function picoOfCents(cents: number): string {
  const [coefficient = '0', exponent = '0'] = cents.toExponential(14).split('e')
  const [whole = '0', fraction = ''] = coefficient.replace('-', '').split('.')
  const shift = Number(exponent) - fraction.length + 10
  const digits = `${whole}${fraction}`
  const scaled = shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : BigInt(digits) / 10n ** BigInt(-shift)
  return `${cents < 0 && scaled !== 0n ? '-' : ''}${scaled}`
}

const groups = (whole: string): string => whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

/** The words for the states of a cost. */
export const costWords: Readonly<Record<string, string>> = {
  priced: 'Priced',
  partly_priced: 'Partly priced',
  estimated: 'Estimated',
  unpriced: 'Unpriced',
  not_charged: 'Not charged',
}

/** Returns the cost of a request in a list: `? Unpriced` and never zero for one without a price. */
export function listedCost(pico: string | null, state: string | null): string {
  if (state === 'not_charged') return '– Not charged'
  if (pico === null || state === 'unpriced') return state === null ? '–' : '? Unpriced'
  const sign = state === 'estimated' ? '~ ' : state === 'partly_priced' ? '◐ ' : ''
  return `${sign}${shortMoney(pico)}`
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
}

export const count = (value: number): string => (value > 999_999 ? `${(value / 1e6).toFixed(2)} M` : groups(String(Math.round(value))))

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const step = value < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10))
  return `${step === 0 ? value : (value / 1024 ** step).toFixed(1)} ${units[step]}`
}

export type Zone = 'utc' | 'local'

/** Returns a moment to the millisecond, with its date when it is not today. */
export function moment(iso: string, zone: Zone, now = new Date()): string {
  const text = stamp(new Date(iso), zone)
  return text.slice(0, 10) === stamp(now, zone).slice(0, 10) ? text.slice(11) : text
}

function stamp(date: Date, zone: Zone): string {
  const shifted = zone === 'utc' ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 23).replace('T', ' ')
}

/** Returns the begin of a step of a graph, as finely as its steps are; days and longer steps are those of UTC whatever the zone. */
export function stepMoment(iso: string, { interval, zone }: { readonly interval: string; readonly zone: Zone }): string {
  const isFine = interval === 'minute' || interval === 'hour'
  return isFine ? stamp(new Date(iso), zone).slice(0, 16) : `${iso.slice(0, 10)} UTC`
}

/** Returns how long ago a moment was, or in how long it will be. */
export function distance(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000)
  const size = Math.abs(seconds)
  const [value, unit] =
    size < 90 ? [size, 's'] : size < 5400 ? [size / 60, 'min'] : size < 129_600 ? [size / 3600, 'h'] : [size / 86_400, 'd']
  return seconds > 0 ? `in ${Math.round(value)} ${unit}` : `${Math.round(value)} ${unit} ago`
}
