import { z } from 'zod'
import type { Subject } from '../check.ts'
import { requestTexts } from '../../dialects/request-texts.ts'

/** A key that goes into a header. */
export const key = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x20-\x7e]+$/, 'This cannot be a key: it holds a character that no header can carry.')

/** A host without anything before or behind it. */
export const host = z
  .string()
  .max(253)
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i, 'Write a host name, without https://.')

/** One label of a host name. */
export const label = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i, 'Write letters, digits and dashes.')

/** A flag: true when findings are taken out of the texts, so that they pass. */
export const redact = z
  .boolean()
  .default(false)
  .meta({ description: 'Removes the found passages from the texts, and lets the texts pass.' })

/** A bearer token. */
export const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` })

/** A message in the words that most services understand. */
export interface Message {
  readonly role: string
  readonly content: string
}

/** Returns the texts that are looked at, as messages. */
export const messagesOf = ({ parts }: Subject): readonly Message[] => parts.map(({ role, text }) => ({ role, content: text }))

/** All texts of the request, as messages; the answer is not among them. */
export const askedMessages = ({ request }: Subject): readonly Message[] =>
  requestTexts(request.json, request.dialect).map(({ role, text }) => ({ role, content: text }))

/** All texts of the request, one text a line. */
export const askedText = (subject: Subject): string =>
  askedMessages(subject)
    .map(({ content }) => content)
    .join('\n')

/** The names whose value is true. */
export const trueNames = (flags: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(flags).flatMap(([name, value]) => (value === true ? [name] : []))

/** A text with parts of it replaced; parts that overlap are one. */
export function withoutSpans(text: string, spans: readonly (readonly [start: number, end: number])[], by = '[REDACTED]'): string {
  let result = ''
  let from = 0
  for (const [start, end] of spans.toSorted(([one], [other]) => one - other)) {
    if (end <= from) continue
    if (start > from || from === 0) result += text.slice(from, Math.max(start, from)) + by
    from = end
  }
  return result + text.slice(from)
}
