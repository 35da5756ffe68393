/** Divides and rounds half to even, so that rounding has no bias. The divisor is positive, the value is not negative. */
export function divideEven(value: bigint, divisor: bigint): bigint {
  if (divisor === 1n) return value
  const whole = value / divisor
  const twice = (value % divisor) * 2n
  return twice > divisor || (twice === divisor && whole % 2n === 1n) ? whole + 1n : whole
}

/** A factor as an exact fraction. */
export interface Factor {
  readonly over: bigint
  readonly under: bigint
}

/** Reads a factor as its author wrote it: 0.85 is 85/100. Throws RangeError on a value that is no factor. */
export function parseFactor(text: string): Factor {
  const [, whole, behind = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d{1,3}))?$/.exec(text) ?? []
  if (whole === undefined) throw new RangeError(`${text} is no factor`)
  const places = BigInt(exponent) - BigInt(behind.length)
  const digits = BigInt(whole + behind)
  return places >= 0n ? { over: digits * 10n ** places, under: 1n } : { over: digits, under: 10n ** -places }
}
