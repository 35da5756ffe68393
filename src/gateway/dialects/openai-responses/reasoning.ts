import type { Fields } from '../../../lib/json/fields.ts'
import type { BlockEnd } from '../neutral/events.ts'
import type { ReasoningPart } from '../neutral/parts.ts'
import { readSignature, unsignedMark, writeSignature } from '../neutral/signature.ts'
import { saidList, saidText } from '../reading.ts'

/** Stands before a signature that holds the whole reasoning. */
const sealed = 'sealed.'

/** Reads an item of reasoning that a client sends back. */
export function openReasoning(item: Fields, at: string): ReasoningPart {
  const signature = readSignature(item['encrypted_content'], 'openai')
  const redacted = signature !== null && signature.value.startsWith(sealed)
  const texts = [...saidList(item, 'summary'), ...saidList(item, 'content')].map((part) => saidText(part, 'text') ?? '')
  return {
    kind: 'reasoning',
    text: redacted ? '' : texts.join('\n\n'),
    signature: redacted ? { ...signature, value: signature.value.slice(sealed.length) } : signature,
    redacted,
    at,
    cache: null,
    bag: null,
  }
}

/** Returns the signature of reasoning as a client keeps it. */
export const sealReasoning = ({ signature, redacted }: BlockEnd): string =>
  signature === null ? unsignedMark : writeSignature(redacted ? { ...signature, value: sealed + signature.value } : signature, 'openai')
