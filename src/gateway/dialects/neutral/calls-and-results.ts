import type { Part, ToolResultPart } from './parts.ts'
import type { Turn } from './request.ts'
import { Turns } from './turns.ts'

/**
 * Returns the turns of a conversation with each result of a tool directly behind the call that it answers, as most vendors demand it; other parts in
 * between come after it. A result whose call does not stand before it stays where it is.
 */
export function resultsBehindCalls(turns: readonly Turn[]): readonly Turn[] {
  const answered = answeredTurns(turns)
  if (answered === null) return turns
  const placed = new Set<Part>([...answered.values()].flat())
  const ordered = new Turns()
  for (const [index, { role, parts, at }] of turns.entries()) {
    ordered.add(role, role === 'tool' ? parts.filter((part) => !placed.has(part)) : parts, at)
    ordered.add('tool', answered.get(index) ?? [], at)
  }
  return ordered.list
}

/** Returns results in the order of the calls that they answer, for formats without ids; results of no such call come last. */
export function inOrderOfCalls(results: readonly ToolResultPart[], { parts }: Pick<Turn, 'parts'>): readonly ToolResultPart[] {
  const places = new Map<string, number>()
  for (const part of parts) if (part.kind === 'tool-call' && !places.has(part.id)) places.set(part.id, places.size)
  const place = ({ callId }: ToolResultPart): number => places.get(callId) ?? places.size
  return results.toSorted((one, other) => place(one) - place(other))
}

/** Returns the results by the place of the turn whose calls they answer; null: they all stand behind it already. */
function answeredTurns(turns: readonly Turn[]): ReadonlyMap<number, readonly ToolResultPart[]> | null {
  const callers = new Map<string, number>()
  const answered = new Map<number, ToolResultPart[]>()
  let isMoved = false
  for (const [index, { parts }] of turns.entries())
    for (const part of parts) {
      if (part.kind === 'tool-call') callers.set(part.id, index)
      if (part.kind !== 'tool-result') continue
      const caller = callers.get(part.callId)
      if (caller === undefined) continue
      isMoved ||= caller !== index - 1
      const before = answered.get(caller)
      if (before === undefined) answered.set(caller, [part])
      else before.push(part)
    }
  return isMoved ? answered : null
}
