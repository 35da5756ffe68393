import type { z } from 'zod'
import { ApiError } from '../../../lib/errors.ts'
import { atLevel, type ShownLevel } from '../../../release/at-level.ts'
import { parseGiven } from '../../../lib/json/parse-given.ts'
import { joinFaults, type SchemaFault, schemaFaults, valueAtPath } from '../../../lib/json/schema-faults.ts'
import { scrubValue } from '../../../lib/text/secret-shapes.ts'
import { type Place, placeWithin, withoutSecrets } from '../../audit/mask.ts'

/** The source of a value, and the level whose fields it may have. */
interface InputSource {
  readonly place: 'path' | 'query' | 'body'
  readonly level: string | ShownLevel
}

/** Returns the parsed value. Throws AB01 with every wrong field, its bound, and its value; `issues` lists them too. */
export function parseInput<T>(schema: z.ZodType<T> | undefined, value: unknown, { place, level }: InputSource): T | undefined {
  if (schema === undefined) return undefined
  const known = atLevel(schema, level, 'request')
  const parsed = parseGiven(known, value)
  if (parsed.success) return parsed.data
  const faults = schemaFaults(parsed.error, { value, whole: 'body', schema: known }).map((fault) => {
    const { param, code, message } = fault
    return { param, code, message: message + got(value, fault, schema) }
  })
  throw new ApiError('AB01', `The ${place} is not valid: ${joinFaults(faults.map(({ param, message }) => `\`${param}\`: ${message}`))}.`, {
    param: faults[0]?.param ?? place,
    details: { issues: faults },
    cause: parsed.error,
  })
}

/** A body without the fields that repeat parts of the path, as some clients send them: `workspace_id` for `:workspaceId`. */
export function withoutRepeated(body: unknown, params: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const repeats = new Map(
    Object.entries(Object(params)).flatMap(([name, value]) => [name, toSnakeCase(name)].map((field) => [field, value])),
  )
  const fields = Object.entries(body)
  const kept = fields.filter(([field, value]) => !repeats.has(field) || repeats.get(field) !== value)
  return kept.length === fields.length ? body : Object.fromEntries(kept)
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The part of a wrong value that is looked at: the value may be megabytes long. */
const longestValue = 2000

/** Returns the refused value in brackets and cut short; empty if the field may hold a secret, or is unknown. */
function got(root: unknown, { path, code }: SchemaFault, schema: z.ZodType): string {
  if (code === 'unknown_field') return ''
  const place = placeOf(root, path, schema)
  if (place.secret) return ''
  const value = valueAtPath(root, path)
  if (value === undefined) return ' (missing)'
  if (holdsMany(value)) return ` (got ${Array.isArray(value) ? `a list of ${value.length}` : 'an object of many fields'})`
  const shown = JSON.stringify(withoutSecrets(value, () => '[secret]', place)) ?? typeof value
  const text = scrubValue(shown.slice(0, longestValue))
  return ` (got ${text.length > 100 ? `${text.slice(0, 100)}…` : text})`
}

/** A value of more parts is not shown: to look for secrets in all of it takes seconds. */
const mostParts = 1000

function holdsMany(value: unknown): boolean {
  const waiting = [value]
  let parts = 0
  for (let next = waiting.pop(); next !== undefined && parts <= mostParts; next = waiting.pop()) {
    parts += 1
    if (typeof next !== 'object' || next === null) continue
    for (const name in next) {
      if (waiting.length > mostParts) return true
      waiting.push(valueAtPath(next, [name]))
    }
  }
  return parts > mostParts
}

/** Returns the place of a value, by the schemas and the names of all that is above it. */
function placeOf(root: unknown, path: readonly PropertyKey[], schema: z.ZodType): Place {
  let place: Place = { secret: false, forms: [schema] }
  for (const [at, member] of path.entries())
    if (typeof member !== 'symbol') place = placeWithin(place, valueAtPath(root, path.slice(0, at)), member)
  return place
}
