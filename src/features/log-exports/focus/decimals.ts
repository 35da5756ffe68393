/** Returns an amount of so many decimal places as a text without an exponent: `decimal(-25n, 1)` is `-2.5`. */
export function decimal(amount: bigint, places: number): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

const picoPlaces = 12

/** Returns pico-US-dollars as US dollars. */
export const dollars = (pico: bigint): string => decimal(pico, picoPlaces)

/** Returns a count in units of so many, to twelve places. */
export const inUnitsOf = (count: bigint, per: bigint): string => decimal((count * 10n ** BigInt(picoPlaces)) / per, picoPlaces)
