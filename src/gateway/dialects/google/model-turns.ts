import type { Part, ReasoningPart } from '../neutral/parts.ts'
import { withReasoning } from '../neutral/reasoning-place.ts'
import type { Turns } from '../neutral/turns.ts'

/** A content of the model: Google's client keeps each frame of a stream as one. */
export interface ModelContent {
  readonly at: string
  readonly parts: readonly Part[]
}

/** Adds the parts that the model wrote in one go, and forgets them. */
export function addSaid(turns: Turns, said: ModelContent[]): void {
  const [first] = said
  if (first === undefined) return
  turns.add('assistant', inPlace(said.length === 1 ? first.parts : joined(said)), first.at)
  said.length = 0
}

/** Returns the parts of all contents; a text that came in pieces is one again. */
function joined(said: readonly ModelContent[]): readonly Part[] {
  const parts: Part[] = []
  for (const { parts: more } of said) {
    const [first, last] = [more[0], parts.at(-1)]
    const isOne = first?.kind === 'text' && last?.kind === 'text' && isBare(first) && isBare(last)
    if (isOne) parts.splice(-1, 1, { ...last, text: last.text + first.text })
    for (const part of isOne ? more.slice(1) : more) parts.push(part)
  }
  return parts
}

const isBare = ({ cache, bag }: Part): boolean => cache === null && bag === null

/** Puts the thoughts of another vendor's model where they stood; those that are shown and only repeat one fall away. */
function inPlace(read: readonly Part[]): readonly Part[] {
  const parts: Part[] = []
  let segment: Part[] = []
  let foreign: ReasoningPart[] = []
  const end = (): void => {
    for (const part of withReasoning(segment, withoutShown(segment, foreign))) parts.push(part)
    segment = []
    foreign = []
  }
  for (const part of read) {
    if (part.kind === 'reasoning' && part.signature !== null && part.signature.origin !== 'google') {
      foreign.push(part)
      continue
    }
    if (part.kind === 'tool-call') end()
    ;(part.kind === 'tool-call' ? parts : segment).push(part)
  }
  end()
  return parts
}

/** Puts signed thoughts in the place of shown ones with the same text. Returns the others. */
function withoutShown(segment: Part[], foreign: readonly ReasoningPart[]): readonly ReasoningPart[] {
  const shown = new Map<string, number>()
  for (const [index, part] of segment.entries())
    if (part.kind === 'reasoning' && part.signature === null && !shown.has(part.text)) shown.set(part.text, index)
  return foreign.filter((part) => {
    const index = shown.get(part.text)
    if (index === undefined) return true
    shown.delete(part.text)
    segment[index] = part
    return false
  })
}
