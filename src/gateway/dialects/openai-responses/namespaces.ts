import type { BlockStart } from '../neutral/events.ts'
import type { Tool } from '../neutral/request.ts'

/** Returns the name of a tool in a group, for formats without groups. */
export const nameWithin = (namespace: string | null, name: string): string => (namespace === null ? name : `${prefixOf(namespace)}${name}`)

/** Returns the group in which the caller put the tool that a block calls; null: in none. */
export function namespaceOf(block: BlockStart, tools: readonly Tool[]): string | null {
  return block.kind === 'tool-call' ? (namespacesOf(tools).get(block.name) ?? null) : null
}

const known = new WeakMap<readonly Tool[], ReadonlyMap<string, string | null>>()

/** Returns the group of each tool by its name, made once for all calls of an answer. The first of several tools with one name counts. */
function namespacesOf(tools: readonly Tool[]): ReadonlyMap<string, string | null> {
  const made = known.get(tools)
  if (made !== undefined) return made
  const groups = new Map<string, string | null>()
  for (const tool of tools) if (tool.kind !== 'vendor' && !groups.has(tool.name)) groups.set(tool.name, tool.namespace ?? null)
  known.set(tools, groups)
  return groups
}

/** Returns the tool of a call, under its caller's name. */
export const calledIn = (namespace: string | null, name: string): object =>
  namespace === null ? { name } : { name: name.slice(prefixOf(namespace).length), namespace }

const prefixOf = (namespace: string): string => `${namespace}__`
