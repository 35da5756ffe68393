import { ApiError } from '../../lib/errors.ts'

/** Returns the size of a page that a query asks for: 1000 at most. */
export const pageSize = (query: URLSearchParams, name: string, fallback: number): number =>
  Math.min(Math.max(wholeNumber(query, name, fallback), 1), 1000)

/** Returns a whole number of a query. Throws `invalid_request`, naming it, for anything else. */
export function wholeNumber(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name) ?? ''
  if (text === '') return fallback
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new ApiError('invalid_request', `${name} must be a whole number, not ${JSON.stringify(text.slice(0, 20))}.`, { param: name })
}
