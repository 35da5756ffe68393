import { matches, statedBy } from '../filter/matches.ts'
import { parsePath } from '../filter/parse-filter.ts'
import { createWork, spend, stepsOfReading, type Work } from '../filter/work.ts'
import { scimError } from '../scim-error.ts'
import type { Attribute, ResourceType, Schema } from './attribute.ts'
import { extensionOf, locate, type AttributeLocation } from './locate.ts'
import { demandFew, isObject, normalise, valueOf, type Document } from './normalise.ts'
import type { Filter } from '../filter/filter.ts'

/** One operation of a PATCH, its verb in lower case. */
export interface Operation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path?: string | undefined
  readonly value?: unknown
}

type Draft = Record<string, unknown>

/** An operation, and the work that may go into it. */
type Task = Operation & { readonly work: Work }

/** The operations of a PATCH. `work`: the work that its request may still cost; absent: all. */
interface Patch {
  readonly operations: readonly Operation[]
  readonly work?: Work
}

/** Returns a document after the operations of a PATCH (RFC 7644, section 3.5.2). Throws `invalidPath`, `noTarget`, `mutability`, `invalidValue`, `tooMany`. */
export function applyPatch(type: ResourceType, document: Document, { operations, work = createWork() }: Patch): Document {
  const draft: Draft = structuredClone({ ...document })
  for (const operation of operations) apply(type, draft, { ...operation, work })
  return normalise(type, draft)
}

function apply(type: ResourceType, draft: Draft, { op, path, value, work }: Task): void {
  if (path === undefined || path === '') {
    applyWhole(type, draft, { op, value, work })
    return
  }
  const extension = extensionOf(type, path)
  if (extension !== null) {
    applyExtension(type, draft, { op, value, work, extension })
    return
  }
  const target = targetOf(type, path)
  const holder = target.extension === null ? draft : inner(draft, target.extension.id)
  change(holder, target, { op, value, work })
  if (target.extension !== null && Object.keys(holder).length === 0) Reflect.deleteProperty(draft, target.extension.id)
}

interface Target extends AttributeLocation {
  readonly where: Filter | null
  readonly path: string
}

function targetOf(type: ResourceType, path: string): Target {
  const { path: named, where, part: behind } = parsePath(path)
  const found = locate(type, behind === null ? named : `${named}.${behind}`)
  if (found === null) throw scimError('invalidPath', `There is no attribute \`${path.slice(0, 200)}\`.`, 'path')
  if (where !== null && !found.attribute.multiValued) throw scimError('invalidPath', `\`${named}\` is no list.`, 'path')
  if ((found.part ?? found.attribute).mutability === 'readOnly')
    throw scimError('mutability', `\`${path.slice(0, 200)}\` cannot be changed.`, 'path')
  return { ...found, where, path }
}

/** Without a path the value is a part of the resource; its names may be paths themselves, as some clients write them. */
function applyWhole(type: ResourceType, draft: Draft, { op, value, work }: Task): void {
  if (op === 'remove') throw scimError('noTarget', 'An operation that removes something names it by `path`.', 'path')
  if (!isObject(value)) throw scimError('invalidValue', 'An operation without `path` has an object as its `value`.', 'value')
  for (const [name, part] of Object.entries(value)) {
    const known = extensionOf(type, name) !== null || locate(type, name) !== null || name.includes('[')
    if (known && !isReadOnly(type, name)) apply(type, draft, { op, path: name, value: part, work })
  }
}

const isReadOnly = (type: ResourceType, name: string): boolean => locate(type, name)?.attribute.mutability === 'readOnly'

function applyExtension(type: ResourceType, draft: Draft, { op, value, work, extension }: Task & { readonly extension: Schema }): void {
  if (op === 'remove' || value === null) {
    Reflect.deleteProperty(draft, extension.id)
    return
  }
  if (!isObject(value)) throw scimError('invalidValue', `\`${extension.id}\` is an object.`, 'value')
  for (const [name, part] of Object.entries(value))
    if (locate(type, `${extension.id}:${name}`) !== null) apply(type, draft, { op, path: `${extension.id}:${name}`, value: part, work })
}

function inner(draft: Draft, name: string): Draft {
  const held = draft[name]
  const made: Draft = isObject(held) ? held : {}
  draft[name] = made
  return made
}

type Change = Pick<Task, 'op' | 'value' | 'work'>

