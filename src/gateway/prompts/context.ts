/** The values that a place in a template sees, the innermost section's first. Only JSON values are ever found. */
export interface Context {
  readonly value: unknown
  readonly parent: Context | null
}

/**
 * Returns the value of a name there, looked up as Mustache's specification defines it, but among own properties alone: no prototype, no getter, no
 * function. `spend` gets the number of looked-up properties.
 */
export function lookup(context: Context, name: string, spend: (properties: number) => void): unknown {
  if (name === '.') return context.value
  const [first = name, ...rest] = name.indexOf('.') > 0 ? name.split('.') : [name]
  for (let at: Context | null = context; at !== null; at = at.parent) {
    spend(1)
    const found = ownProperty(at.value, first)
    if (found === undefined) continue
    spend(rest.length)
    return descend(found.value, rest)
  }
  return undefined
}

/** Undefined: there is none. A text has properties (its length) behind a dot only. */
function ownProperty(value: unknown, name: string): { readonly value: unknown } | undefined {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? { value: Reflect.get(value, name) } : undefined
}

/** The first part of a dotted name decides where the rest is looked for: no outer section is asked for that. */
function descend(from: unknown, path: readonly string[]): unknown {
  let current: unknown = from
  for (const name of path) current = ownProperty(typeof current === 'string' ? Object(current) : current, name)?.value
  return current
}

/** A value as text: a list with commas, as Mustache writes it; an object, or a list that holds one, as JSON. Empty for a missing value. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  return Array.isArray(value) && value.every(isPlain) ? value.join(',') : JSON.stringify(value)
}

const isPlain = (value: unknown): boolean => (Array.isArray(value) ? value.every(isPlain) : typeof value !== 'object' || value === null)
