import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { camelCased } from './signature.ts'

const counts: ReadonlySet<string> = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])
const left: ReadonlySet<string> = new Set(['nullable', 'propertyOrdering'])

/** Returns one of Google's schemas as JSON Schema: types in small letters, `nullable` as a type, counts as numbers. */
export function jsonSchemaOf(given: Fields): Fields {
  const schema = camelCased(given)
  const written: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema)) {
    if (value === null || left.has(name) || (name === 'format' && value === 'enum')) continue
    const write = Object.hasOwn(writers, name) ? writers[name] : undefined
    if (name === 'example') written['examples'] = [value]
    else if (name === 'type') written['type'] = typeOf(value, schema['nullable'] === true)
    else if (write !== undefined) written[name] = write(value)
    else written[name] = counts.has(name) && typeof value === 'string' ? Number(value) : value
  }
  return written
}

const nested = (value: unknown): unknown => (isFields(value) ? jsonSchemaOf(value) : value)

const each = (properties: Fields): Fields => Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, nested(value)]))

const writers: Readonly<Record<string, (value: unknown) => unknown>> = {
  properties: (value) => (isFields(value) ? each(value) : value),
  items: (value) => nested(value),
  anyOf: (value) => (Array.isArray(value) ? value.map((one) => nested(one)) : value),
}

function typeOf(type: unknown, nullable: boolean): unknown {
  if (typeof type !== 'string') return type
  const plain = type.toLowerCase()
  return nullable ? [plain, 'null'] : plain
}
