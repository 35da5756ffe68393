import type { Comparison, Query } from '../config/strategy.schema.ts'
import { compilePattern } from '../patterns/pattern.ts'

/** The part of a request that conditions and sticky fields can see. */
export interface RouteFacts {
  readonly metadata: Readonly<Record<string, string>>
  /** The body's JSON; undefined when it is none. */
  readonly params: unknown
  /** Returns a header of the caller's by its lower-case name; our own credentials are never among them. */
  readonly header: (name: string) => string | undefined
  readonly url: { readonly pathname: string }
  readonly model: string | null
  /** Id of the API key. */
  readonly key: string
  /** Slug of the workspace. */
  readonly workspace: string | null
}

/** Judges a request. Throws when it cannot be judged, as when a pattern takes too long. */
export type Condition = (facts: RouteFacts) => boolean

type Fact = (facts: RouteFacts) => unknown

/** Compiles a checked query: once when its config is loaded. */
export function compileCondition(query: Query): Condition {
  const parts = Object.entries(query).flatMap(([name, value]): readonly Condition[] => {
    if (value === undefined) return []
    if (name === '$and') return [all((query.$and ?? []).map(compileCondition))]
    if (name === '$or') return [some((query.$or ?? []).map(compileCondition))]
    return [comparing(factAt(name), value)]
  })
  return all(parts)
}

const all =
  (parts: readonly Condition[]): Condition =>
  (facts) =>
    parts.every((part) => part(facts))

const some =
  (parts: readonly Condition[]): Condition =>
  (facts) =>
    parts.some((part) => part(facts))

/** Returns the reader of a place such as `metadata.plan`, `params.user`, `headers.x-team`, `url.pathname`, `model`, `key`, `workspace`. */
export function factAt(place: string): Fact {
  const dot = place.indexOf('.')
  const [kind, name] = dot < 0 ? [place, ''] : [place.slice(0, dot), place.slice(dot + 1)]
  if (kind === 'metadata') return ({ metadata }) => own(metadata, name)
  if (kind === 'params') return ({ params }) => own(params, name)
  if (kind === 'headers') return ({ header }) => header(name.toLowerCase())
  if (kind === 'model') return ({ model }) => model ?? undefined
  if (kind === 'key') return ({ key }) => key
  if (kind === 'workspace') return ({ workspace }) => workspace ?? undefined
  return ({ url }) => url.pathname
}

/** Returns an own member that is no object: conditions compare plain values. */
function own(of: unknown, name: string): unknown {
  if (typeof of !== 'object' || of === null) return undefined
  const value: unknown = Object.getOwnPropertyDescriptor(of, name)?.value
  return typeof value === 'object' && value !== null ? undefined : value
}

function comparing(fact: Fact, expected: unknown): Condition {
  if (!isComparison(expected)) return (facts) => same(fact(facts), expected)
  const tests = testsOf(expected)
  return (facts) => {
    const value = fact(facts)
    return tests.every((test) => test(value))
  }
}

const isComparison = (value: unknown): value is Comparison => typeof value === 'object' && value !== null

type Test = (value: unknown) => boolean

function testsOf({ $eq, $ne, $gt, $gte, $lt, $lte, $in: among, $nin: notAmong, $regex }: Comparison): readonly Test[] {
  const tests: (Test | false)[] = [
    $eq !== undefined && ((value) => same(value, $eq)),
    $ne !== undefined && ((value) => !same(value, $ne)),
    $gt !== undefined && ordered($gt, (sign) => sign > 0),
    $gte !== undefined && ordered($gte, (sign) => sign >= 0),
    $lt !== undefined && ordered($lt, (sign) => sign < 0),
    $lte !== undefined && ordered($lte, (sign) => sign <= 0),
    among !== undefined && ((value) => among.some((one) => same(value, one))),
    notAmong !== undefined && ((value) => !notAmong.some((one) => same(value, one))),
    $regex !== undefined && matching($regex),
  ]
  return tests.filter((test) => test !== false)
}

/** Returns true for equal scalars. Metadata and headers are texts: a number or a boolean equals its text there. An absent value equals null. */
function same(value: unknown, expected: unknown): boolean {
  if (value === undefined || value === null) return expected === null
  return value === expected || (typeof value === 'string' && isPlain(expected) && value === String(expected))
}

const isPlain = (value: unknown): value is number | boolean => typeof value === 'number' || typeof value === 'boolean'

/** Compares numbers as numbers, texts as texts, and a text with a number when it reads as one. Anything else has no order: false. */
function ordered(expected: string | number, holds: (sign: number) => boolean): Test {
  return (value) => {
    const sign = typeof expected === 'number' ? compareNumbers(value, expected) : compareTexts(value, expected)
    return !Number.isNaN(sign) && holds(sign)
  }
}

const compareNumbers = (value: unknown, expected: number): number =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) - expected : Number.NaN

const compareTexts = (value: unknown, expected: string): number =>
  typeof value !== 'string' ? Number.NaN : value === expected ? 0 : value > expected ? 1 : -1

function matching(source: string): Test {
  const pattern = compilePattern(source)
  return (value) => (typeof value === 'string' || isPlain(value)) && pattern.test(String(value))
}
