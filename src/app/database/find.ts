import { UniqueConstraintViolationException, type EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { slugPattern } from '../../lib/text/slug.ts'
import { nearestName } from '../../lib/text/nearest.ts'
import { isUuid } from '../../lib/is-uuid.ts'

/** Returns the one answer for records that are deleted, belong to another tenant or never existed. */
export const notFound = (noun: string, reference: string, param = 'id'): ApiError => missing(noun, { reference, param }, null)

const missing = (noun: string, { reference, param }: WantedRow, meant: string | null): ApiError =>
  new ApiError('AB08', `There is no ${noun} "${reference.slice(0, 255)}".${meant === null ? '' : ` Did you mean "${meant}"?`}`, { param })

interface WantedRow {
  readonly reference: string
  /** The field or parameter that names it. */
  readonly param: string
}

/** The row, or AB08; `wanted` is the requested reference, and the field or parameter that named it. */
export function orNotFound<Row>(row: Row | null, noun: string, wanted: string | WantedRow): Row {
  if (row !== null) return row
  throw typeof wanted === 'string' ? notFound(noun, wanted) : notFound(noun, wanted.reference, wanted.param)
}

/**
 * Resolves with the row. Rejects with AB08 that names the slug that was probably meant: `visible` reads rows that the caller may see, and no
 * others, with `onlySlugs`.
 */
export async function orMeant<Row>(
  row: Row | null,
  { noun, reference, param }: WantedRow & { readonly noun: string },
  visible: () => Promise<readonly { readonly slug: string }[]>,
): Promise<Row> {
  if (row !== null) return row
  const names = isUuid(reference) ? [] : (await visible()).map(({ slug }) => slug)
  throw missing(noun, { reference, param }, nearestName(reference, names))
}

/** How rows are read of which only the slugs are of use. */
export const onlySlugs = { fields: ['slug'], limit: 1000, disableIdentityMap: true } as const

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
