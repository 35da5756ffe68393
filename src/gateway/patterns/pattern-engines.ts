import { RE2JS } from 're2js'
import { isFields } from '../../lib/json/fields.ts'
import { type PatternReach, patternReach } from './pattern-reach.ts'
import { patternSize } from './pattern-size.ts'

/** A compiled pattern. All users of the same source share one. */
export interface Engine {
  readonly source: string
  readonly compiled: RE2JS
  /** How long a match can be when it first shows. */
  readonly reach: PatternReach
  /** About its own memory, without the states that it has learned from texts. */
  readonly bytes: number
  /** True when it is shared and kept: it belongs to a stored row, or was seen before. */
  readonly lasting: boolean
  /** The weight of the states that it has learned from texts. Written here alone. */
  learned: number
  /** True when it is among those that were used lately. Written here alone. */
  recent: boolean
}

/** The longest pattern, in characters. */
export const longestPattern = 1024
/** Counted repeats multiply; beyond this many instructions a pattern is refused. */
const largestProgram = 10_000

/** The engines that are in use: by a config, a guardrail, or the list of recently used ones. */
const held = new Map<string, WeakRef<Engine>>()
const gone = new FinalizationRegistry<string>((source) => {
  if (held.get(source)?.deref() === undefined) held.delete(source)
})

/** Recently used engines are held, with their learned states, up to so many bytes; the others forget them. */
const maxRecentBytes = 8 * 1024 * 1024
/** The most that a pattern may learn that goes with its request. */
const mostOfPassing = 64 * 1024
const recent = new Set<Engine>()
let recentBytes = 0

/** The engine of a pattern that is there already; null when it has to be made. */
export const knownEngine = (source: string): Engine | null => held.get(source)?.deref() ?? null

/** The engine of a pattern in RE2 syntax; `/pattern/flags` is understood too. Throws an Error with the fault. */
export function engineOf(source: string, lasting = true): Engine {
  const known = knownEngine(source)
  if (known !== null) return known
  const compiled = compile(source)
  const engine: Engine = {
    source,
    lasting,
    compiled,
    reach: patternReach(compiled.re2Input.prog),
    bytes: bytesOf(compiled),
    learned: 0,
    recent: false,
  }
  if (!lasting) return engine
  held.set(source, new WeakRef(engine))
  gone.register(engine, source)
  keep(engine)
  return engine
}

/** To be called after each use: the states that an engine learns from texts count, and are dropped when all together have learned too much. */
export function noteUse(engine: Engine): void {
  const { lazyDFA: states }: { readonly lazyDFA: States | null } = engine.compiled.re2Input
  const learned = states === null ? 0 : states.stateBudget - states.memBudget
  if (engine.recent && learned === engine.learned) return
  if (!engine.lasting) return learned > mostOfPassing ? forget(engine) : undefined
  drop(engine)
  engine.learned = learned
  keep(engine)
}

/** The engine's own account of its memory. */
interface States {
  readonly stateBudget: number
  readonly memBudget: number
  clearCache(): void
}

function keep(engine: Engine): void {
  engine.recent = true
  recent.add(engine)
  recentBytes += engine.bytes + engine.learned
  for (const oldest of recent) {
    if (recentBytes <= maxRecentBytes || recent.size === 1) return
    drop(oldest)
    forget(oldest)
  }
}

function drop(engine: Engine): void {
  if (!recent.delete(engine)) return
  engine.recent = false
  recentBytes -= engine.bytes + engine.learned
}

function forget(engine: Engine): void {
  const { lazyDFA: states }: { readonly lazyDFA: States | null } = engine.compiled.re2Input
  states?.clearCache()
  engine.compiled.reset()
  engine.learned = 0
}

const perInstruction = 400
const perRange = 12

/** By the instructions and the ranges of characters in them, which repeats share. */
function bytesOf({ re2Input }: RE2JS): number {
  const program: unknown = re2Input.prog
  const instructions: readonly unknown[] = isFields(program) && Array.isArray(program['inst']) ? program['inst'] : []
  const ranges = new Set(instructions.map((one) => (isFields(one) ? one['runes'] : null)))
  let sum = instructions.length * perInstruction
  for (const runes of ranges) if (Array.isArray(runes) || runes instanceof Int32Array) sum += runes.length * perRange
  return sum
}

const flags: Readonly<Record<string, number>> = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL }
const delimited = /^\/(.*)\/([a-z]*)$/s

function compile(source: string): RE2JS {
  if (source.length > longestPattern) throw new Error(`is longer than ${longestPattern} characters`)
  const [, inner, letters = ''] = delimited.exec(source) ?? [null, source, '']
  let flag = 0
  for (const letter of letters) {
    if (letter === 'g' || letter === 'u') continue
    const known = Object.hasOwn(flags, letter) ? flags[letter] : undefined
    if (known === undefined) throw new Error(`has the flag ${letter}, which is not supported`)
    flag |= known
  }
  if (patternSize(inner ?? '') > 2 * largestProgram) throw tooLarge()
  const compiled = translated(() => RE2JS.compile(inner ?? '', flag))
  if (compiled.programSize() > largestProgram) throw tooLarge()
  return compiled
}

export const tooLarge = () => new Error('repeats too much: it would be too large')

/** The engine's own words, without its prefix. */
function translated(make: () => RE2JS): RE2JS {
  try {
    return make()
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error)
    throw new Error(`cannot be used: ${said}`, { cause: error })
  }
}
