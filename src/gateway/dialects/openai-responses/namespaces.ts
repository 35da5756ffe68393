import type { BlockStart } from '../neutral/events.ts'
import type { Tool } from '../neutral/request.ts'

/** Returns the name of a tool in a group, for formats that know no groups. */
export const nameWithin = (namespace: string | null, name: string): string => (namespace === null ? name : `${prefixOf(namespace)}${name}`)

/** Returns the group in which the caller put the tool that a block calls; null: in none. */
export function namespaceOf(block: BlockStart, tools: readonly Tool[]): string | null {
  if (block.kind !== 'tool-call') return null
  const tool = tools.find((one) => one.kind !== 'vendor' && one.name === block.name)
  return tool === undefined || tool.kind === 'vendor' ? null : (tool.namespace ?? null)
}

/** Returns what tells the tool of a call, in the words of its caller. */
export const calledIn = (namespace: string | null, name: string): object =>
  namespace === null ? { name } : { name: name.slice(prefixOf(namespace).length), namespace }

const prefixOf = (namespace: string): string => `${namespace}__`
