import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Counts, Dimension } from '../neutral/counts.ts'

/** The items of a response that are calls of tools which the provider runs and sells; no usage object counts them. */
export const soldItems: Readonly<Record<string, Dimension>> = {
  web_search_call: 'web_search',
  file_search_call: 'file_search',
  x_search_call: 'x_search',
  code_interpreter_call: 'code_session',
}

/** Counts the calls among items, each once: of the searches in the web those that search and do not only read a page, of code each container. */
export function soldTools(items: readonly Fields[]): Counts {
  const found = new Map<Dimension, Set<unknown>>()
  for (const item of items) {
    const dimension = soldItems[String(item['type'])]
    if (dimension === undefined || isReading(item)) continue
    const same = dimension === 'code_session' ? (item['container_id'] ?? item['id']) : item['id']
    found.set(dimension, (found.get(dimension) ?? new Set()).add(same ?? item))
  }
  return Object.fromEntries([...found].map(([dimension, calls]) => [dimension, calls.size]))
}

/** Returns true for a call that opens a page or searches within it, which is free. */
function isReading(item: Fields): boolean {
  const action = item['action']
  const kind = isFields(action) ? action['type'] : undefined
  return item['type'] === 'web_search_call' && kind !== undefined && kind !== 'search'
}
