import { createCpuBudget, type CpuBounds } from './cpu-budget.ts'
import { within } from './pattern-clock.ts'
import { type Engine, noteUse } from './pattern-engines.ts'
import type { PatternReach } from './pattern-reach.ts'
import { useEngine } from './pattern-making.ts'

/** A regular expression of a caller's own. It takes time linear in the text, for any pattern. */
export interface Pattern {
  test(text: string): boolean
  /**
   * The parts of each text that match, in order. Throws when all together are too many, or take too long to find: each search is linear,
   * thousands need not be.
   */
  matches(texts: readonly string[]): readonly (readonly Match[])[]
  /** How long a match can be when it first shows. */
  reach(): PatternReach
}

export interface Match {
  readonly start: number
  readonly end: number
}

/** More matches than anyone writes. */
const maxMatches = 10_000
/** The bounds of a search. One that takes longer looks at the same characters again and again, or is in a thousand places at once: linear is still a minute. */
const search: CpuBounds = { microsPerCharacter: 0.1, leastMs: 25 }
const searches: CpuBounds = { microsPerCharacter: 0.5, leastMs: 50 }

/** Compiles a pattern in RE2 syntax; `/pattern/flags` is understood too. Throws an Error with the fault. */
export function compilePattern(source: string): Pattern {
  const engine = useEngine(source)
  return {
    test: (text) => using(engine, () => tests(engine, text)),
    reach: () => engine.reach,
    matches: (texts) => using(engine, () => matchesIn(engine, texts)),
  }
}

function using<T>(engine: Engine, look: () => T): T {
  try {
    return look()
  } finally {
    noteUse(engine)
  }
}

const tests = ({ compiled }: Engine, text: string): boolean => within(createCpuBudget(text.length, search), () => compiled.test(text))

function matchesIn(engine: Engine, texts: readonly string[]): readonly (readonly Match[])[] {
  const spend = createCpuBudget(
    texts.reduce((sum, { length }) => sum + length, 0),
    searches,
  )
  let count = 0
  return texts.map((text) => {
    // Finding where it matches costs a hundred times as much as finding whether it does.
    if (!tests(engine, text)) return []
    const matcher = engine.compiled.matcher(text)
    const found: Match[] = []
    while (within(spend, () => matcher.find())) {
      found.push({ start: matcher.start(), end: matcher.end() })
      count += 1
      if (count > maxMatches) throw new Error(`The pattern matches more than ${maxMatches} times.`)
      spend()
    }
    return found
  })
}
