import type { Part, ReasoningPart, TextPart } from './parts.ts'

/**
 * Returns parts with reasoning in its place: behind so many characters of their text. Formats that keep it apart from the text state its place, since
 * a vendor that signed it wants the order of its model's output. `reasoning` is in the order of the thoughts.
 */
export function withReasoning(parts: readonly Part[], reasoning: readonly ReasoningPart[]): readonly Part[] {
  if (reasoning.length === 0) return parts
  const placed: Part[] = []
  let [next, seen] = [0, 0]
  const placeDue = (): void => {
    for (let due = reasoning[next]; due !== undefined && (due.after ?? 0) <= seen; due = reasoning[next]) {
      placed.push(due)
      next += 1
    }
  }
  const placeText = (part: TextPart): void => {
    const [begin, end] = [seen, seen + part.text.length]
    let from = 0
    for (let due = reasoning[next]; due !== undefined && (due.after ?? 0) < end; due = reasoning[next]) {
      seen = due.after ?? 0
      placed.push({ ...part, text: part.text.slice(from, seen - begin), cache: null })
      from = seen - begin
      placeDue()
    }
    placed.push(from === 0 ? part : { ...part, text: part.text.slice(from) })
    seen = end
  }
  for (const part of parts) {
    if (part.kind !== 'reasoning') placeDue()
    if (part.kind === 'text') placeText(part)
    else placed.push(part)
  }
  for (const left of reasoning.slice(next)) placed.push(left)
  return placed
}
