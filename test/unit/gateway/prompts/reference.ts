import Mustache from 'mustache'

const isOwn = (value: unknown, name: string): boolean => value !== undefined && value !== null && Object.hasOwn(Object(value), name)

/** Follows the specification where the library does not: the first part of a dotted name alone is looked for in outer sections. */
class Context extends Mustache.Context {
  override lookup(name: string): unknown {
    if (name.indexOf('.') <= 0) return super.lookup(name)
    const [first = '', ...rest] = name.split('.')
    let value: unknown = super.lookup(first)
    for (const part of rest) value = isOwn(value, part) ? Reflect.get(Object(value), part) : undefined
    return value
  }

  override push(view: unknown): Context {
    return new Context(view, this)
  }
}

/** The library indents the further lines of a partial that stands behind words; the specification leaves them alone. */
class Writer extends Mustache.Writer {
  override indentPartial(partial: string, indentation: string, isBehindWords: boolean): string {
    return isBehindWords ? partial : super.indentPartial(partial, indentation, isBehindWords)
  }
}

/** Renders a template by the Mustache specification, without escapes of HTML. Throws for a text that is no template. */
export function renderByReference(template: string, variables: unknown, partials: Readonly<Record<string, string>> = {}): string {
  return new Writer().render(template, new Context(variables), partials, { escape: String })
}
