import { markOf } from '../../release/since.ts'
import type { Check } from './check.ts'

/** The release that a check needs. */
export interface CheckRelease {
  readonly release: string
  /** The parameter that brings it; null: the check itself. */
  readonly field: string | null
}

/** Returns the releases that a check with these parameters needs, that of the check first. */
export function releasesOfCheck(
  { since, parameters: { shape } }: Check,
  given: Readonly<Record<string, unknown>>,
): readonly CheckRelease[] {
  const later = Object.keys(given).flatMap((field) => {
    const schema = Object.hasOwn(shape, field) && given[field] !== undefined ? shape[field] : undefined
    const release = schema === undefined ? null : (markOf(schema)?.since ?? null)
    return release === null ? [] : [{ release, field }]
  })
  return [{ release: since, field: null }, ...later]
}

/** Returns the name of a check, or of the parameter of it that a release brought. */
export const nameOfRelease = (id: string, field: string | null): string =>
  field === null ? `The check ${id}` : `The parameter ${field} of the check ${id}`
