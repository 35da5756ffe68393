import { jsonOrUndefined } from '../../../lib/json/json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { ReasoningPart } from '../neutral/parts.ts'
import type { Signature } from '../neutral/signature.ts'
import { saidText } from '../reading.ts'

/** Returns the text of one of OpenRouter's pieces of reasoning. What vendors signed or sealed, and want back as it was, stands beside it. */
export const detailText = (detail: Fields): string => saidText(detail, 'text') ?? saidText(detail, 'summary') ?? ''

/** Returns true if a piece holds what a vendor signed or sealed. */
export const isSealed = (detail: Fields): boolean => (detail['signature'] ?? '') !== '' || (detail['data'] ?? '') !== ''

const isText = ({ type }: Fields): boolean => type === 'reasoning.text' || type === 'reasoning.summary'

/** Returns true if a piece belongs to another text than the pieces before it. */
export const beginsAnother = (details: readonly Fields[], { index, ...detail }: Fields): boolean =>
  isText(detail) && details.some((one) => isText(one) && (one['index'] ?? null) !== (index ?? null))

/** Adds a piece of a stream to the pieces of its block, without its text, which the block itself has. */
export function addDetail(details: Fields[], { text: _text, summary: _summary, ...piece }: Fields): void {
  const said = Object.entries(piece).filter(([, value]) => value !== null && value !== '')
  const at = details.findIndex(({ type, index }) => type === piece['type'] && (index ?? null) === (piece['index'] ?? null))
  const merged = { ...details[at], ...Object.fromEntries(said) }
  if (at === -1) details.push(merged)
  else details[at] = merged
}

/** Returns what keeps the pieces of a block; null: nobody signed any of them, so that the text alone goes back. */
export const detailsSignature = (details: readonly Fields[]): Signature | null =>
  details.some((detail) => isSealed(detail)) ? { origin: 'openrouter', value: JSON.stringify(details) } : null

/** Returns the pieces of a part as OpenRouter gave them, and whether its text is in them; null: it is another's reasoning. */
export function writeDetails({
  text,
  signature,
}: ReasoningPart): { readonly details: readonly Fields[]; readonly holdsText: boolean } | null {
  const kept = signature?.origin === 'openrouter' ? jsonOrUndefined(signature.value) : undefined
  if (!Array.isArray(kept)) return null
  const details = kept.filter((detail) => isFields(detail))
  const first = details.findIndex((detail) => isText(detail))
  const whole = details.map((detail, at) =>
    at === first ? Object.assign({}, detail, { [detail['type'] === 'reasoning.summary' ? 'summary' : 'text']: text }) : detail,
  )
  return { details: whole, holdsText: first !== -1 || text === '' }
}
