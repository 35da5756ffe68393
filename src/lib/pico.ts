const decimals = 12

/**
 * Reads a decimal text as an amount in pico-units: 10^-12 of a US dollar, of a token or of a request. Digits behind the twelfth are rounded. Throws
 * RangeError on a text that is no amount, such as a negative number.
 */
export function parsePico(text: string): bigint {
  const [, whole, behind = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) ?? []
  if (whole === undefined) throw new RangeError(`${text} is no amount`)
  return shifted(BigInt(whole + behind), decimals + Number(exponent) - behind.length)
}

/** Writes an amount as a decimal text, with all twelve digits behind the point. */
export function formatPico(pico: bigint): string {
  const text = String(pico).padStart(decimals + 1, '0')
  return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}

/** Reads the number of a JSON body: its shortest decimal form is the number as its author wrote it. */
export const toPico = (amount: number): bigint => parsePico(String(amount))

/** Returns the number that JSON shows of an amount. */
export const fromPico = (pico: bigint): number => Number(formatPico(pico))

function shifted(value: bigint, places: number): bigint {
  if (places >= 0) return value * 10n ** BigInt(places)
  const unit = 10n ** BigInt(-places)
  return (value + unit / 2n) / unit
}
