import { jsonOrUndefined } from '../../../lib/json/json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { ReasoningPart } from '../neutral/parts.ts'
import type { Signature } from '../neutral/signature.ts'
import { saidText } from '../reading.ts'

/** Returns the text of one of OpenRouter's pieces of reasoning. The parts that vendors signed or sealed, and want back as they were, stand beside it. */
export const detailText = (detail: Fields): string => saidText(detail, 'text') ?? saidText(detail, 'summary') ?? ''

/** Returns true if a piece is signed or sealed by a vendor. */
export const isSealed = (detail: Fields): boolean => (detail['signature'] ?? '') !== '' || (detail['data'] ?? '') !== ''

const isText = ({ type }: Fields): boolean => type === 'reasoning.text' || type === 'reasoning.summary'

/** The pieces of a block of reasoning, without their texts, which the block itself has. */
export interface DetailBlock {
  /** By type and index, in the order in which they began. */
  readonly pieces: Map<string, Fields>
  /** The index that the texts of the block have; undefined: no text came so far. */
  textIndex: unknown
}

export const emptyBlock = (): DetailBlock => ({ pieces: new Map(), textIndex: undefined })

const indexOf = ({ index }: Fields): unknown => index ?? null

/** Returns true if a piece belongs to another text than that of the block. */
export const beginsAnother = ({ textIndex }: DetailBlock, detail: Fields): boolean =>
  isText(detail) && textIndex !== undefined && textIndex !== indexOf(detail)

/** Adds a piece of a stream to its block. */
export function addDetail(block: DetailBlock, { text: _text, summary: _summary, ...piece }: Fields): void {
  const said = Object.entries(piece).filter(([, value]) => value !== null && value !== '')
  const key = JSON.stringify([piece['type'], indexOf(piece)])
  block.pieces.set(key, { ...block.pieces.get(key), ...Object.fromEntries(said) })
  if (isText(piece)) block.textIndex ??= indexOf(piece)
}

/** Returns the signature that keeps the pieces of a block; null: no vendor signed any of them, so that the text alone goes back. */
export function detailsSignature({ pieces }: DetailBlock): Signature | null {
  const details = [...pieces.values()]
  return details.some((detail) => isSealed(detail)) ? { origin: 'openrouter', value: JSON.stringify(details) } : null
}

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
