import { type Fields, isFields } from '../../lib/json/fields.ts'

/** The reach of a pattern's matches in a growing text. */
export interface PatternReach {
  /** How long a match can be when it first shows, in UTF-16 units; Infinity when there is no bound, or none that is known. */
  readonly longest: number
  /** True when it depends on the text after it, or on its end, whether it matches there. */
  readonly readsEnd: boolean
}

const unbounded: PatternReach = { longest: Infinity, readsEnd: true }

/** An instruction of a compiled program. */
interface Instruction {
  /** How many units it reads at most. */
  readonly reads: number
  readonly next: readonly number[]
  /** True when any next character continues it. */
  readonly free: boolean
  readonly matches: boolean
  readonly readsEnd: boolean
}

/**
 * The longest way through a compiled program to its first match. Every match is such a way, in any syntax of the pattern; a circle has no longest
 * way. An unknown instruction counts as unbounded.
 */
export function patternReach(program: unknown): PatternReach {
  if (!isFields(program) || !Array.isArray(program['inst']) || typeof program['start'] !== 'number') return unbounded
  const known = program['inst'].map((given: unknown) => (isFields(given) ? instruction(given) : null))
  return longestWay(known, program['start'])
}

function longestWay(known: readonly (Instruction | null)[], start: number): PatternReach {
  const matched = matchedAt(known)
  const longest = new Map<number, number>()
  const open = new Set<number>()
  const stack = [start]
  let readsEnd = false
  for (let at = start; stack.length > 0; at = stack.at(-1) ?? start) {
    const found = known[at]
    if (found === undefined || found === null) return unbounded
    const next = matched.has(at) ? [] : found.next
    const left = next.filter((step) => !longest.has(step))
    if (left.length > 0) {
      open.add(at)
      if (left.some((step) => open.has(step))) return unbounded
      stack.push(...left)
    } else {
      stack.pop()
      open.delete(at)
      longest.set(at, (matched.has(at) ? 0 : found.reads) + Math.max(0, ...next.map((step) => longest.get(step) ?? 0)))
      readsEnd ||= found.readsEnd
    }
  }
  return { longest: longest.get(start) ?? Infinity, readsEnd }
}

/** Returns where the program has matched already, with any continuation: a text in which it gets there fails, however it goes on. */
function matchedAt(known: readonly (Instruction | null)[]): ReadonlySet<number> {
  const before = new Map<number, number[]>()
  for (const [at, found] of known.entries())
    for (const next of found?.free === true ? found.next : []) before.set(next, [...(before.get(next) ?? []), at])
  const stack = known.flatMap((found, at) => (found?.matches === true ? [at] : []))
  const matched = new Set<number>()
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (matched.has(at)) continue
    matched.add(at)
    stack.push(...(before.get(at) ?? []))
  }
  return matched
}

interface Kind {
  readonly next?: readonly ('out' | 'arg')[]
  readonly reads?: (given: Fields) => number
  readonly matches?: boolean
  readonly readsEnd?: (given: Fields) => boolean
}

/** Ends of lines and texts, and bounds of words. */
const endConditions = 2 | 8 | 16 | 32
const either: Kind = { next: ['out', 'arg'] }
const on: Kind = { next: ['out'] }
const any: Kind = { next: ['out'], reads: () => 2 }
const runes: Kind = { next: ['out'], reads: unitsOf }

/** The instructions of the engine by their numbers. There are more, which look behind. */
const kinds: Readonly<Record<number, Kind>> = {
  1: either,
  2: either,
  3: on,
  4: { next: ['out'], reads: () => 0, readsEnd: ({ arg }) => (Number(arg) & endConditions) !== 0 },
  5: {},
  6: { matches: true },
  7: on,
  8: runes,
  9: runes,
  10: any,
  11: any,
}

function instruction(given: Fields): Instruction | null {
  const kind = kinds[Number(given['op'])]
  if (kind === undefined) return null
  const { next = [], reads, matches = false, readsEnd = () => false } = kind
  return {
    reads: reads?.(given) ?? 0,
    next: next.map((name) => Number(given[name])),
    free: reads === undefined,
    matches,
    readsEnd: readsEnd(given),
  }
}

const foldsCase = 1

/** One unit for characters that are certainly in the first plane. */
function unitsOf({ runes: ranges, arg }: Fields): number {
  const all = ranges instanceof Int32Array ? [...ranges] : ranges
  const highest = (Number(arg) & foldsCase) === 0 ? 0xffff : 0x7f
  return Array.isArray(all) && all.length > 0 && all.every((rune) => Number(rune) <= highest) ? 1 : 2
}
