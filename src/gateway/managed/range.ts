import { ApiError } from '../../lib/errors.ts'
import type { ByteRange } from './file-store.ts'

const form = /^bytes=(\d{0,15})-(\d{0,15})$/

/**
 * Returns the one part of a content that `Range` asks for; null: it asks for all. Several parts, and a header of another form, get all of it, as RFC
 * 9110 allows. Throws `range_not_satisfiable`.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | null {
  const [, from, to] = form.exec(header?.trim() ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return null
  return from === '' ? lastOf(size, Number(to)) : partOf(size, Number(from), to === '' ? size - 1 : Number(to))
}

function partOf(size: number, start: number, last: number): ByteRange | null {
  if (start >= size) throw beyond(size)
  return last < start ? null : { start, end: Math.min(last + 1, size) }
}

function lastOf(size: number, count: number): ByteRange {
  if (count === 0 || size === 0) throw beyond(size)
  return { start: Math.max(0, size - count), end: size }
}

const beyond = (size: number): ApiError =>
  new ApiError('range_not_satisfiable', `Range: the file has ${size} bytes.`, {
    param: 'range',
    headers: ['content-range', `bytes */${size}`],
  })
