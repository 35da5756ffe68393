import { isFields } from './fields.ts'
import type { JsonPath } from './json-path.ts'

/** A number as its text writes it. */
class NumberText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Returns a way to the digits of the number at a path of a JSON text; null: no number is there. */
export function exactNumbers(text: string): (path: JsonPath) => string | null {
  const tree: unknown = JSON.parse(text, (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value,
  )
  return (path) => {
    let value = tree
    for (const step of path)
      value = Array.isArray(value) && typeof step === 'number' ? value[step] : isFields(value) ? value[step] : undefined
    return value instanceof NumberText ? value.text : null
  }
}
