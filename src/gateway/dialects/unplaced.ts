import { type Fields, isFields } from '../../lib/json/fields.ts'
import { camelCased } from './google/signature.ts'

/** The fields of an object that a decoder reads, and what it reads within them. Lists are walked item by item. */
export interface Read {
  /** Null: all of them, or others tell which. */
  readonly known: ReadonlySet<string> | null
  readonly within: Readonly<Record<string, Read | ByType>>
}

/** Objects of several types, by one of their fields. Of a type that is not here nothing is said: it is dropped or refused as a whole. */
export interface ByType {
  readonly field: string
  /** The type of an object that names none. */
  readonly usual: string | null
  readonly types: Readonly<Record<string, Read>>
}

/** Says which fields are read, as words of one text. */
export const reads = (known: string, within: Read['within'] = {}): Read => ({ known: new Set(known.split(' ')), within })

/** The same for an object whose own fields are told elsewhere. */
export const passes = (within: Read['within']): Read => ({ known: null, within })

export const byField = (field: string, types: ByType['types'], usual: string | null = null): ByType => ({ field, usual, types })

export const byType = (types: ByType['types'], usual: string | null = null): ByType => byField('type', types, usual)

/** So many are named. */
const mostFound = 64

interface Walk {
  readonly found: string[]
  /** True if the API takes `snake_case` for `camelCase`. */
  readonly camel: boolean
}

/** Names the fields of a request, below its top level, that its decoder does not read: they have no place in the neutral form. */
export function unplacedIn(body: Fields, within: Read['within'], camel = false): readonly string[] {
  let walk: Walk | null = null
  for (const name in within)
    if (Object.hasOwn(body, name) && holdsUnplaced(body[name], within[name], camel))
      visit(body[name], name, { shape: within[name], walk: (walk ??= { found: [], camel }) })
  return walk === null ? none : walk.found
}

const none: readonly string[] = []

/** Most requests hold no such field: this look writes no names of places. */
function holdsUnplaced(value: unknown, shape: Read | ByType | undefined, camel: boolean): boolean {
  if (shape === undefined || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item) => holdsUnplaced(item, shape, camel))
  if (!isFields(value)) return false
  const read = 'types' in shape ? typed(value, shape) : shape
  return read !== undefined && hasUnplaced(camel ? camelCased(value) : value, read, camel)
}

function hasUnplaced(value: Fields, { known, within }: Read, camel: boolean): boolean {
  for (const name in value) {
    const field = value[name]
    if (field === null || field === undefined) continue
    if (known !== null && !known.has(name)) return true
    if (holdsUnplaced(field, within[name], camel)) return true
  }
  return false
}

interface Visit {
  readonly shape: Read | ByType | undefined
  readonly walk: Walk
}

function visit(value: unknown, at: string, { shape, walk }: Visit): void {
  if (shape === undefined || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, `${at}[${index}]`, { shape, walk })
  else if (isFields(value)) {
    const read = 'types' in shape ? typed(value, shape) : shape
    if (read !== undefined) look(walk.camel ? camelCased(value) : value, at, { shape: read, walk })
  }
}

function typed(value: Fields, { field, types, usual }: ByType): Read | undefined {
  const type = value[field]
  const name = typeof type === 'string' ? type : usual
  return name !== null && Object.hasOwn(types, name) ? types[name] : undefined
}

function look(value: Fields, at: string, { shape: { known, within }, walk }: { readonly shape: Read; readonly walk: Walk }): void {
  for (const name in value) {
    const field = value[name]
    if (field === null || field === undefined) continue
    if (known === null || known.has(name)) visit(field, `${at}.${name}`, { shape: within[name], walk })
    else if (walk.found.length < mostFound && (!Array.isArray(field) || field.length > 0)) walk.found.push(`${at}.${name}`)
  }
}
