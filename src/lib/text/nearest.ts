const mostEdits = 2

/** Returns the candidate that a misspelt word is probably meant to be, at most two edits away; null when none is that near. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  let best: string | null = null
  let fewest = mostEdits + 1
  for (const candidate of candidates) {
    const edits = editDistance(word, candidate)
    if (edits < fewest) [best, fewest] = [candidate, edits]
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other; given up above the limit. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > mostEdits) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const replaced = at(previous, column - 1) + (left[row - 1] === right[column - 1] ? 0 : 1)
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1] ? at(before, column - 2) + 1 : replaced
      current.push(Math.min(at(previous, column) + 1, at(current, column - 1) + 1, replaced, swapped))
    }
    before = previous
    previous = current
  }
  return at(previous, right.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
