import Mustache from 'mustache'
import { ApiError } from '../../lib/errors.ts'
import { bounds } from './bounds.ts'

/** One part of a template. */
export type Node =
  | { readonly kind: 'text'; readonly text: string }
  /** `{{name}}`, or `{{{name}}}` and `{{&name}}` when it goes in as it is. */
  | { readonly kind: 'value'; readonly name: string; readonly asIs: boolean }
  /** `{{#name}}…{{/name}}`, or `{{^name}}` when inverted. */
  | { readonly kind: 'section'; readonly name: string; readonly inverted: boolean; readonly body: Template }
  /** `{{>name@version}}`; a tag that stands alone on a line indents the lines of the partial. */
  | { readonly kind: 'partial'; readonly name: string; readonly indent: Indent | null }

export type Template = readonly Node[]

/** The white space before each line of a partial whose tag has its line to itself. */
export type Indent = string

/** A parser without a memory: its own cache would keep every template for good. */
const parser = Object.assign(new Mustache.Writer(), { templateCache: undefined })

/** Parses a Mustache template. Throws `invalid_request` with the place of the fault, or the bound that it breaks. */
export function compile(text: string, field: string): Template {
  if (text.length > bounds.templateLength) throw wrong(field, `it is longer than ${bounds.templateLength} characters`)
  // The parser looks at each character: a text without tags need not pay for it.
  if (!text.includes('{{')) return text === '' ? [] : [{ kind: 'text', text }]
  refuseLongTags(text, field)
  const count = { tags: 0 }
  return toNodes(parse(text, field), { field, count, nesting: 0, source: text, end: text.length })
}

/** Spaces in a row within a tag. The parser looks for a tag's end from each of them to the last. */
const longBlank = /\s{200}/

function refuseLongTags(text: string, field: string): void {
  // With delimiters of its own it may open a tag anywhere.
  const changed = text.search(/\{\{\s{0,199}=/)
  for (let at = text.indexOf('{{'); at !== -1;) {
    const end = at === changed ? -1 : text.indexOf('}}', at)
    if (longBlank.test(text.slice(at, end === -1 ? undefined : end)))
      throw wrong(field, 'a tag holds more than 200 spaces in a row, or is not closed')
    at = end === -1 ? -1 : text.indexOf('{{', end)
  }
}

const wrong = (field: string, what: string) =>
  new ApiError('invalid_request', `The template in ${field} is not valid: ${what}.`, { param: field })

function parse(text: string, field: string): unknown {
  try {
    return parser.parse(text)
  } catch (error) {
    throw wrong(field, error instanceof Error ? error.message : 'it is no Mustache template')
  }
}

interface Place {
  readonly field: string
  readonly count: { tags: number }
  readonly nesting: number
  readonly source: string
  /** The end of these tokens in the source. */
  readonly end: number
}

/** The parser's tokens as our nodes; comments and changes of the delimiters give none. */
function toNodes(tokens: unknown, place: Place): Template {
  if (!Array.isArray(tokens)) return []
  const nodes: Node[] = []
  for (const [at, token] of tokens.entries()) {
    const node = toNode(Array.isArray(token) ? token : [], place)
    if (node !== null) nodes.push(node)
    const blank = droppedBlank(tokens, at, place)
    if (blank !== '') nodes.push({ kind: 'text', text: blank })
  }
  return nodes
}

/**
 * Returns the white space behind a partial that the parser drops although another partial is on the same line: only a tag that has its
 * line to itself may take the line's white space with it.
 */
function droppedBlank(tokens: readonly unknown[], at: number, { source, end }: Place): string {
  const partial = toPartialSpan(tokens[at])
  if (partial === null) return ''
  const gap = source.slice(partial.to, toSpan(tokens[at + 1])?.from ?? end)
  if (toPartialSpan(tokens[at + 1]) !== null && /^[ \t]+$/.test(gap)) return gap
  const before = toPartialSpan(tokens[at - 1])
  const isSecond = before !== null && !source.slice(before.to, partial.from).includes('\n')
  return isSecond ? (/^[ \t]*(?:\r?\n|$)/.exec(gap)?.[0] ?? '') : ''
}

interface Span {
  readonly from: number
  readonly to: number
}

const toPartialSpan = (token: unknown): Span | null => (Array.isArray(token) && token[0] === '>' ? toSpan(token) : null)

/** Returns where a token begins and ends in the source. */
function toSpan(token: unknown): Span | null {
  const [, , from, to]: readonly unknown[] = Array.isArray(token) ? token : []
  return typeof from === 'number' && typeof to === 'number' ? { from, to } : null
}

function toNode([type, value, , , fifth, sixth, seventh]: readonly unknown[], place: Place): Node | null {
  const name = typeof value === 'string' ? value : ''
  if (type === 'text') return { kind: 'text', text: name }
  if (++place.count.tags > bounds.tags) throw wrong(place.field, `it has more than ${bounds.tags} tags`)
  if (type === 'name' || type === '&') return { kind: 'value', name, asIs: type === '&' }
  if (type === '#' || type === '^') return { kind: 'section', name, inverted: type === '^', body: toNodes(fifth, deeper(place, sixth)) }
  return type === '>' ? toPartial(name, toIndent(fifth, sixth, seventh)) : null
}

function deeper(place: Place, end: unknown): Place {
  const nesting = place.nesting + 1
  if (nesting > bounds.nesting) throw wrong(place.field, `its sections are nested deeper than ${bounds.nesting}`)
  return { ...place, nesting, end: typeof end === 'number' ? end : place.end }
}

/** `{{>>name}}` is a partial that the caller keeps and sends as a variable: its text goes in, and is no template. */
const toPartial = (name: string, indent: Indent | null): Node =>
  name.startsWith('>') ? { kind: 'value', name: name.slice(1).trim(), asIs: false } : { kind: 'partial', name, indent }

function toIndent(before: unknown, tagIndex: unknown, midLine: unknown): Indent | null {
  const spaces = typeof before === 'string' ? before : ''
  // Where words stand before the tag, all lines of the partial go in as they are.
  return spaces === '' || tagIndex !== 0 || midLine === true ? null : spaces
}

/** A partial's text with its lines indented. */
export const indented = (text: string, indent: Indent): string => text.replaceAll(/(^|\n)(?=[^\n])/g, (before) => before + indent)

/** How long it is with its lines indented. */
export function indentedLength(text: string, indent: Indent): number {
  const lines = text.split('\n').filter((line) => line !== '')
  return text.length + lines.length * indent.length
}

/** Every tag of a template, those in its sections too; each with the section that it stands in. */
export function* walk(
  template: Template,
  section: string | null = null,
): Generator<readonly [Exclude<Node, { kind: 'text' }>, string | null]> {
  for (const node of template) {
    if (node.kind === 'text') continue
    yield [node, section]
    if (node.kind === 'section') yield* walk(node.body, node.name)
  }
}

/** The partials that a template includes, as written, each once. */
export const partialsOf = (template: Template): readonly string[] => [
  ...new Set(Array.from(walk(template)).flatMap(([node]) => (node.kind === 'partial' ? [node.name] : []))),
]
