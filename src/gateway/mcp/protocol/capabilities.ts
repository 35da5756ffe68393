import { type Fields, isFields } from '../../../lib/json/fields.ts'

/** The bounds of a list that a server gives, and of the definitions in it. */
export const listBounds = {
  pages: 50,
  items: 1000,
  descriptionBytes: 8 * 1024,
  schemaDepth: 32,
  schemaBytes: 256 * 1024,
} as const

/** The lists of a server. */
export const listKinds = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const
export type ListKind = (typeof listKinds)[number]

/** For each list its method, and the field by which its items are named. */
export const lists: Readonly<Record<ListKind, { readonly method: string; readonly key: string }>> = {
  tools: { method: 'tools/list', key: 'name' },
  prompts: { method: 'prompts/list', key: 'name' },
  resources: { method: 'resources/list', key: 'uri' },
  resourceTemplates: { method: 'resources/templates/list', key: 'uriTemplate' },
}

/** Returns the items of one page of a list that are within the bounds, each name once; `seen`: the names of the pages before. */
export function boundItems(kind: ListKind, result: Fields, seen: Set<string>): readonly Fields[] {
  const items = result[kind]
  const { key } = lists[kind]
  const kept: Fields[] = []
  for (const item of Array.isArray(items) ? items.slice(0, listBounds.items) : []) {
    const name = isFields(item) ? item[key] : undefined
    if (!isFields(item) || typeof name !== 'string' || seen.has(name) || seen.size >= listBounds.items || !hasBoundSchemas(item)) continue
    seen.add(name)
    kept.push(shortened(item))
  }
  return kept
}

/** A description beyond the bound is cut; a tool stays usable without its end. */
function shortened(item: Fields): Fields {
  const { description } = item
  if (typeof description !== 'string') return item
  const cut = cutText(description, listBounds.descriptionBytes)
  return cut === description ? item : { ...item, description: cut }
}

/** Returns the beginning of a text that has so many bytes at most. */
export function cutText(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  const bytes = Buffer.from(text)
  let end = most
  while (end > 0 && isWithinLetter(bytes[end] ?? 0)) end -= 1
  return bytes.toString('utf8', 0, end)
}

/** Returns true for a byte of UTF-8 that is not the first one of its letter. */
const isWithinLetter = (byte: number): boolean => (byte & 0xc0) === 0x80

/** A schema beyond the bounds would cost every client of the list; a part of one means something else. */
function hasBoundSchemas({ inputSchema, outputSchema }: Fields): boolean {
  return [inputSchema, outputSchema].every(
    (schema) =>
      schema === undefined ||
      (isFields(schema) &&
        !isDeeper(schema, listBounds.schemaDepth) &&
        Buffer.byteLength(JSON.stringify(schema)) <= listBounds.schemaBytes),
  )
}

function isDeeper(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return left === 0 || Object.values(value).some((child) => isDeeper(child, left - 1))
}
