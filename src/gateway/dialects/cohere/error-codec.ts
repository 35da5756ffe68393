import { readError } from '../error-reading.ts'
import type { NeutralError } from '../neutral/error.ts'

/** Reads an error. Cohere has a status of its own for a wrong key. */
export function decodeError(status: number, body: unknown): NeutralError {
  const error = readError(status, body)
  return error.status === 498 ? { ...error, status: 401 } : error
}
