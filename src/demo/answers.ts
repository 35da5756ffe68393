import { createHash } from 'node:crypto'
import { type Fields, isFields } from '../lib/json/fields.ts'

/** So much of a text counts: the provider runs beside the requests of the gateway. */
const longestRead = 500
const dimensions = 256

/** Returns the answer of the demo provider to a conversation: the same for the same question. */
export function reply({ messages }: Fields): string {
  const asked = Array.isArray(messages) ? messages.findLast((message) => isFields(message) && message['role'] === 'user') : undefined
  const text = textOf(isFields(asked) ? asked['content'] : '').slice(0, longestRead)
  return [
    'Hello from the demo provider. It runs inside Gatehouse, needs no key and no network, and knows no model.',
    text === '' ? '' : `You wrote: ${text}`,
    'This request is logged and priced like any other. Store a provider of your own for real answers.',
  ]
    .filter((line) => line !== '')
    .join('\n\n')
}

/** Returns the text of a content: a text, or the text parts of a list. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isFields(part) && typeof part['text'] === 'string' ? part['text'] : '')).join(' ')
}

/** Returns about the number of tokens that a text has for usual models. */
export const tokensIn = (text: string): number => Math.max(1, Math.ceil(text.length / 4))

/** Returns a vector of length 1, in which texts with words in common are near each other. */
export function embedding(text: string): readonly number[] {
  const vector = new Float64Array(dimensions)
  for (const word of text.slice(0, longestRead).toLowerCase().split(/\W+/)) {
    const place = createHash('sha256').update(word).digest().readUInt32BE() % dimensions
    vector[place] = (vector[place] ?? 0) + 1
  }
  const length = Math.hypot(...vector)
  return [...vector].map((value) => value / length)
}
