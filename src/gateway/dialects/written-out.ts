import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Loss } from './neutral/loss.ts'

/**
 * So many characters the schemas of a request, all together, may be longer as they are written than as they came: one schema may be referred to from
 * several places, and words that stand once may have to stand in each of many schemas.
 */
const mostMore = 1024 * 1024
/** Memory that a value takes beside its characters, in characters. */
const perValue = 8
/** References to references; more count as endless. */
const mostReferences = 40

/** The size of the schemas of one request as they are written out. A class, because it counts as it goes. */
export class SchemaSize {
  readonly #loss: Loss
  #left = mostMore
  #at = ''

  constructor(loss: Loss) {
    this.#loss = loss
  }

  /** Takes the next schema, which may be written once at its own length; `at`: its place in the caller's body. */
  begin(schema: Fields, at: string): void {
    this.#at = at
    this.#left += lengthWithin(schema, Infinity)
  }

  /** Counts values that are written so many times. Throws `invalid_request` if the schemas grow too much by them. */
  add(value: unknown, times = 1): void {
    if (times > 0) this.#take(lengthWithin(value, this.#left / times) * times)
  }

  /** Counts the names of a schema, whose values count by themselves. */
  addNames(names: readonly string[]): void {
    for (const name of names) this.#take(perValue + name.length)
  }

  #take(characters: number): void {
    this.#left -= characters
    if (this.#left >= 0) return
    const why = `grows by more than ${mostMore} characters when its references and choices are written out`
    this.#loss.refuseAt(this.#at, why)
  }
}

/** Returns the characters of a value, or more than `most`: the rest is not looked at. */
function lengthWithin(given: unknown, most: number): number {
  let length = 0
  const open = [given]
  while (open.length > 0 && length <= most) {
    const value = open.pop()
    length += perValue
    if (typeof value === 'string') length += value.length
    else if (Array.isArray(value)) for (const one of value) open.push(one)
    else if (isFields(value))
      for (const name in value) {
        length += name.length
        open.push(value[name])
      }
  }
  return length
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

/** A schema of a request. */
export interface SchemaPlace {
  /** Its place in the caller's body. */
  readonly at: string
  readonly loss: Loss
  readonly size: SchemaSize
}

interface Walk extends SchemaPlace {
  readonly root: Fields
  /** The references that are being followed. */
  readonly open: readonly string[]
}

/** Returns a schema without references: their targets stand in their place. Throws `invalid_request` for one that refers to itself or elsewhere. */
export function writtenOut(schema: Fields, { at, loss, size }: SchemaPlace): Fields {
  if (!JSON.stringify(schema).includes('"$ref"')) return schema
  size.begin(schema, at)
  const { $defs: _defs, definitions: _definitions, ...rest } = schema
  return write(rest, { root: schema, at, loss, size, open: [] })
}

function write(schema: Fields, walk: Walk): Fields {
  walk.size.addNames(Object.keys(schema))
  const { $ref: reference, ...rest } = schema
  if (typeof reference !== 'string') return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, within(value, walk)]))
  const found = referred(walk.root, reference)
  walk.size.add(reference)
  if (found === null || walk.open.length === mostReferences || walk.open.includes(reference))
    return walk.loss.refuseAt(walk.at, `refers to ${reference.slice(0, 60)}, which cannot be written out`)
  return write({ ...found, ...rest }, { ...walk, open: [...walk.open, reference] })
}

function within(value: unknown, walk: Walk): unknown {
  if (isFields(value)) return write(value, walk)
  if (Array.isArray(value)) return value.map((one) => within(one, walk))
  walk.size.add(value)
  return value
}
