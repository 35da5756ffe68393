import { type Fields, isFields } from '../../lib/json/fields.ts'

/** The schema of an answer for providers whose answers are objects alone. */
export interface ObjectAnswer {
  readonly schema: Fields
  /** True if the answer stands below `value`. */
  readonly isWrapped: boolean
}

const unions = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'] as const

const isObject = (schema: Fields): boolean =>
  (schema['type'] === 'object' || (schema['type'] === undefined && isFields(schema['properties']))) &&
  unions.every((name) => schema[name] === undefined)

/** Returns a schema whose top is an object: another one stands in a field of it. One that refers to its own top stays, since it would mean the object. */
export function objectAnswer(schema: Fields): ObjectAnswer {
  if (isObject(schema) || Object.keys(schema).length === 0 || JSON.stringify(schema).includes('"$ref":"#"'))
    return { schema, isWrapped: false }
  const { $schema: _version, $defs, definitions, ...value } = schema
  return {
    schema: {
      type: 'object',
      properties: { value },
      required: ['value'],
      additionalProperties: false,
      ...($defs !== undefined && { $defs }),
      ...(definitions !== undefined && { definitions }),
    },
    isWrapped: true,
  }
}
