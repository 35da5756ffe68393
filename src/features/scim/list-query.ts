import { z } from 'zod'
import type { Level } from '../../release/level.ts'
import { scimError } from './scim-error.ts'
import type { Document } from './schema/normalise.ts'

export const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

/** The most resources in one page. */
export const maxCount = 200
const usualCount = 100

const text = z.string().max(10_000).optional()

/** The parameters of a list. Others are ignored: some clients add marks of their own to every address. */
export const listQuery = z.object({
  filter: text,
  sortBy: text,
  sortOrder: text,
  startIndex: text,
  count: text,
  attributes: text,
  excludedAttributes: text,
})

export type ListQuery = z.output<typeof listQuery>

/** The part of a list that is asked for. */
export interface Window {
  /** Counted from 1. */
  readonly startIndex: number
  readonly count: number
  readonly descending: boolean
}

/** Reads the requested part of a list. A text that is no number is refused from release 1.7.1 on, and was ignored before. */
export function windowOf({ startIndex, count, sortOrder }: ListQuery, level: Pick<Level, 'atLeast'>): Window {
  const strict = level.atLeast('1.7.1')
  return {
    startIndex: Math.max(1, wholeNumber('startIndex', startIndex, strict) ?? 1),
    count: Math.min(maxCount, Math.max(0, wholeNumber('count', count, strict) ?? usualCount)),
    descending: isDescending(sortOrder, strict),
  }
}

function wholeNumber(name: string, given: string | undefined, strict: boolean): number | null {
  if (given === undefined || given === '') return null
  if (/^-?\d+$/.test(given)) return Math.min(Number(given), Number.MAX_SAFE_INTEGER)
  if (strict) throw scimError('invalidValue', `\`${name}\` is a whole number.`, name)
  return null
}

function isDescending(given: string | undefined, strict: boolean): boolean {
  const order = (given ?? 'ascending').toLowerCase()
  if (strict && order !== 'ascending' && order !== 'descending')
    throw scimError('invalidValue', '`sortOrder` is ascending or descending.', 'sortOrder')
  return order === 'descending'
}

/** Returns a part of a list. */
export const listAnswer = (
  resources: readonly Document[],
  { total, startIndex }: { readonly total: number; readonly startIndex: number },
): Document => ({
  schemas: [listSchema],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
})
