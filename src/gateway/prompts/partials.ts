import { ApiError } from '../../lib/errors.ts'
import { bounds } from './bounds.ts'
import { partialKey, type Partials } from './render.ts'
import { compile, indented, indentedLength, partialsOf, walk, type Template } from './template.ts'

/** The texts of partials by the name that includes them; null for those that are not there. */
export type PartialTexts = ReadonlyMap<string, string | null>

/** Reads the texts of these partials, as `slug@version` or as it was written otherwise. */
export type ReadPartials = (names: readonly string[]) => Promise<PartialTexts>

/** Everything that templates include, and the missing parts of it. */
export interface LinkedPartials {
  readonly partials: Partials
  readonly missing: readonly string[]
}

/** Partials are read so many at a time, so that a prompt that is too long is never read to its end. */
const atOnce = 50

/** Reads the partials of templates, and theirs, and so on, and compiles them. Throws `invalid_request` at a bound. */
export async function linkPartials(templates: readonly Template[], read: ReadPartials): Promise<LinkedPartials> {
  const texts = new Map<string, string | null>()
  let wanted = unique(templates.flatMap(partialsOf))
  let length = 0
  for (let round = 1; wanted.length > 0; round += 1) {
    if (round > bounds.partialDepth) throw tooBig(`its partials include one another deeper than ${bounds.partialDepth}`)
    for (let at = 0; at < wanted.length; at += atOnce)
      for (const [name, text] of await read(wanted.slice(at, at + atOnce))) {
        length += text?.length ?? 0
        if (length > bounds.totalLength) throw tooLong()
        texts.set(name, text)
      }
    wanted = unique(wanted.flatMap((name) => includedBy(texts.get(name) ?? '', name))).filter((name) => !texts.has(name))
  }
  const missing = [...texts].flatMap(([name, text]) => (text === null ? [name] : []))
  return { missing, partials: compileAll(templates, texts) }
}

const unique = (names: readonly string[]) => [...new Set(names)]
const includedBy = (text: string, name: string) => partialsOf(compile(text, name))

/** Each partial in every way in which it is indented somewhere. */
function compileAll(templates: readonly Template[], texts: PartialTexts): Partials {
  const partials = new Map<string, Template>()
  const waiting = [...templates]
  let length = 0
  for (let template = waiting.pop(); template !== undefined; template = waiting.pop()) {
    for (const [node] of walk(template)) {
      if (node.kind !== 'partial' || partials.has(partialKey(node.name, node.indent))) continue
      const text = texts.get(node.name) ?? ''
      length += node.indent === null ? text.length : indentedLength(text, node.indent)
      if (length > bounds.totalLength) throw tooLong()
      const placed = node.indent === null ? text : indented(text, node.indent)
      const compiled = compile(placed, node.name)
      partials.set(partialKey(node.name, node.indent), compiled)
      waiting.push(compiled)
    }
  }
  return partials
}

const tooLong = () => tooBig(`it is longer than ${bounds.totalLength} characters with its partials`)

const tooBig = (what: string) => new ApiError('invalid_request', `The prompt cannot be rendered: ${what}.`, { param: 'string' })
