import { scimError } from '../scim-error.ts'
import { findAttribute, type Attribute, type ResourceType } from '../schema/attribute.ts'
import { locate, type AttributeLocation } from '../schema/locate.ts'
import type { Comparison, Filter, Operand } from './filter.ts'

/** A piece of SQL with the values of its `?`. */
export interface Sql {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** The places of the attributes of a kind of resource in the database. All names in it are ours; only values come from callers. */
export interface Source {
  readonly type: ResourceType
  /** The expression of attributes that have a column, by their path in lower case. */
  readonly columns: Readonly<Record<string, string>>
  /** The FROM item that gives the values of a list that has a table, one jsonb `e` a row; by its name in lower case. */
  readonly lists: Readonly<Record<string, string>>
  /** The expression of the JSON document that holds all other attributes; null: there are none. */
  readonly document: string | null
  /** False: a filter on an unknown attribute matches no resource. */
  readonly strict: boolean
}

const nothing: Sql = { sql: 'false', values: [] }

/** Returns a filter as a condition. Throws `invalidFilter` for attributes that the resource does not have, or that cannot be compared so. */
export function filterSql(filter: Filter, source: Source): Sql {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const [left, right] = [filterSql(filter.left, source), filterSql(filter.right, source)]
      return { sql: `(${left.sql} ${filter.op.toUpperCase()} ${right.sql})`, values: [...left.values, ...right.values] }
    }
    case 'not': {
      const inner = filterSql(filter.of, source)
      return { sql: `(NOT ${inner.sql})`, values: inner.values }
    }
    case 'some':
      return some(filter, source)
    default:
      return leaf(filter, source)
  }
}

type Leaf = Extract<Filter, { readonly op: 'compare' | 'present' }>

function leaf(filter: Leaf, source: Source): Sql {
  const found = locate(source.type, filter.path)
  if (found === null) return unknown(filter.path, source)
  const { attribute, part } = found
  const value = findAttribute(attribute.subAttributes ?? [], 'value')
  const compared = part ?? (attribute.type === 'complex' ? value : attribute)
  if (compared === null) return whole(filter, found, source)
  return attribute.multiValued
    ? anyOf(attribute, source, test(filter, compared, elementText(compared)))
    : single(filter, { found, compared }, source)
}

/** An attribute with parts but no `value` can only be tested for presence. */
function whole({ op, path }: Leaf, { attribute, extension }: AttributeLocation, { document }: Source): Sql {
  if (op !== 'present' || document === null || attribute.multiValued)
    throw scimError('invalidFilter', `\`${path}\` needs one of its parts.`, 'filter')
  return { sql: `(${pathOf(document, [extension?.id ?? [], attribute.name].flat(), '->')} IS NOT NULL)`, values: [] }
}

function single(
  filter: Leaf,
  { found, compared }: { readonly found: AttributeLocation; readonly compared: Attribute },
  source: Source,
): Sql {
  const { attribute, extension } = found
  const steps = [extension?.id ?? [], attribute.name, compared === attribute ? [] : compared.name].flat()
  const expression =
    source.columns[steps.join('.').toLowerCase()] ?? (source.document === null ? null : pathOf(source.document, steps, '->>'))
  return expression === null ? unknown(filter.path, source) : test(filter, compared, expression)
}

function unknown(path: string, { strict }: Source): Sql {
  if (strict) throw scimError('invalidFilter', `There is no attribute \`${path.slice(0, 100)}\` to filter by.`, 'filter')
  return nothing
}

/** `emails[type eq "work" and value co "@"]`: one value of the list for which all of it is true. */
function some({ path, where, rest }: Extract<Filter, { readonly op: 'some' }>, source: Source): Sql {
  const found = locate(source.type, path)
  if (found === null) return unknown(path, source)
  const { attribute } = found
  if (!attribute.multiValued || found.part !== null) throw scimError('invalidFilter', `\`${path}\` is no list.`, 'filter')
  const inner = elementSql(where, attribute)
  const behind = rest === null ? { sql: 'true', values: [] } : elementSql(rest, attribute)
  return anyOf(attribute, source, { sql: `(${inner.sql} AND ${behind.sql})`, values: [...inner.values, ...behind.values] })
}

/** The condition on one value of a list. */
function elementSql(filter: Filter, attribute: Attribute): Sql {
  if (filter.op === 'and' || filter.op === 'or') {
    const [left, right] = [elementSql(filter.left, attribute), elementSql(filter.right, attribute)]
    return { sql: `(${left.sql} ${filter.op.toUpperCase()} ${right.sql})`, values: [...left.values, ...right.values] }
  }
  if (filter.op === 'not') {
    const inner = elementSql(filter.of, attribute)
    return { sql: `(NOT ${inner.sql})`, values: inner.values }
  }
  const part = findAttribute(attribute.subAttributes ?? [], filter.path)
  if (part === null || filter.op === 'some')
    throw scimError('invalidFilter', `\`${attribute.name}\` has no part \`${filter.path.slice(0, 100)}\`.`, 'filter')
  return test(filter, part, elementText(part))
}

