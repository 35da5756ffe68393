import type { Part } from './parts.ts'
import type { NeutralRequest, Turn } from './request.ts'

/** Characters for each token: prose has more, code has fewer, so that an estimate is rather too high. */
const charactersPerToken = 3
/** About the provider's count for a picture or a page of a document. */
const tokensOfMedia = 1500

/**
 * Drops turns in the middle of a conversation that is longer than a model's window: the first one and the newest question stay, and calls of tools
 * stay with their results. Returns the request itself when it is short enough, or no turn can be dropped.
 */
export function truncateTurns(request: NeutralRequest, window: number): NeutralRequest {
  const { turns, system, tools } = request
  const fixed = sizeOf(system) + Math.ceil(JSON.stringify(tools).length / charactersPerToken) + (request.maxTokens ?? 0)
  const sizes = turns.map(({ parts }) => sizeOf(parts))
  let left = fixed + sizes.reduce((sum, size) => sum + size, 0) - window
  if (left <= 0) return request
  const newest = turns.findLastIndex(({ role }) => role === 'user')
  let end = 1
  while (end < newest && (left > 0 || turns[end]?.role !== 'assistant')) {
    left -= sizes[end] ?? 0
    end += 1
  }
  return end === 1 ? request : { ...request, turns: joined([...turns.slice(0, 1), ...turns.slice(end)]) }
}

/** Neighbours of one role are one turn. */
function joined([first, second, ...rest]: readonly Turn[]): readonly Turn[] {
  if (first === undefined || second === undefined) return first === undefined ? [] : [first]
  return first.role === second.role ? [{ ...first, parts: [...first.parts, ...second.parts] }, ...rest] : [first, second, ...rest]
}

const sizeOf = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + tokensOf(part), 0)

function tokensOf(part: Part): number {
  if (part.kind === 'tool-result') return sizeOf(part.parts)
  if (part.kind === 'tool-call') return Math.ceil(part.arguments.length / charactersPerToken)
  if ('text' in part) return Math.ceil(part.text.length / charactersPerToken)
  return tokensOfMedia
}
