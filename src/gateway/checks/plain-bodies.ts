import type { BodyEdit } from './check.ts'
import type { CheckedBody } from './run.ts'

/** Returns the result for a body that cannot be read. */
export const unreadable = (reason: string): CheckedBody & { readonly unreadable: string } => ({
  json: undefined,
  parts: [],
  unreadable: reason,
})

/** A text that stands alone, out of changes that were made to it. */
export function lastText(edits: readonly BodyEdit[]): string {
  const value = edits.at(-1)?.value
  return typeof value === 'string' ? value : JSON.stringify(value ?? '')
}
