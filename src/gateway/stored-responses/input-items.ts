import { type Fields, isFields } from '../../lib/json/fields.ts'
import { hashedId } from '../dialects/tool-calls.ts'

/** Returns the input of a request as items: a plain text is a message. */
export function itemsOf(input: unknown): readonly Fields[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input.filter(isFields) : []
}

const prefixes: Readonly<Record<string, string>> = { message: 'msg', reasoning: 'rs', function_call: 'fc' }

/** Returns items as they are kept: each with an id and a type, and the content of messages as parts. */
export const toKeptItems = (items: readonly Fields[], responseId: string): readonly Fields[] =>
  items.map((item, index) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message'
    const id = typeof item['id'] === 'string' ? item['id'] : `${prefixes[type] ?? 'item'}_${hashedId(`${responseId}:in:${index}`, 24)}`
    const { content, role } = item
    if (type !== 'message' || typeof content !== 'string') return { ...item, id, type }
    const part = role === 'assistant' ? { type: 'output_text', text: content, annotations: [] } : { type: 'input_text', text: content }
    return { ...item, id, type, status: 'completed', content: [part] }
  })

/** The data that come only when `include` names them: of items of a type, a field, or a field of the objects in one of their fields. */
const included: readonly { readonly name: string; readonly type: string; readonly path: readonly string[]; readonly part?: string }[] = [
  { name: 'file_search_call.results', type: 'file_search_call', path: ['results'] },
  { name: 'message.input_image.image_url', type: 'message', path: ['content', 'image_url'], part: 'input_image' },
  { name: 'computer_call_output.output.image_url', type: 'computer_call_output', path: ['output', 'image_url'] },
]

/** Returns an item with the data that the caller asked for, and without other data on demand. */
export function presentItem(item: Fields, include: ReadonlySet<string>): Fields {
  let shown = item
  for (const { name, type, path, part } of included) if (!include.has(name) && item['type'] === type) shown = without(shown, path, part)
  return shown
}

function without(item: Fields, [outer = '', inner]: readonly string[], part: string | undefined): Fields {
  const held = item[outer]
  if (inner === undefined) return { ...item, [outer]: null }
  const strip = (value: unknown): unknown =>
    isFields(value) && inner in value && (part === undefined || value['type'] === part) ? { ...value, [inner]: null } : value
  return { ...item, [outer]: Array.isArray(held) ? held.map(strip) : strip(held) }
}

/** A page of a list, as its query asks for it. */
export interface ItemPage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The id after which the page begins. */
  readonly after: string | null
  /** The id before which the page ends. */
  readonly before: string | null
}

/** Returns one page of items; null when `after` or `before` names none of them. */
export function pageOf(items: readonly Fields[], { limit, order, after, before }: ItemPage): object | null {
  const ordered = order === 'asc' ? items : items.toReversed()
  const at = (id: string) => ordered.findIndex((item) => item['id'] === id)
  const [from, to] = [after === null ? 0 : at(after) + 1, before === null ? ordered.length : at(before)]
  if ((after !== null && from === 0) || to === -1) return null
  const data = ordered.slice(from, Math.max(from, Math.min(from + limit, to)))
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: from + data.length < to,
  }
}
