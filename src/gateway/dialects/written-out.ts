import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Loss } from './neutral/loss.ts'

/** So many schemas one may hold when its references are written out: each may be referred to from several places, and so on. */
const mostSchemas = 5000

/** The size of a schema as it is written out. A class, because it counts as it goes. */
export class SchemaSize {
  readonly #at: string
  readonly #loss: Loss
  #left = mostSchemas

  /** `at`: the place of the schema in the caller's body. */
  constructor(at: string, loss: Loss) {
    this.#at = at
    this.#loss = loss
  }

  /** Counts schemas. Throws `invalid_request` if it is too many. */
  add(schemas = 1): void {
    this.#left -= schemas
    if (this.#left < 0) this.#loss.refuseAt(this.#at, `holds more than ${mostSchemas} schemas when its references are written out`)
  }
}

/** Returns the schema to which a reference within another one leads; null: it leads elsewhere. */
export function referred(root: Fields, reference: string): Fields | null {
  if (!reference.startsWith('#/')) return null
  let found: unknown = root
  for (const step of reference.slice(2).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isFields(found) && Object.hasOwn(found, name) ? found[name] : null
  }
  return isFields(found) ? found : null
}

interface Walk {
  readonly root: Fields
  readonly at: string
  readonly loss: Loss
  readonly size: SchemaSize
  /** The references that are being followed. */
  readonly open: readonly string[]
}

/** Returns a schema without references: their targets stand in their place. Throws `invalid_request` for one that refers to itself or elsewhere. */
export function writtenOut(schema: Fields, at: string, loss: Loss): Fields {
  if (!JSON.stringify(schema).includes('"$ref"')) return schema
  const { $defs: _defs, definitions: _definitions, ...rest } = schema
  return write(rest, { root: schema, at, loss, size: new SchemaSize(at, loss), open: [] })
}

function write(schema: Fields, walk: Walk): Fields {
  walk.size.add()
  const { $ref: reference, ...rest } = schema
  if (typeof reference !== 'string') return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, within(value, walk)]))
  const found = referred(walk.root, reference)
  if (found === null || walk.open.includes(reference))
    return walk.loss.refuseAt(walk.at, `refers to ${reference.slice(0, 60)}, which cannot be written out`)
  return write({ ...found, ...rest }, { ...walk, open: [...walk.open, reference] })
}

function within(value: unknown, walk: Walk): unknown {
  if (isFields(value)) return write(value, walk)
  return Array.isArray(value) ? value.map((one) => within(one, walk)) : value
}
