import { ApiError } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import { createTurns } from '../../lib/shares/turns.ts'
import { type Engine, engineOf, knownEngine, tooLarge } from './pattern-engines.ts'
import { patternWork } from './pattern-size.ts'

/** The owner of patterns, and their rules. */
export interface PatternContext {
  /** Owners take turns. */
  readonly owner: string
  /** True when they are stored already, and were accepted then: then no bound is asked for again. */
  readonly stored?: boolean
  /** True when they go with the request that brings them, because they are new. */
  readonly passing?: boolean
}

/** The result, and about how many bytes its patterns take. */
export interface SizedResult<T> {
  readonly result: T
  readonly bytes: number
}

/** One pattern asks for so much work at most, and all of one config or guardrail together. */
const mostWork = 4000
const mostWorkTogether = 20_000
/** So little is done at once. */
const littleWork = 500

/** The engines of one run, or their faults, by source: held until all is ready. */
type Engines = Map<string, Engine | Error>

interface Pass {
  readonly making: PatternContext
  readonly engines: Engines
  readonly missing: Set<string>
  readonly used: Set<Engine>
  work: number
  doneAtOnce: number
  faulty: boolean
  /** The fault of all further patterns, when those before it asked for too much; null: there is none. */
  full: Error | null
}

/** The pass that runs just now, which has no waiting in it. */
let pass: Pass | null = null

const inTurn = createTurns({
  most: 1,
  mostOfOne: 1,
  mostWaiting: 100,
  tooMany: () =>
    new ApiError('rate_limited', 'Too many configs with new patterns wait to be made ready. Store them, or send fewer at a time.'),
})

interface Attempt<T> {
  readonly making: PatternContext
  readonly engines: Engines
  readonly run: () => T
}

/**
 * Runs a function that checks patterns and makes them ready. New patterns are made in turns, one after the other for the whole process, so that no
 * other work waits for them; then it runs again. The result is there at once when little or none is to be made.
 */
export function withPatterns<T>(making: PatternContext, run: () => T): MaybePromise<SizedResult<T>> {
  const attempt = { making, engines: new Map<string, Engine | Error>(), run }
  const first = tryRun(attempt)
  if ('result' in first) return first
  const { owner, stored = false } = making
  // The number of stored patterns is bounded where they are read.
  return stored
    ? inTurn(`stored ${owner}`, () => makeMissing(attempt, first.missing), { mostWaiting: Infinity })
    : inTurn(owner, () => makeMissing(attempt, first.missing))
}

async function makeMissing<T>(attempt: Attempt<T>, missing: Iterable<string>): Promise<SizedResult<T>> {
  for (const source of missing) {
    await longTurns.take(attempt.making.owner)
    attempt.engines.set(source, made(source, attempt.making))
  }
  const next = tryRun(attempt)
  return 'result' in next ? next : makeMissing(attempt, next.missing)
}

const unmade = Symbol('a pattern is not made yet')

function tryRun<T>({ making, engines, run }: Attempt<T>): SizedResult<T> | { readonly missing: ReadonlySet<string> } {
  const outer = pass
  const own: Pass = { making, engines, missing: new Set(), used: new Set(), work: 0, doneAtOnce: 0, faulty: false, full: null }
  pass = own
  try {
    const result = run()
    if (own.missing.size > 0 && !own.faulty) return own
    return { result, bytes: [...own.used].reduce((sum, { bytes }) => sum + bytes, 0) }
  } catch (error) {
    if (error !== unmade) throw error
    return own
  } finally {
    pass = outer
  }
}

/** Returns the fault of a pattern, as a sentence's end; null when it can be used, as far as it is known yet. */
export const patternFault = (source: string): string | null => patternFaultAt(source, () => null)

/** The same for a pattern at a place that has a rule of its own. No further pattern is looked at when those before it asked for too much. */
export function patternFaultAt(source: string, ownFault: (source: string) => string | null): string | null {
  const full = pass?.full ?? null
  if (full !== null) return full.message
  const own = ownFault(source)
  if (own !== null) return own
  const found = pass === null ? made(source, {}) : inPass(pass, source)
  return found instanceof Error ? found.message : null
}

/** The engine of a pattern that was found to be good. */
export function useEngine(source: string): Engine {
  if (pass === null) return engineOf(source)
  const found = inPass(pass, source)
  if (found instanceof Error) throw found
  // oxlint-disable-next-line typescript/only-throw-error -- no fault: it is caught by the pass, which begins again when it is made
  if (found === null) throw unmade
  pass.used.add(found)
  return found
}

/** Null: it has to be made first. */
function inPass(own: Pass, source: string): Engine | Error | null {
  const found = own.full ?? own.engines.get(source) ?? (own.missing.has(source) ? null : looked(own, source))
  if (found instanceof Error) own.faulty = true
  return found
}

function looked(own: Pass, source: string): Engine | Error | null {
  const found = (own.making.stored === true ? null : workFault(own, source)) ?? knownEngine(source) ?? atOnce(own, source)
  if (found === null) own.missing.add(source)
  else own.engines.set(source, found)
  return found
}

function workFault(own: Pass, source: string): Error | null {
  const work = patternWork(source)
  if (work > mostWork) return tooLarge()
  own.work += work
  if (own.work > mostWorkTogether) own.full = new Error('is one too many: all patterns together would be too large')
  return own.full
}

function atOnce(own: Pass, source: string): Engine | Error | null {
  own.doneAtOnce += patternWork(source)
  return own.doneAtOnce <= littleWork ? made(source, own.making) : null
}

function made(source: string, { passing = false }: Partial<PatternContext>): Engine | Error {
  try {
    return engineOf(source, !passing)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
