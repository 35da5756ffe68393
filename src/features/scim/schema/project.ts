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
const none: ReadonlySet<string> = new Set()

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

/** The names of attributes, each with those within it; null: all of it. The attributes of a schema are few, however often a path names one. */
type NameTree = Map<string, NameTree | null>

/** Returns the parts of a resource that were asked for. */
export function project(resource: Document, type: ResourceType, { only, without }: Projection): Document {
  if (only === null) return drop(resource, treeOf(type, without))
  return pick(resource, treeOf(type, only))
}

/** Trees by the paths that they are of: every resource of a page has the same. */
const trees = new WeakMap<readonly string[], Map<ResourceType, NameTree>>()

function treeOf(type: ResourceType, paths: readonly string[]): NameTree {
  const known = trees.get(paths) ?? new Map<ResourceType, NameTree>()
  trees.set(paths, known)
  const tree = known.get(type) ?? makeTree(type, paths)
  known.set(type, tree)
  return tree
}

function makeTree(type: ResourceType, paths: readonly string[]): NameTree {
  const tree: NameTree = new Map()
  for (const path of new Set(paths)) {
    const steps = stepsOf(type, path)
    if (steps !== null && !always.has(steps[0] ?? '')) grow(tree, steps)
  }
  return tree
}

function grow(tree: NameTree, [name = '', ...rest]: readonly string[]): void {
  const held = tree.get(name)
  if (held === null) return
  if (rest.length === 0) {
    tree.set(name, null)
    return
  }
  const inner: NameTree = held ?? new Map()
  tree.set(name, inner)
  grow(inner, rest)
}

/** The names that lead to the attribute of a path; null: to none, and an unknown attribute is in no resource. */
function stepsOf(type: ResourceType, path: string): readonly string[] | null {
  const extension = type.extensions.find(({ id }) => id.toLowerCase() === path.toLowerCase())
  if (extension !== undefined) return [extension.id]
  const found = locate(type, path)
  if (found === null) return null
  return [found.extension?.id ?? [], found.attribute.name, found.part?.name ?? []].flat()
}

/** Returns what is left of each value of an object: undefined leaves it out. */
const mapped = (from: Document, part: (name: string, value: unknown) => unknown): Document =>
  Object.fromEntries(
    Object.entries(from).flatMap(([name, value]) => {
      const kept = part(name, value)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )

const pick = (from: Document, tree: NameTree, also: ReadonlySet<string> = always): Document =>
  mapped(from, (name, value) => {
    if (also.has(name)) return value
    const inner = tree.get(name)
    if (inner === undefined || inner === null) return inner === null ? value : undefined
    return within(value, (one) => pick(one, inner, none), {})
  })

const drop = (from: Document, tree: NameTree): Document =>
  mapped(from, (name, value) => {
    const inner = tree.get(name)
    if (inner === undefined || inner === null) return inner === null ? undefined : value
    return within(value, (one) => drop(one, inner))
  })

/** `plain`: in place of a value that is no object; absent: the value. */
function within(value: unknown, change: (one: Document) => Document, plain?: unknown): unknown {
  const one = (item: unknown): unknown => (isObject(item) ? change(item) : (plain ?? item))
  return Array.isArray(value) ? value.map(one) : one(value)
}
