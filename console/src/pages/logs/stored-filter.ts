// The filter of the list as the API stores it with views and exports: the same names as in the query, with values of JSON.
import { classes, listed, quoted, ranged, switches } from './filter.ts'

type Query = Readonly<Record<string, string>>
/** A filter as it is stored. */
export type StoredFilter = Readonly<Record<string, unknown>>

const numeric = new Set(Object.values(ranged).flatMap(({ parameter }) => [`${parameter}_min`, `${parameter}_max`]))
const yesNo = new Set(Object.values(switches))

/** Returns a query of the list as it is stored. Words in bodies and the place are no part of it. */
export const storedOf = (query: Query): StoredFilter =>
  Object.fromEntries(
    Object.entries(query)
      .filter(([name]) => name !== 'q' && name !== 'workspace_id')
      .map(([name, value]) => [name, valueOf(name, value)]),
  )

function valueOf(name: string, value: string): unknown {
  if (numeric.has(name)) return Number(value)
  if (yesNo.has(name)) return value === 'true'
  return name === 'metadata' ? JSON.parse(value) : value
}

/** A stored filter as the address has it. */
interface Restored {
  readonly q: string
  readonly from: string
  readonly to: string
  /** The names of filters that the filter bar does not have; they do not apply. */
  readonly unknown: readonly string[]
}

/** Returns the text of the filter bar, and the range, of a stored filter. */
export function restored(filter: StoredFilter): Restored {
  const { time_of_generation_min: min, time_of_generation_max: max, ...rest } = filter
  const terms = Object.entries(rest).map(([name, value]): readonly [string, readonly string[]] => [name, termsOf(name, value)])
  return {
    q: terms.flatMap(([, texts]) => texts).join(' '),
    from: typeof min === 'string' ? min : '',
    to: typeof max === 'string' ? new Date(Date.parse(max) + 1).toISOString() : '',
    unknown: terms.flatMap(([name, texts]) => (texts.length === 0 ? [name] : [])),
  }
}

/** Returns the terms of one stored filter; none: the filter bar does not have it. */
function termsOf(name: string, value: unknown): readonly string[] {
  if (name === 'metadata' && typeof value === 'object' && value !== null)
    return Object.entries(value).map(([key, one]) => `metadata.${key}:${valuesText(Array.isArray(one) ? one.join(',') : String(one))}`)
  const flag = Object.entries(switches).find(([, parameter]) => parameter === name)
  if (flag !== undefined) return [`${flag[0]}:${value === true ? 'yes' : 'no'}`]
  const range = Object.entries(ranged).find(([, { parameter }]) => name === `${parameter}_min` || name === `${parameter}_max`)
  if (range !== undefined) {
    const [field, { factor }] = range
    return [`${field}:${name.endsWith('_min') ? '>=' : '<='}${Number((Number(value) / factor).toPrecision(12))}`]
  }
  return listTerms(name, String(value))
}

function listTerms(name: string, value: string): readonly string[] {
  const isNegated = name.endsWith('_not')
  const field = Object.entries(listed).find(([, { parameter }]) => parameter === name.replace(/_not$/, ''))?.[0]
  if (field === undefined) return []
  const known = Object.entries(classes).find(([, statuses]) => statuses.join(',') === value)?.[0]
  return [`${isNegated ? '-' : ''}${field}:${known ?? valuesText(value)}`]
}

/** Commas stay outside of quotes: they separate values. */
const valuesText = (value: string): string => (value.includes(',') && !/[\s"]/.test(value) ? value : quotedList(value))
const quotedList = (value: string): string => (value.includes(',') ? `"${value.replaceAll('"', '')}"` : quoted(value))
