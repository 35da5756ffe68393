import { scimError } from '../scim-error.ts'
import { locate } from './locate.ts'
import { isObject, type Document } from './normalise.ts'
import type { ResourceType } from './attribute.ts'

/** The attributes that an answer is to have: `attributes` or `excludedAttributes` of a request. */
export interface Projection {
  readonly only: readonly string[] | null
  readonly without: readonly string[]
}

/** Every answer has these. */
const always: ReadonlySet<string> = new Set(['schemas', 'id'])

/** Reads both parameters. Throws `invalidValue` if both are given. */
export function projectionOf(query: {
  readonly attributes?: string | undefined
  readonly excludedAttributes?: string | undefined
}): Projection {
  const [only, without] = [listOf(query.attributes), listOf(query.excludedAttributes)]
  if (only.length > 0 && without.length > 0)
    throw scimError('invalidValue', '`attributes` and `excludedAttributes` cannot both be given.', 'attributes')
  return { only: only.length > 0 ? only : null, without }
}

const listOf = (text = ''): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** Returns true if an answer has an attribute of the resource itself, so that unrequested ones need not be read. */
export function asksFor(projection: Projection, type: ResourceType, name: string): boolean {
  const isIt = (path: string) => locate(type, path)?.attribute.name === name
  return projection.only === null ? !projection.without.some((path) => isIt(path) && !path.includes('.')) : projection.only.some(isIt)
}

/** Returns the parts of a resource that were asked for. */
export function project(resource: Document, type: ResourceType, { only, without }: Projection): Document {
  if (only !== null) return pick(resource, type, only)
  return without.reduce((held, path) => leaveOut(held, type, path), resource)
}

function pick(resource: Document, type: ResourceType, paths: readonly string[]): Document {
  const kept: Record<string, unknown> = Object.fromEntries(Object.entries(resource).filter(([name]) => always.has(name)))
  for (const path of paths) {
    const steps = stepsOf(type, path)
    if (steps !== null) copy(resource, kept, steps)
  }
  return kept
}

/** The names that lead to the attribute of a path; null: to none, and an unknown attribute is in no resource. */
function stepsOf(type: ResourceType, path: string): readonly string[] | null {
  const extension = type.extensions.find(({ id }) => id.toLowerCase() === path.toLowerCase())
  if (extension !== undefined) return [extension.id]
  const found = locate(type, path)
  if (found === null) return null
  return [found.extension?.id ?? [], found.attribute.name, found.part?.name ?? []].flat()
}

function copy(from: Document, to: Record<string, unknown>, [name = '', ...rest]: readonly string[]): void {
  const value = from[name]
  if (value === undefined) return
  if (rest.length === 0) {
    to[name] = value
    return
  }
  const held = to[name]
  if (Array.isArray(value)) to[name] = value.map((item, at) => within(item, Array.isArray(held) ? held[at] : undefined, rest))
  else to[name] = within(value, held, rest)
}

function within(from: unknown, to: unknown, steps: readonly string[]): unknown {
  const kept = isObject(to) ? to : {}
  if (isObject(from)) copy(from, kept, steps)
  return kept
}

function leaveOut(resource: Document, type: ResourceType, path: string): Document {
  const steps = stepsOf(type, path)
  return steps === null || (steps[0] !== undefined && always.has(steps[0])) ? resource : dropped(resource, steps)
}

function dropped(from: Document, [name = '', ...rest]: readonly string[]): Document {
  const { [name]: value, ...others } = from
  if (value === undefined || rest.length === 0) return others
  const inner = Array.isArray(value)
    ? value.map((item: unknown) => (isObject(item) ? dropped(item, rest) : item))
    : isObject(value)
      ? dropped(value, rest)
      : value
  return { ...from, [name]: inner }
}
