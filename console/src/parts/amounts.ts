import { count, shortMoney } from '../api/figures.ts'

/** Dollars have at most twelve decimals. */
const picoDigits = 12

/** Returns an amount of a limit with its unit. */
export const amountOf = (value: number, type = 'cost'): string => {
  if (type !== 'cost') return `${count(value)} ${type}`
  const [whole = '0', fraction = ''] = value.toFixed(picoDigits).split('.')
  return shortMoney(BigInt(whole + fraction).toString())
}

interface Spent {
  readonly spent: number
  readonly limit: number
  readonly type: string
}

/** Returns how much of a limit is used: `$612.00 of $800.00`. */
export const spentOf = ({ spent, limit, type }: Spent): string => `${amountOf(spent, type)} of ${amountOf(limit, type)}`
