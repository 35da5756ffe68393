import { childOf } from '../../../lib/json-path.ts'
import { effort } from '../../effort.ts'
import { compilePattern, type Pattern, patternFault, patternSize } from '../../pattern.ts'
import { keywords } from './keywords.ts'

/** What does not fit, and where. */
export interface SchemaFault {
  /** JSON Pointer into the value. */
  readonly path: string
  readonly message: string
}

/** What a keyword needs of the validation that it is part of. */
export interface Validation {
  /** Validates a part of the value against a part of the schema. */
  readonly check: (schema: unknown, value: unknown, path: string) => readonly SchemaFault[]
  readonly pattern: (source: string) => Pattern
  /** The schema behind a reference. */
  readonly resolve: (reference: string) => unknown
}

/** Schemas that refer to themselves can ask for endless work; this much is done. */
const maxSteps = 200_000
const maxFaults = 100

/** Keywords whose work is more than it is worth here; a schema that needs them is refused, never half used. */
const refused = new Set(['$dynamicRef', '$recursiveRef', 'unevaluatedProperties', 'unevaluatedItems'])

/** All patterns of a schema together are at most so large, counted in instructions. */
const maxPatterns = 50_000

/** What is wrong with a schema, as a sentence's end; null when it can be used. */
export function schemaFault(root: unknown): string | null {
  const [references, patterns] = [new Set<string>(), new Set<string>()]
  const waiting = [root]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const [name, child] of Object.entries(next)) {
      if (refused.has(name)) return `uses ${name}, which is not supported`
      if (name === '$ref' && typeof child === 'string') references.add(child)
      for (const pattern of patternsOf(name, child)) patterns.add(pattern)
      if (typeof child === 'object' && child !== null) waiting.push(child)
    }
  }
  const resolve = resolver(root)
  const gone = [...references].find((reference) => resolve(reference) === undefined)
  return gone === undefined ? patternsFault([...patterns]) : `refers to ${gone}, which is not in it`
}

function patternsOf(name: string, child: unknown): readonly string[] {
  if (name === 'pattern') return typeof child === 'string' ? [child] : []
  return name === 'patternProperties' && typeof child === 'object' && child !== null ? Object.keys(child) : []
}

function patternsFault(patterns: readonly string[]): string | null {
  if (patterns.reduce((sum, pattern) => sum + patternSize(pattern), 0) > maxPatterns) return 'has patterns that are too large together'
  const fault = patterns.map(patternFault).find((found) => found !== null)
  return fault === undefined ? null : `has a pattern that ${fault}`
}

/** Finds the part of a schema that `#/$defs/x` or `#anchor` names. */
function resolver(root: unknown): (reference: string) => unknown {
  let anchors: ReadonlyMap<string, unknown> | null = null
  return (reference) => {
    if (!reference.startsWith('#')) return undefined
    if (reference === '#') return root
    if (reference.startsWith('#/')) return pointed(root, reference.slice(2))
    anchors ??= anchorsOf(root)
    return anchors.get(reference.slice(1))
  }
}

function pointed(root: unknown, pointer: string): unknown {
  let found = root
  for (const step of pointer.split('/')) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    found = childOf(found, Array.isArray(found) ? Number(name) : name)
  }
  return found
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

function anchorsOf(root: unknown): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>()
  const waiting = [root]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const anchor = childOf(next, '$anchor')
    if (typeof anchor === 'string' && !found.has(anchor)) found.set(anchor, next)
    waiting.push(...Object.values(next))
  }
  return found
}

/**
 * Makes a schema ready. Not a package: the common ones make code of schemas and run their patterns by backtracking, and schemas here
 * come from callers. The result gives what does not fit, and throws when a value asks for too much work; `spend` throws when it took long.
 */
export function compileSchema(root: unknown): (value: unknown, spend?: () => void) => readonly SchemaFault[] {
  const patterns = new Map<string, Pattern>()
  const pattern = (source: string): Pattern => {
    const known = patterns.get(source) ?? compilePattern(source)
    patterns.set(source, known)
    return known
  }
  const resolve = resolver(root)
  return (value, spend = effort(0)) => {
    let steps = 0
    const validation: Validation = {
      pattern(source) {
        spend()
        return pattern(source)
      },
      resolve,
      check(schema, part, path) {
        steps += 1
        spend()
        if (steps > maxSteps) throw new Error('The schema asks for too much work on this value.')
        if (typeof schema === 'boolean') return schema ? [] : [{ path, message: 'is not allowed' }]
        if (typeof schema !== 'object' || schema === null) return []
        const faults: SchemaFault[] = []
        for (const [name, rule] of Object.entries(schema)) {
          const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined
          if (keyword === undefined) continue
          for (const fault of keyword({ rule, schema, value: part, path }, validation)) if (faults.length < maxFaults) faults.push(fault)
        }
        return faults
      },
    }
    return validation.check(root, value, '')
  }
}