const elementText = ({ name }: Attribute) => `(e->>${literal(name)})`

function anyOf({ name }: Attribute, { lists, document }: Source, condition: Sql): Sql {
  const own = lists[name.toLowerCase()]
  const held = document === null ? null : pathOf(document, [name], '->')
  const from = own ?? `jsonb_array_elements(CASE jsonb_typeof(${held}) WHEN 'array' THEN ${held} ELSE '[]'::jsonb END) AS held(e)`
  return { sql: `EXISTS (SELECT 1 FROM ${from} WHERE ${condition.sql})`, values: condition.values }
}

/** The names are those of our schemas, never a caller's. */
const literal = (name: string) => `'${name.replaceAll("'", "''")}'`

function pathOf(document: string, steps: readonly string[], last: '->' | '->>'): string {
  const [end = '', ...before] = steps.toReversed()
  return `(${[document, ...before.toReversed().map((step) => `->${literal(step)}`), `${last}${literal(end)}`].join('')})`
}

/** The test of one value, never null: a missing value is false, also below `not`. */
function test(filter: Leaf, attribute: Attribute, expression: string): Sql {
  if (filter.op === 'present') return { sql: `(coalesce(${expression}::text, '') <> '')`, values: [] }
  const { operator, value, path } = filter
  if (value === null) return nullTest(operator, expression)
  if (attribute.type === 'boolean') return booleanTest(operator, value, { expression, path })
  if (attribute.type === 'dateTime') return timeTest(operator, value, { expression, path })
  const wrapped = (sql: string) => (attribute.caseExact ? `(${sql})::text` : `lower((${sql})::text)`)
  const { sql, times } = textTests[operator](wrapped(expression), attribute.caseExact ? '?' : 'lower(?)')
  return { sql: `coalesce(${sql}, ${operator === 'ne'})`, values: Array.from({ length: times }, () => String(value)) }
}

const textTests: Readonly<Record<Comparison, (x: string, given: string) => { readonly sql: string; readonly times: number }>> = {
  eq: (x, given) => ({ sql: `${x} = ${given}`, times: 1 }),
  ne: (x, given) => ({ sql: `${x} <> ${given}`, times: 1 }),
  co: (x, given) => ({ sql: `strpos(${x}, ${given}) > 0`, times: 1 }),
  sw: (x, given) => ({ sql: `starts_with(${x}, ${given})`, times: 1 }),
  ew: (x, given) => ({ sql: `right(${x}, length(?)) = ${given}`, times: 2 }),
  gt: (x, given) => ({ sql: `${x} > ${given}`, times: 1 }),
  lt: (x, given) => ({ sql: `${x} < ${given}`, times: 1 }),
  ge: (x, given) => ({ sql: `${x} >= ${given}`, times: 1 }),
  le: (x, given) => ({ sql: `${x} <= ${given}`, times: 1 }),
}

function nullTest(operator: Comparison, expression: string): Sql {
  if (operator === 'eq') return { sql: `(${expression} IS NULL)`, values: [] }
  if (operator === 'ne') return { sql: `(${expression} IS NOT NULL)`, values: [] }
  throw scimError('invalidFilter', 'null can only be compared with eq and ne.', 'filter')
}

interface ComparedColumn {
  readonly expression: string
  readonly path: string
}

function booleanTest(operator: Comparison, value: Operand, { expression, path }: ComparedColumn): Sql {
  const wanted = typeof value === 'boolean' ? value : /^true$/i.test(String(value)) ? true : /^false$/i.test(String(value)) ? false : null
  if (wanted === null || (operator !== 'eq' && operator !== 'ne'))
    throw scimError('invalidFilter', `\`${path}\` is true or false: compare it with eq or ne.`, 'filter')
  const isEqual = operator === 'eq' ? wanted : !wanted
  return { sql: `(coalesce((${expression})::boolean, false) = ${isEqual})`, values: [] }
}

const timeOperators: Readonly<Partial<Record<Comparison, string>>> = { eq: '=', ne: '<>', gt: '>', lt: '<', ge: '>=', le: '<=' }

/** The years that the database has, as texts of four digits. */
const storable = /^(?!0000)\d{4}-/

function timeTest(operator: Comparison, value: Operand, { expression, path }: ComparedColumn): Sql {
  const [sign, at] = [timeOperators[operator], typeof value === 'string' ? Date.parse(value) : Number.NaN]
  const time = Number.isNaN(at) ? '' : new Date(at).toISOString()
  if (sign === undefined || !storable.test(time))
    throw scimError('invalidFilter', `\`${path}\` is a time: compare it with one, such as "2026-01-31T12:00:00Z".`, 'filter')
  return { sql: `coalesce(${expression} ${sign} ?::timestamptz, false)`, values: [time] }
}
