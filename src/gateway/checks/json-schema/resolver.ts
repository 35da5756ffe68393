import { childOf } from '../../../lib/json/json-path.ts'
import { decodeSegment } from '../../../lib/text/decode-segment.ts'

/** Finds the part of a schema that `#/$defs/x` or `#anchor` names; undefined when there is none. */
export type Resolve = (reference: string) => unknown

export function createResolver(root: unknown): Resolve {
  let anchors: ReadonlyMap<string, unknown> | null = null
  return (reference) => {
    if (!reference.startsWith('#')) return undefined
    if (reference === '#') return root
    if (reference.startsWith('#/')) return pointed(root, reference.slice(2))
    anchors ??= anchorsOf(root)
    return anchors.get(reference.slice(1))
  }
}

function pointed(root: unknown, pointer: string): unknown {
  let found = root
  for (const step of pointer.split('/')) {
    const name = decodeSegment(step).replaceAll('~1', '/').replaceAll('~0', '~')
    found = childOf(found, Array.isArray(found) ? Number(name) : name)
  }
  return found
}

function anchorsOf(root: unknown): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>()
  const waiting = [root]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const anchor = childOf(next, '$anchor')
    if (typeof anchor === 'string' && !found.has(anchor)) found.set(anchor, next)
    waiting.push(...Object.values(next))
  }
  return found
}
