import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Part } from '../neutral/parts.ts'
import { readSignature, type Signature, writeSignature } from '../neutral/signature.ts'
import { countOf } from '../neutral/token-usage.ts'

/** Reasoning of another vendor's model, as Google's clients carry it. */
export interface CarriedReasoning {
  readonly text: string
  readonly signature: Signature
  readonly redacted: boolean
  /** The characters of text between it and the call before it. */
  readonly after: number
}

/** The beginning of our carrier in base64: some of Google's clients read a signature as bytes, and would refuse a plain text. */
const mark = 'gh1:'
export const carrierMark = Buffer.from(mark).toString('base64').slice(0, 5)
/** More text than this is not carried: the reasoning is lost then, as it is for a client that returns none. */
const mostText = 256 * 1024

/**
 * Returns reasoning as one opaque text for `thoughtSignature`. Its text is in it, because shown thoughts need not come back, and a signature is
 * useless without them. An empty one means that its part came from another vendor's model.
 */
export function writeCarrier(carried: readonly CarriedReasoning[]): string {
  const kept = carried.filter(({ text }) => text.length <= mostText)
  const told = kept.map(({ text, signature, redacted, after }) =>
    [writeSignature(signature, null), text, redacted ? 1 : 0].concat(after === 0 ? [] : after),
  )
  return Buffer.from(mark + JSON.stringify(told)).toString('base64')
}

/** Returns true for a text that we had a client carry. */
export const isCarrier = (value: unknown): value is string => typeof value === 'string' && value.startsWith(carrierMark)

/** Reads a client's signature: Google's own, or our carrier. */
export function readCarrier(value: unknown): { readonly own: Signature | null; readonly carried: readonly CarriedReasoning[] } {
  if (typeof value !== 'string' || value === '') return { own: null, carried: [] }
  if (!isCarrier(value)) return { own: { origin: 'google', value }, carried: [] }
  const list = parsed(Buffer.from(value, 'base64').toString('utf8'))
  return { own: null, carried: list.flatMap((one) => readCarried(one)) }
}

function parsed(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text.slice(mark.length))
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

function readCarried(one: unknown): readonly CarriedReasoning[] {
  if (!Array.isArray(one)) return []
  const [told, text, redacted, after]: readonly unknown[] = one
  const signature = readSignature(told, null)
  return signature === null || typeof text !== 'string' ? [] : [{ signature, text, redacted: redacted === 1, after: countOf(after) ?? 0 }]
}

/** Returns carried reasoning as parts of a conversation. */
export const carriedParts = (carried: readonly CarriedReasoning[], at: string): readonly Part[] =>
  carried.map(({ text, signature, redacted, after }) => ({
    kind: 'reasoning',
    text,
    signature,
    redacted,
    after,
    at,
    cache: null,
    bag: null,
  }))

/** Returns the names of a body as Google's API writes them: it takes `system_instruction` for `systemInstruction`. */
export function camelCased(body: Fields): Fields {
  let renamed: Record<string, unknown> | null = null
  for (const name of Object.keys(body)) {
    if (!name.includes('_')) continue
    renamed ??= { ...body }
    const camel = name.replaceAll(/(?<!^)_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
    delete renamed[name]
    renamed[camel] ??= body[name]
  }
  return renamed ?? body
}

/** The same for a value that should be an object; all else stays. */
export const camelCasedValue = (value: unknown): unknown => (isFields(value) ? camelCased(value) : value)
