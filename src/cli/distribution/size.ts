import { InvalidArgumentError } from 'commander'

const factors: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 }
const leastPart = 64 * 1024

/** Reads `4G`, `700M` or bytes. */
export function readPartSize(text: string): number {
  const [, number = '', unit = ''] = /^(\d+)([KMGT]?)$/i.exec(text) ?? []
  const bytes = Number(number) * (factors[unit.toUpperCase()] ?? 0)
  if (Number.isSafeInteger(bytes) && bytes >= leastPart) return bytes
  throw new InvalidArgumentError('write a size such as 4G or 700M, of at least 64K')
}
