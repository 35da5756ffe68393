import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { readError } from '../error-reading.ts'
import type { NeutralError } from '../neutral/error.ts'
import { saidList, saidText } from '../reading.ts'

/** Reads an error. A wrong key is a 400 at Google, and a 401 elsewhere; how long to wait stands among its details. */
export function decodeError(status: number, body: unknown): NeutralError {
  const retryAfter = retryAfterIn(body)
  const read = { ...readError(status, body), param: paramIn(body) }
  const error = retryAfter === null ? read : { ...read, retryAfter }
  return error.status === 400 && /API_KEY_INVALID|API key not valid|API key expired/.test(toText(body) + error.message)
    ? { ...error, status: 401 }
    : error
}

/** Returns the whole seconds of a `RetryInfo`, as in `"retryDelay": "17.5s"`; null: there is none. Without server-sent events the body is a list. */
function retryAfterIn(body: unknown): number | null {
  for (const one of saidList(errorOf(body), 'details')) {
    const seconds = /^(\d{1,6}(?:\.\d+)?)s$/.exec(saidText(one, 'retryDelay') ?? '')
    if (seconds !== null) return Math.ceil(Number(seconds[1]))
  }
  return null
}

function errorOf(body: unknown): Fields {
  const first: unknown = Array.isArray(body) ? body[0] : body
  const error = isFields(first) ? first['error'] : null
  return isFields(error) ? error : nothing
}

const nothing: Fields = {}

/** Returns the field that a `BadRequest` among the details names, or the message: both write it in either spelling. */
function paramIn(body: unknown): string | null {
  const error = errorOf(body)
  const [violation] = saidList(error, 'details').flatMap((one) => saidList(one, 'fieldViolations'))
  const named = saidText(violation ?? nothing, 'field') || /\bat '([\w.[\]]{1,200})'/.exec(saidText(error, 'message') ?? '')?.[1]
  return named === undefined ? null : named.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

const toText = (body: unknown): string => (typeof body === 'string' ? body.slice(0, 4000) : JSON.stringify(body ?? '').slice(0, 4000))

const words: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
}

/** Writes a provider's error. `code` is an HTTP status, without which Google's clients do not recognise it. */
export const encodeError = ({ status, message }: NeutralError): object => ({
  error: { code: status === 529 ? 503 : status, message, status: words[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL') },
})
