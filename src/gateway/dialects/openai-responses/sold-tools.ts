import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Counts, Dimension } from '../neutral/counts.ts'

/** The items of a response that are calls of tools which the provider runs and sells; no usage object counts them. */
const soldItems: Readonly<Record<string, Dimension>> = {
  web_search_call: 'web_search',
  file_search_call: 'file_search',
  x_search_call: 'x_search',
  code_interpreter_call: 'code_session',
  shell_call: 'code_session',
}

/** An image that another model drew for a response. */
export const drawnItem = 'image_generation_call'

/** Returns true for an item that is charged beside the tokens of its response. */
export const isSold = ({ type }: Fields): boolean => type === drawnItem || soldItems[String(type)] !== undefined

/**
 * Counts the calls among items, each once: of the searches in the web those that search and do not only read a page, of code each container, by the
 * gigabytes of its memory. `tools`: those of the request, which name the memory.
 */
export function soldTools(items: readonly Fields[], tools: unknown): Counts {
  const found = new Map<Dimension, Set<unknown>>()
  for (const item of items) {
    const dimension = soldItems[String(item['type'])]
    if (dimension === undefined || isReading(item) || isLocal(item)) continue
    const same = dimension === 'code_session' ? (item['container_id'] ?? item['id']) : item['id']
    found.set(dimension, (found.get(dimension) ?? new Set()).add(same ?? item))
  }
  return Object.fromEntries(
    [...found].map(([dimension, calls]) => [dimension, calls.size * (dimension === 'code_session' ? containerGigabytes(tools) : 1)]),
  )
}

/** Returns true for a call that opens a page or searches within it, which is free. */
function isReading(item: Fields): boolean {
  const action = item['action']
  const kind = isFields(action) ? action['type'] : undefined
  return item['type'] === 'web_search_call' && kind !== undefined && kind !== 'search'
}

/** Returns true for commands that the caller runs itself. */
export const isLocal = ({ environment }: Fields): boolean => isFields(environment) && environment['type'] === 'local'

const containerTools: ReadonlySet<unknown> = new Set(['code_interpreter', 'shell'])

/** Returns the gigabytes of the largest container that tools ask for; a container is paid by the gigabyte, and has one unless a tool states another number. */
export function containerGigabytes(tools: unknown): number {
  let most = 1
  for (const tool of listOf(tools)) {
    const place = isFields(tool) && containerTools.has(tool['type']) ? (tool['container'] ?? tool['environment']) : null
    const limit = isFields(place) ? /^(\d{1,3})g$/.exec(String(place['memory_limit']))?.[1] : undefined
    most = Math.max(most, Number(limit ?? 1))
  }
  return most
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
