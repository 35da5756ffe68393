import { readError } from '../error-reading.ts'
import type { NeutralError } from '../neutral/error.ts'

/** Reads an error. A wrong key is a 400 at Google, and a 401 elsewhere. */
export function decodeError(status: number, body: unknown): NeutralError {
  const error = readError(status, body)
  return error.status === 400 && /API_KEY_INVALID|API key not valid|API key expired/.test(toText(body) + error.message)
    ? { ...error, status: 401 }
    : error
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

/** Writes a provider's error. `code` is an HTTP status, without which Google's clients do not know it. */
export const encodeError = ({ status, message }: NeutralError): object => ({
  error: { code: status === 529 ? 503 : status, message, status: words[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL') },
})
