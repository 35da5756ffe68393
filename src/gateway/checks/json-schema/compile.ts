import { createCpuBudget } from '../../patterns/cpu-budget.ts'
import { compilePattern } from '../../patterns/pattern.ts'
import type { SchemaFault, Validation } from './keyword.ts'
import { keywords } from './keywords.ts'
import { createResolver } from './resolver.ts'
import { patternsIn } from './schema-fault.ts'

/** Schemas that refer to themselves can ask for endless work; this much is done. */
const maxSteps = 200_000
const maxFaults = 100

/**
 * Makes a schema ready. Not a package: the common ones make code of schemas and run their patterns by backtracking, and schemas here come from
 * callers. The result returns the faults, and throws when a value asks for too much work; `spend` throws when it took long.
 */
export function compileSchema(root: unknown): (value: unknown, spend?: () => void) => readonly SchemaFault[] {
  const patterns = new Map([...patternsIn(root)].map((source) => [source, compilePattern(source)] as const))
  const resolve = createResolver(root)
  return (value, spend = createCpuBudget(0)) => {
    let steps = 0
    const validation: Validation = {
      pattern(source) {
        spend()
        return patterns.get(source) ?? compilePattern(source)
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
