import { fromPico, toPico } from '../../lib/pico.ts'

/** Reads an amount of a body, US dollars or tokens, as pico-units; undefined and null stay what they are. */
export function toAmount(given: number): bigint
export function toAmount<None extends null | undefined>(given: number | None): bigint | None
export function toAmount(given: number | null | undefined): bigint | null | undefined {
  return typeof given === 'number' ? toPico(given) : given
}

/** Returns an amount as it is answered; null where there is none. */
export function fromAmount(amount: bigint): number
export function fromAmount(amount: bigint | null | undefined): number | null
export function fromAmount(amount: bigint | null | undefined): number | null {
  return typeof amount === 'bigint' ? fromPico(amount) : null
}
