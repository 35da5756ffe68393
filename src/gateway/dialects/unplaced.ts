import { type Fields, isFields } from '../../lib/json/fields.ts'
import { camelCased } from './google/signature.ts'

/** The fields of an object that a decoder reads, and those that it reads within them. Lists are walked item by item. */
export interface ReadFields {
  /** Null: all of them, or other lists decide. */
  readonly known: ReadonlySet<string> | null
  readonly within: Readonly<Record<string, ReadFields | ByType>>
}

/** Objects of several types, by one of their fields. An object of an unlisted type is not reported: it is dropped or refused as a whole. */
export interface ByType {
  readonly field: string
  /** The type of an object that names none. */
  readonly usual: string | null
  readonly types: Readonly<Record<string, ReadFields>>
}

/** Lists the fields that are read, as words of one text. */
export const reads = (known: string, within: ReadFields['within'] = {}): ReadFields => ({ known: new Set(known.split(' ')), within })

/** The same for an object whose own fields are listed elsewhere. */
export const passes = (within: ReadFields['within']): ReadFields => ({ known: null, within })

export const byField = (field: string, types: ByType['types'], usual: string | null = null): ByType => ({ field, usual, types })

export const byType = (types: ByType['types'], usual: string | null = null): ByType => byField('type', types, usual)

/** So many are named. */
const mostFound = 64

/** A walk through a request. Most requests have no such field, so that the name of a place is written only for one. */
interface Walk {
  readonly found: string[]
  /** The way from the top to the present value: names of fields, numbers of items. */
  readonly way: (string | number)[]
  /** True if the API takes `snake_case` for `camelCase`. */
  readonly camel: boolean
}

/** Names the fields of a request, below its top level, that its decoder does not read: they have no place in the neutral form. */
export function unplacedIn(body: Fields, within: ReadFields['within'], camel = false): readonly string[] {
  const walk: Walk = { found: [], way: [''], camel }
  for (const name in within)
    if (Object.hasOwn(body, name)) {
      walk.way[0] = name
      visit(walk, body[name], within[name])
    }
  return walk.found
}

function visit(walk: Walk, value: unknown, shape: ReadFields | ByType | undefined): void {
  if (shape === undefined || typeof value !== 'object' || value === null) return
  const end = walk.way.push('') - 1
  if (Array.isArray(value))
    for (let index = 0; index < value.length; index += 1) {
      walk.way[end] = index
      visit(walk, value[index], shape)
    }
  else if (isFields(value)) {
    const read = 'types' in shape ? typed(value, shape) : shape
    if (read !== undefined) look(walk, walk.camel ? camelCased(value) : value, read)
  }
  walk.way.pop()
}

function typed(value: Fields, { field, types, usual }: ByType): ReadFields | undefined {
  const type = value[field]
  const name = typeof type === 'string' ? type : usual
  return name !== null && Object.hasOwn(types, name) ? types[name] : undefined
}

function look(walk: Walk, value: Fields, { known, within }: ReadFields): void {
  const end = walk.way.length - 1
  for (const name in value) {
    const field = value[name]
    if (field === null || field === undefined) continue
    walk.way[end] = name
    if (known === null || known.has(name)) visit(walk, field, within[name])
    else if (walk.found.length < mostFound && (!Array.isArray(field) || field.length > 0)) walk.found.push(placeOf(walk.way))
  }
}

const placeOf = ([first, ...way]: readonly (string | number)[]): string =>
  `${first}${way.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')}`
