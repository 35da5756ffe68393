import type { CapabilityKind } from '../../lib/mcp-definition.ts'

/** The forms of the names of one server cost so much at most: a fifth of a second of the process. Names are a choice of the server. */
export const mostFormCost = 4_000_000

const beyondAscii = /[\u0080-\uffff]/

/** Returns whether the names of a kind are addresses. */
export const isAddress = (kind: CapabilityKind): boolean => kind === 'resource' || kind === 'resource_template'

/** Returns the cost of the forms of a name: one for each letter of a plain name. */
export function formCost(kind: CapabilityKind, name: string): number {
  if (isAddress(kind)) return name.length * (name.includes('%') ? 32 : 8) * (kind === 'resource_template' ? 2 : 1)
  return name.length * (beyondAscii.test(name) ? 16 : 1)
}
