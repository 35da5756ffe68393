/** One step into a JSON value: a name, an index, or every item (`[*]`). */
export type Step = string | number | typeof everyItem

/** The step `[*]`. */
export const everyItem = Symbol('[*]')

export type JsonPath = readonly (string | number)[]

/** A path as people write it, and as every `param` shows it: `checks[0].id`, `logit_bias.50256`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.map((one, at) => (typeof one === 'number' ? `[${one}]` : `${at === 0 ? '' : '.'}${String(one)}`)).join('')

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

/** Reads paths of our own. Throws for a text that is none. */
export const parseJsonPaths = (texts: readonly string[]): readonly (readonly Step[])[] =>
  texts.map((text) => {
    const path = parseJsonPath(text)
    if (path === null) throw new Error(`${text} is no path.`)
    return path
  })

/** The paths without wildcards that exist in a value; null when more than so many places would have to be looked at. */
export function existingPaths(value: unknown, wanted: readonly (readonly Step[])[], most: number): readonly JsonPath[] | null {
  const found: JsonPath[] = []
  let left = most
  const look = (part: unknown, steps: readonly Step[], before: JsonPath): boolean => {
    const [first, ...rest] = steps
    left -= 1
    if (left < 0) return false
    if (first === undefined) return found.push(before) > 0
    if (first === everyItem) return !Array.isArray(part) || part.every((item, at) => look(item, rest, [...before, at]))
    const child = childOf(part, first)
    return child === undefined || look(child, rest, [...before, first])
  }
  return wanted.every((steps) => look(value, steps, [])) ? found : null
}

/** The own member or item of a value; undefined when there is none. */
export function childOf(value: unknown, name: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return typeof name === 'number' ? value[name] : undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

/** The value at a path; undefined when there is none. */
export const valueAt = (value: unknown, path: JsonPath): unknown => path.reduce<unknown>(childOf, value)

/** A name as a step of a JSON Pointer: RFC 6901. */
export const pointerStep = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