function change(holder: Draft, target: Target, { op, value, work }: Change): void {
  const { attribute, part, where } = target
  const gone = op === 'remove' || value === null || value === undefined
  if (attribute.multiValued) changeList(holder, target, { op: gone ? 'remove' : op, value, work })
  else if (part !== null) changePart(inner(holder, attribute.name), part, { gone, value, path: target.path })
  else if (gone) Reflect.deleteProperty(holder, attribute.name)
  else {
    const held = holder[attribute.name]
    const next = valueOf(attribute, value, target.path)
    holder[attribute.name] =
      attribute.type === 'complex' && isObject(held) && isObject(next) && where === null ? { ...held, ...next } : next
  }
}

function changePart(
  holder: Draft,
  part: Attribute,
  { gone, value, path }: { readonly gone: boolean; readonly value: unknown; readonly path: string },
) {
  if (gone) Reflect.deleteProperty(holder, part.name)
  else holder[part.name] = valueOf(part, value, path)
}

function changeList(holder: Draft, target: Target, { op, value, work }: Change): void {
  const { attribute } = target
  const held = holder[attribute.name]
  const values = (Array.isArray(held) ? held : []).filter(isObject)
  spend(work, stepsOfValue * values.length)
  const next = (target.where !== null || target.part !== null ? changeSome : changeAll)(values, target, { op, value, work })
  // A list may grow by each of very many operations.
  demandFew(attribute, next, target.path)
  if (next.length === 0) Reflect.deleteProperty(holder, attribute.name)
  else holder[attribute.name] = next
}

/** Each value of a list is copied and named once for an operation. */
const stepsOfValue = 5

type Values = readonly Record<string, unknown>[]

/** The whole list: values are added, take its place, or are taken out. */
function changeAll(values: Values, { attribute, path }: Target, { op, value, work }: Change): Values {
  const given = listed(attribute, value, path)
  if (op === 'remove') {
    const gone = new Set(given.map((one) => one['value']))
    return value === undefined || value === null ? [] : values.filter((one) => !gone.has(one['value']))
  }
  if (op === 'replace') return given
  const known = new Set(values.map((one) => identityOf(one, work)))
  const fresh = given.filter((one) => !known.has(identityOf(one, work)))
  return [...(fresh.some(({ primary }) => primary === true) ? values.map(notPrimary) : values), ...fresh]
}

const listed = (attribute: Attribute, value: unknown, path: string): Values => {
  const given = valueOf(attribute, value, path)
  return Array.isArray(given) ? given.filter(isObject) : []
}

const notPrimary = (value: Record<string, unknown>) => (value['primary'] === true ? { ...value, primary: false } : value)

/** Values are never changed, and each is named once however many operations look at it. */
const identities = new WeakMap<Record<string, unknown>, string>()

/** Two values with one `value` and one `type` are the same. */
function identityOf(one: Record<string, unknown>, work: Work): string {
  const known = identities.get(one)
  if (known !== undefined) return known
  const [value, type] = [textOf(one['value']), textOf(one['type'])]
  spend(work, stepsOfReading(value) + stepsOfReading(type))
  const identity = `${value.length} ${value} ${type}`
  identities.set(one, identity)
  return identity
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Some values of the list, or a part of them. A missing value is made, if the filter describes it. */
function changeSome(values: Values, target: Target, { op, value, work }: Change): Values {
  const { attribute, part, where, path } = target
  const meant = new Set(where === null ? values : values.filter((one) => matches(one, where, { attribute, work })))
  const isMeant = (one: Record<string, unknown>) => meant.has(one)
  if (op === 'remove') {
    if (part === null) return values.filter((one) => !isMeant(one))
    return values.map((one) => (isMeant(one) ? withoutPart(one, part.name) : one)).filter((one) => Object.keys(one).length > 0)
  }
  const given = part === null ? listed(attribute, value, path)[0] : { [part.name]: valueOf(part, value, path) }
  if (given === undefined) throw scimError('invalidValue', `\`${path.slice(0, 200)}\` needs a value.`, 'value')
  const others = given['primary'] === true ? values.map((one) => (isMeant(one) ? one : notPrimary(one))) : values
  if (meant.size > 0) return others.map((one) => (isMeant(one) ? { ...one, ...given } : one))
  const stated = where === null ? {} : statedBy(where, attribute)
  if (stated === null) throw scimError('noTarget', `Nothing is meant by \`${path.slice(0, 200)}\`.`, 'path')
  return [...others, { ...stated, ...given }]
}

function withoutPart(value: Record<string, unknown>, name: string): Record<string, unknown> {
  const { [name]: _, ...rest } = value
  return rest
}
