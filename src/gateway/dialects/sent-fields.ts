import { type Fields, isFields } from '../../lib/json/fields.ts'

/** The holder of fields for single formats, which take the place of translated ones. */
export const optionsField = 'provider_options'

/** Objects whose fields stand beside those of the request, or in their place, once a provider reads it. */
const holders = ['extra_body', 'parameters', 'additionalModelRequestFields', 'chatRequest'] as const
/** Objects of such objects, by the name of a format or a provider. */
const groups = [optionsField, 'providerOptions', 'extra_body'] as const
/** A holder may stand among the fields for a format. */
const deepest = 3

/** Each limit, list of models and policy asks for the fields of the same request. */
const known = new WeakMap<Fields, readonly Fields[]>()

/** Returns the request and all objects whose fields a provider may read as those of the request. */
export function sentFields(json: Fields): readonly Fields[] {
  const told = known.get(json)
  if (told !== undefined) return told
  const found = [json]
  addHeld(json, found, 1)
  known.set(json, found)
  return found
}

/** Returns the values that a field has in a request, wherever a provider may read it. */
export function sentValues(json: Fields, name: string): readonly unknown[] {
  const values: unknown[] = []
  for (const fields of sentFields(json)) if ((fields[name] ?? null) !== null) values.push(fields[name])
  return values
}

function addHeld(fields: Fields, found: Fields[], depth: number): void {
  for (const name of holders) add(fields[name], found, depth)
  for (const name of groups) {
    const group = fields[name]
    if (isFields(group)) for (const inner in group) add(group[inner], found, depth)
  }
}

function add(held: unknown, found: Fields[], depth: number): void {
  if (!isFields(held)) return
  found.push(held)
  if (depth < deepest) addHeld(held, found, depth + 1)
}
