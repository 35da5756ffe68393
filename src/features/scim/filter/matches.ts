import { findAttribute, type Attribute } from '../schema/attribute.ts'
import type { Comparison, Filter } from './filter.ts'
import { spend, stepsOf, type Work } from './work.ts'

/** The values of a list that a filter looks at, and the work that may go into it. */
export interface FilteredList {
  readonly attribute: Attribute
  readonly work: Work
}

/** A part of a filter costs work also where it makes no comparison: `pr`, a name that is not there, a value that is missing. */
const stepsOfNode = 2

/** Returns true if a filter is true of one value of a list: `type eq "work"` of an e-mail address. Throws `tooMany`. */
export function matches(value: Readonly<Record<string, unknown>>, filter: Filter, list: FilteredList): boolean {
  spend(list.work, stepsOfNode)
  if (filter.op === 'and') return matches(value, filter.left, list) && matches(value, filter.right, list)
  if (filter.op === 'or') return matches(value, filter.left, list) || matches(value, filter.right, list)
  if (filter.op === 'not') return !matches(value, filter.of, list)
  if (filter.op === 'some') return false
  const part = findAttribute(list.attribute.subAttributes ?? [], filter.path)
  if (part === null) return false
  const held = value[part.name]
  return filter.op === 'present' ? held !== undefined && held !== '' : compares(held, filter, { part, work: list.work })
}

interface ComparedPart {
  readonly part: Attribute
  readonly work: Work
}

function compares(
  held: unknown,
  { operator, value }: Extract<Filter, { readonly op: 'compare' }>,
  { part: { caseExact }, work }: ComparedPart,
): boolean {
  if (value === null) return (operator === 'eq' && held === undefined) || (operator === 'ne' && held !== undefined)
  if (held === undefined) return operator === 'ne'
  const [one, other] = [typeof held === 'string' ? held : JSON.stringify(held), String(value)]
  spend(work, stepsOf(operator, one, other))
  return caseExact ? tests[operator](one, other) : tests[operator](one.toLowerCase(), other.toLowerCase())
}

const tests: Readonly<Record<Comparison, (held: string, given: string) => boolean>> = {
  eq: (held, given) => held === given,
  ne: (held, given) => held !== given,
  co: (held, given) => held.includes(given),
  sw: (held, given) => held.startsWith(given),
  ew: (held, given) => held.endsWith(given),
  gt: (held, given) => held > given,
  lt: (held, given) => held < given,
  ge: (held, given) => held >= given,
  le: (held, given) => held <= given,
}

/** Returns the values that a filter of `eq` and `and` only states: a value must have them to be found by it; null: it is another filter. */
export function statedBy(filter: Filter, attribute: Attribute): Readonly<Record<string, unknown>> | null {
  if (filter.op === 'and') {
    const [left, right] = [statedBy(filter.left, attribute), statedBy(filter.right, attribute)]
    return left === null || right === null ? null : { ...left, ...right }
  }
  if (filter.op !== 'compare' || filter.operator !== 'eq') return null
  const part = findAttribute(attribute.subAttributes ?? [], filter.path)
  return part === null ? null : { [part.name]: filter.value }
}
