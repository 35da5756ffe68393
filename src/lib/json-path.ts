/** One step into a JSON value: a name, an index, or every item (`[*]`). */
export type Step = string | number | typeof everyItem

/** The step `[*]`. */
export const everyItem = Symbol('[*]')

export type JsonPath = readonly (string | number)[]

const step = /(?:^|\.)([^.[\]"']+)|\[(?:(\d{1,9})|(\*)|"([^"]*)"|'([^']*)')\]/y

/** Reads `messages[*].name`, `tools[0]["x.y"]`; null when the text is no such path. */
export function parseJsonPath(text: string): readonly Step[] | null {
  const steps: Step[] = []
  for (let at = 0; at < text.length; at = step.lastIndex) {
    step.lastIndex = at
    const match = step.exec(text)
    if (match === null) return null
    const [, name, index, every, double, single] = match
    steps.push(every === undefined ? (index === undefined ? (name ?? double ?? single ?? '') : Number(index)) : everyItem)
  }
  return steps.length === 0 ? null : steps
}

/** The paths without wildcards that exist in a value. */
export function existingPaths(value: unknown, steps: readonly Step[], before: JsonPath = []): readonly JsonPath[] {
  const [first, ...rest] = steps
  if (first === undefined) return [before]
  if (first === everyItem) return Array.isArray(value) ? value.flatMap((item, at) => existingPaths(item, rest, [...before, at])) : []
  const child = childOf(value, first)
  return child === undefined ? [] : existingPaths(child, rest, [...before, first])
}

/** The own member or item of a value; undefined when there is none. */
export function childOf(value: unknown, name: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return typeof name === 'number' ? value[name] : undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

/** The value at a path; undefined when there is none. */
export const valueAt = (value: unknown, path: JsonPath): unknown => path.reduce<unknown>(childOf, value)
