import { used } from '../../console/src/api/used.ts'
import { openapiDocument } from '../../src/app/openapi/openapi.ts'
import { features } from '../../src/features/index.ts'

/** The parts of a JSON Schema that the API description uses. */
interface Schema {
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly type?: string | readonly string[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly required?: boolean; readonly schema?: Schema }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A level with all features: the sources of an earlier release have the console of these. */
const newest = '999.0.0'

/** Returns the types of the operations that the console uses, and of the shapes that they name. */
export function consoleTypes(): string {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the document is ours, and has this form
  const { paths, components } = openapiDocument(features, { version: newest, publicUrl: null }) as unknown as Description
  const operations = used.map((name) => `  ${JSON.stringify(name)}: ${operationOf(paths, name)}`)
  const named = new Set<string>()
  const shapes = shapesIn(operations.join('\n'), components.schemas, named)
  return [
    '// Written by "npm run docs:generate" from the API description. Do not edit.',
    '',
    ...shapes.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([name, text]) => `export type ${name} = ${text}\n`),
    '/** The operations that the console uses. */',
    'export interface Operations {',
    ...operations.map((operation) => operation.replaceAll(marked, '$1')),
    '}',
    '',
  ].join('\n')
}

/** A name of a shape in a text that is not done. */
const marked = /⟨(\w+)⟩/g

function shapesIn(text: string, schemas: Description['components']['schemas'], named: Set<string>): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = []
  for (const [, name = ''] of text.matchAll(marked)) {
    const schema = schemas[name]
    if (named.has(name) || schema === undefined) continue
    named.add(name)
    const shape = typeOf(schema)
    found.push([name, shape.replaceAll(marked, '$1')], ...shapesIn(shape, schemas, named))
  }
  return found
}

function operationOf(paths: Description['paths'], name: string): string {
  const [method = '', path = ''] = name.split(' ')
  const operation = paths[path]?.[method.toLowerCase()]
  if (operation === undefined) throw new Error(`console/src/api/used.ts names ${name}, which the API has not`)
  const parts = {
    path: fieldsOf(operation, 'path'),
    query: fieldsOf(operation, 'query'),
    body: contentType(operation.requestBody) ?? 'undefined',
    answer: contentType(Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1]) ?? 'unknown',
  }
  return `{ ${Object.entries(parts)
    .map(([part, type]) => `${part}: ${type}`)
    .join('; ')} }`
}

function fieldsOf({ parameters = [] }: Operation, place: string): string {
  const fields = parameters.filter((parameter) => parameter.in === place)
  if (fields.length === 0) return 'Record<never, never>'
  const required = fields.filter((field) => field.required === true).map((field) => field.name)
  return typeOf({ properties: Object.fromEntries(fields.map((field) => [field.name, field.schema ?? {}])), required, type: 'object' })
}

const contentType = (part: Content | undefined): string | null => {
  const [schema] = Object.values(part?.content ?? {}).flatMap((content) => (content.schema === undefined ? [] : [content.schema]))
  return schema === undefined ? null : typeOf(schema)
}

/** Returns the TypeScript type of a schema; names of shapes are marked. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return `⟨${schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)}⟩`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ')
  if (typeof schema.type === 'object') return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  if (schema.type === 'object') return objectType(schema)
  if (schema.type === 'array') return `readonly (${typeOf(schema.items ?? {})})[]`
  return plainTypes[schema.type ?? ''] ?? 'unknown'
}

const plainTypes: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
    return `Readonly<Record<string, ${values}>>`
  }
  const fields = Object.entries(properties).map(
    ([name, schema]) => `readonly ${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${fields.join('; ')} }`
}
