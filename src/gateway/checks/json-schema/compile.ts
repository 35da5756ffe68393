import { childOf } from '../../../lib/json-path.ts'
import { compilePattern, type Pattern, patternFault } from '../../pattern.ts'
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

/** What is wrong with a schema, as a sentence's end; null when it can be used. */
export function schemaFault(root: unknown): string | null {
  const waiting = [root]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const [name, child] of Object.entries(next)) {
      const fault = keywordFault(root, name, child)
      if (fault !== null) return fault
      if (typeof child === 'object' && child !== null) waiting.push(child)
    }
  }
  return null
}

function keywordFault(root: unknown, name: string, child: unknown): string | null {
  if (refused.has(name)) return `uses ${name}, which is not supported`
  if (name === '$ref' && typeof child === 'string' && target(root, child) === undefined) return `refers to ${child}, which is not in it`
  const patterns =
    name === 'pattern' ? [child] : name === 'patternProperties' && typeof child === 'object' && child !== null ? Object.keys(child) : []
  for (const pattern of patterns) {
    const fault = typeof pattern === 'string' ? patternFault(pattern) : null
    if (fault !== null) return `has a pattern that ${fault}`
  }
  return null
}

/** The part of a schema that `#/$defs/x` or `#anchor` names. */
function target(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return anchored(root, reference.slice(1))
  let found = root
  for (const step of reference.slice(2).split('/')) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    found = childOf(found, Array.isArray(found) ? Number(name) : name)
  }
  return found
}

function anchored(root: unknown, anchor: string): unknown {
  const waiting = [root]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (childOf(next, '$anchor') === anchor) return next
    waiting.push(...Object.values(next))
  }
  return undefined
}

/**
 * Makes a schema ready. Not a package: the common ones make code of schemas and run their patterns by backtracking, and schemas here
 * come from callers. The result gives what does not fit, and throws when a value asks for too much work.
 */
export function compileSchema(root: unknown): (value: unknown) => readonly SchemaFault[] {
  const patterns = new Map<string, Pattern>()
  const pattern = (source: string): Pattern => {
    const known = patterns.get(source) ?? compilePattern(source)
    patterns.set(source, known)
    return known
  }
  return (value) => {
    let steps = 0
    const validation: Validation = {
      pattern,
      resolve: (reference) => target(root, reference),
      check(schema, part, path) {
        steps += 1
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
