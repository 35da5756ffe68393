import { Secret } from './secret.ts'

/** Returns JSON with secrets in the clear. Pass it only to a thread of this process, to which secrets cannot be copied. */
export const inTheClear = (value: unknown): string => JSON.stringify(value, reveal)

function reveal(this: Readonly<Record<string, unknown>>, name: string, plain: unknown): unknown {
  // A secret in plain form no longer marks itself as one.
  const held = this[name]
  return held instanceof Secret ? { revealed: held.reveal() } : plain
}

/** Returns a value as JSON.parse read it, secrets as secrets again. */
export const concealSecret = (_: string, value: unknown): unknown => (isRevealed(value) ? new Secret(value.revealed) : value)

const isRevealed = (value: unknown): value is { readonly revealed: string } =>
  typeof value === 'object' && value !== null && 'revealed' in value && typeof value.revealed === 'string'
