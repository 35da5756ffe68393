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

/** The longest name that is compared, and the most names that it is compared with: callers choose both. */
const longestName = 60
const mostNames = 1000

/** Returns the name that a misspelt one probably means; null when none is near, or when it is too short to tell. */
export function nearestName(name: string, names: readonly string[]): string | null {
  const near = name.length < 4 || name.length > longestName ? null : nearest(name, names.slice(0, mostNames))
  return near === name ? null : near
}

/**
 * Returns the path that a misspelt one probably means, with the parameters (`:id`, `{id}`) as they were asked; null when none is near.
 * A word of it may be as wrong as half of its letters.
 */
export function nearestPath(path: string, paths: readonly string[]): string | null {
  const asked = path.split('/')
  let best: string | null = null
  let fewest = mostEdits + 1
  for (const candidate of paths) {
    const words = candidate.split('/')
    if (words.length !== asked.length) continue
    const edits = words.reduce((sum, word, place) => sum + editsOf(asked[place] ?? '', word), 0)
    if (edits > 0 && edits < fewest)
      [best, fewest] = [words.map((word, place) => (isParameter(word) ? asked[place] : word)).join('/'), edits]
  }
  return best
}

const isParameter = (word: string): boolean => word.startsWith(':') || word.startsWith('{')

function editsOf(asked: string, word: string): number {
  if (isParameter(word) || asked === word) return 0
  const edits = editDistance(asked, word)
  return edits * 2 < word.length ? edits : Number.POSITIVE_INFINITY
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
    if (Math.min(...previous) > mostEdits && Math.min(...current) > mostEdits) return Number.POSITIVE_INFINITY
    before = previous
    previous = current
  }
  return at(previous, right.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
