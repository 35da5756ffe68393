import { UniqueConstraintViolationException, type EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { slugPattern } from '../../lib/text/slug.ts'
import { isUuid } from '../../lib/is-uuid.ts'

/** Returns the one answer for records that are deleted, belong to another tenant or never existed. */
export const notFound = (noun: string, reference: string, param = 'id'): ApiError =>
  new ApiError('AB08', `There is no ${noun} "${reference.slice(0, 255)}".`, { param })

/** The row, or AB08; `wanted` is the requested reference, and the field or parameter that named it. */
export function orNotFound<Row>(
  row: Row | null,
  noun: string,
  wanted: string | { readonly reference: string; readonly param: string },
): Row {
  if (row !== null) return row
  throw typeof wanted === 'string' ? notFound(noun, wanted) : notFound(noun, wanted.reference, wanted.param)
}

/** The condition on a row that a path or a field names by UUID or by slug. */
export function byIdOrSlug(reference: string): { readonly id: string } | { readonly slug: string } {
  if (isUuid(reference)) return { id: reference.toLowerCase() }
  return { slug: slugPattern.test(reference) ? reference : '' }
}

/** Writes pending changes; a value that must be unique and is taken becomes AB07. */
export async function flushUnique(em: EntityManager, message: string, param: string): Promise<void> {
  try {
    await em.flush()
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) throw new ApiError('AB07', message, { param, cause: error })
    throw error
  }
}

/** Makes transactions that choose the same slug wait for one another, so that a made slug is still free when it is written. */
export async function holdSlug(em: EntityManager, scope: string, slug: string): Promise<void> {
  await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:slug:${scope}:${slug}`])
}
