import { headersWithout, headerValue } from '../../wire/header-list.ts'

/** The head of a provider's answer. */
export interface AnswerHead {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly statusMessage: string
}

/** How an answer can be inspected. `media` holds no text; the content of `opaque` is unknown. */
export type AnswerKind = 'stream' | 'json' | 'text' | 'media' | 'opaque' | 'none'

/** Returns the kind of an answer, by its head. */
export function answerKind({ status, rawHeaders }: AnswerHead, method: string): AnswerKind {
  if (method === 'HEAD' || Math.floor(status / 100) !== 2 || status === 204) return 'none'
  const type = headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
  if (type.startsWith('text/event-stream')) return headerValue(rawHeaders, 'content-encoding') === undefined ? 'stream' : 'opaque'
  if (/^application\/(?:[\w.+-]+\+)?json\b/.test(type)) return 'json'
  if (/^(?:text\/|application\/(?:x-)?(?:nd|l)?json(?:l|lines)?\b|application\/xml\b)/.test(type)) return 'text'
  return /^(?:audio|image|video|font)\//.test(type) ? 'media' : 'opaque'
}

/** Headers that describe bytes which are not the same any more. */
const ofBytes = new Set(['content-length', 'content-encoding', 'content-md5', 'content-digest', 'repr-digest', 'digest', 'etag', 'trailer'])

/** Returns the headers of an answer whose body has changed. `type`: another media type than it had. */
export function headersFor(rawHeaders: readonly string[], length: number | null, type: string | null = null): readonly string[] {
  const kept = headersWithout(rawHeaders, (name) => ofBytes.has(name) || (type !== null && name === 'content-type'))
  if (type !== null) kept.push('content-type', type)
  if (length !== null) kept.push('content-length', String(length))
  return kept
}
