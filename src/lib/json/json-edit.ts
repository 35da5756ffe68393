import type { JsonPath } from './json-path.ts'

/** One change of a JSON text: the new value at a path; undefined takes it out. */
export interface JsonEdit {
  readonly path: JsonPath
  readonly value: unknown
}

/** The changes at and below one value: of the value itself, or of some of its parts. */
interface Node {
  replacement: { readonly value: unknown } | null
  readonly children: Map<string, Node>
}

/**
 * Changes a JSON text at some paths and leaves every other byte as it is: numbers of any length, duplicate keys, spaces. Only the last step of a path
 * may be missing in an object; it is added. The text is JSON that was parsed before.
 */
export function editJson(text: string, edits: readonly JsonEdit[]): string {
  if (edits.length === 0) return text
  const root: Node = { replacement: null, children: new Map() }
  for (const { path, value } of edits) nodeAt(root, path).replacement = { value }
  const start = afterSpace(text, 0)
  const { written, end } = rewrite(text, start, root)
  return text.slice(0, start) + written + text.slice(end)
}

function nodeAt(root: Node, path: JsonPath): Node {
  let node = root
  for (const step of path) {
    const child: Node = node.children.get(String(step)) ?? { replacement: null, children: new Map() }
    node.children.set(String(step), child)
    node = child
  }
  return node
}

interface RewrittenSpan {
  readonly written: string
  readonly end: number
}

function rewrite(text: string, start: number, node: Node): RewrittenSpan {
  if (node.replacement !== null) return { written: JSON.stringify(node.replacement.value) ?? 'null', end: valueEnd(text, start) }
  const open = text[start]
  if (node.children.size === 0 || (open !== '{' && open !== '[')) {
    const end = valueEnd(text, start)
    return { written: text.slice(start, end), end }
  }
  return rewriteParts(text, start, node)
}

/** One member of an object or item of an array, spaces around it included. */
interface Part {
  readonly written: string | null
  readonly end: number
  readonly name: string
}

function rewriteParts(text: string, start: number, node: Node): RewrittenSpan {
  const named = text[start] === '{'
  const parts: Part[] = []
  let at = start + 1
  if (isClosing(text[afterSpace(text, at)])) at = afterSpace(text, at)
  while (!isClosing(text[at])) {
    const part = rewritePart(text, at, { node, name: named ? null : String(parts.length) })
    parts.push(part)
    at = text[part.end] === ',' ? part.end + 1 : part.end
  }
  const kept = parts.flatMap(({ written }) => (written === null ? [] : [written]))
  const inside = named ? [...kept, ...missing(node, new Set(parts.map(({ name }) => name)))] : kept
  return { written: text.slice(start, start + 1) + inside.join(',') + (text[at] ?? ''), end: at + 1 }
}

const isClosing = (char: string | undefined): boolean => char === '}' || char === ']' || char === undefined

function rewritePart(text: string, from: number, { node, name }: { node: Node; name: string | null }): Part {
  let at = afterSpace(text, from)
  let own = name
  if (own === null) {
    const keyEnd = stringEnd(text, at)
    own = unquoted(text.slice(at, keyEnd))
    at = afterSpace(text, afterSpace(text, keyEnd) + 1)
  }
  const child = node.children.get(own)
  const { written, end } = child === undefined ? { written: '', end: valueEnd(text, at) } : rewrite(text, at, child)
  const partEnd = afterSpace(text, end)
  if (child === undefined) return { written: text.slice(from, partEnd), end: partEnd, name: own }
  const removed = child.replacement !== null && child.replacement.value === undefined
  return { written: removed ? null : text.slice(from, at) + written + text.slice(end, partEnd), end: partEnd, name: own }
}

function unquoted(text: string): string {
  const value: unknown = JSON.parse(text)
  return String(value)
}

/** Members that are to be set and that the object does not have yet. */
const missing = (node: Node, present: ReadonlySet<string>): readonly string[] =>
  [...node.children].flatMap(([name, { replacement }]) =>
    present.has(name) || replacement === null || replacement.value === undefined
      ? []
      : [`${JSON.stringify(name)}:${JSON.stringify(replacement.value)}`],
  )

function afterSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1
  return at
}

/** The index after the value that begins at `start`. */
function valueEnd(text: string, start: number): number {
  const open = text[start]
  if (open === '"') return stringEnd(text, start)
  if (open === '{' || open === '[') return bracketEnd(text, start)
  let at = start
  while (at < text.length && !/[,\]}\s]/.test(text[at] ?? '')) at += 1
  return at
}

function bracketEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') at = stringEnd(text, at) - 1
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return text.length
}

/** The index after the closing quote of the string that begins at `start`. */
export function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}
