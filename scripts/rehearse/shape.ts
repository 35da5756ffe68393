/** The types found at each path of a JSON value; `[]` stands for every item of an array. */
export type Shape = ReadonlyMap<string, ReadonlySet<string>>

/** The structure of a JSON value. */
export function shapeOf(value: unknown, path = '$', found = new Map<string, Set<string>>()): Shape {
  found.set(path, (found.get(path) ?? new Set<string>()).add(typeOf(value)))
  if (Array.isArray(value)) for (const item of value) shapeOf(item, `${path}[]`, found)
  else if (isObject(value)) for (const [name, field] of Object.entries(value)) shapeOf(field, `${path}.${name}`, found)
  return found
}

/** Facts that each request in between changes, and that are null before the first. */
const moving: ReadonlySet<string> = new Set(['last_used_at'])
const isMoving = (path: string): boolean => moving.has(path.slice(path.lastIndexOf('.') + 1))

/** Why a client with the older shapes would stumble over a newer one: a field is gone, or has a type that it never had. */
export function misfits(newer: Shape, ...older: readonly Shape[]): readonly string[] {
  return [...union(older)].flatMap(([path, known]) => {
    const types = newer.get(path)
    if (types === undefined) return isMissed(path, newer) ? [`${path} is gone`] : []
    return Array.from(types)
      .filter((type) => !known.has(type) && !(isMoving(path) && (type === 'null' || type === 'string')))
      .map((type) => `${path} is ${type}, and was ${Array.from(known).join(' or ')}`)
  })
}

function union(shapes: readonly Shape[]): Shape {
  const found = new Map<string, Set<string>>()
  for (const shape of shapes)
    for (const [path, types] of shape) {
      const known = found.get(path) ?? new Set<string>()
      found.set(path, known)
      for (const type of types) known.add(type)
    }
  return found
}

/** A field is missed where its holder is there: below an empty array, or a null, no field is expected. */
function isMissed(path: string, newer: Shape): boolean {
  const holder = path.endsWith('[]') ? null : path.slice(0, path.lastIndexOf('.'))
  return holder !== null && (newer.get(holder)?.has('object') ?? false)
}

/** Where two readings of the same resource differ; additions of the later one are no difference, nor are more words in a list of words. */
export function differences(before: unknown, after: unknown, path = '$'): readonly string[] {
  if (Array.isArray(before)) {
    if (!Array.isArray(after)) return [`${path} was an array and is ${show(after)}`]
    if (before.every((item) => typeof item === 'string') && before.length > 0) {
      const gone = before.filter((text) => !after.includes(text))
      return gone.length === 0 ? [] : [`${path} lacks ${gone.map(show).join(', ')}`]
    }
    if (before.length !== after.length) return [`${path} had ${before.length} items and has ${after.length}`]
    return before.flatMap((item, at) => differences(item, after[at], `${path}[${at}]`))
  }
  if (isObject(before)) {
    if (!isObject(after)) return [`${path} was an object and is ${show(after)}`]
    return Object.entries(before).flatMap(([name, value]) =>
      name in after ? differences(value, after[name], `${path}.${name}`) : [`${path}.${name} is gone`],
    )
  }
  return Object.is(before, after) || isMoving(path) ? [] : [`${path} was ${show(before)} and is ${show(after)}`]
}

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const show = (value: unknown) => JSON.stringify(value)?.slice(0, 200) ?? 'undefined'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
