import type { ModelFacts } from '../../gateway/ports/prices.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'

const limitNames = ['context', 'input', 'output'] as const
const textNames = ['in', 'out', 'can'] as const

/** Returns the facts of a model in a list; a fact of the wrong form is left out. */
export function factsOf(model: Fields): ModelFacts {
  const { kind, limits } = model
  const lists = textNames.flatMap((name) => (isTexts(model[name]) ? [[name, model[name]]] : []))
  const facts: ModelFacts = { ...(typeof kind === 'string' && { kind }), ...Object.fromEntries(lists) }
  return isFields(limits) ? { ...facts, limits: limitsOf(limits) } : facts
}

const limitsOf = (limits: Fields): NonNullable<ModelFacts['limits']> =>
  Object.fromEntries(limitNames.flatMap((name) => (Number.isSafeInteger(limits[name]) ? [[name, limits[name]]] : [])))

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((text) => typeof text === 'string')

/** Returns each fact from the first list that has it; null: no list has any. */
export function firstFacts(lists: readonly ModelFacts[]): ModelFacts | null {
  const facts: ModelFacts = Object.assign({}, ...lists.toReversed())
  return Object.keys(facts).length === 0 ? null : facts
}
