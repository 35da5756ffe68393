import test from 'ava'
import { openapiDocument } from '../../src/app/openapi/openapi.ts'
import { readOwnTable } from '../../src/app/level/release-records.ts'
import { features } from '../../src/features/index.ts'
import { fixedLevel } from '../../src/release/level.ts'
import { type Part, promised, promisedSince } from '../support/described-fields.ts'

type Json = Readonly<Record<string, unknown>>

const json = (value: unknown): Json => Object.fromEntries(Object.entries(Object(value)))
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(json) : [])

const parts: readonly Part[] = ['path', 'query', 'header', 'body', 'answer']

interface Promise {
  readonly steps: readonly { readonly name: string; readonly required: boolean }[]
  readonly type: string
  readonly values: readonly string[]
}

/** Reads a line such as `data[]!.status! string = a b`. */
function read(line: string): Promise {
  const [, at = '', type = '', values = ''] = /^(\S+) (\w+)(?: = (.*))?$/.exec(line.trim()) ?? []
  const steps = at.split('.').flatMap((part) => {
    const own = { name: part.replace(/\[\]|!/g, ''), required: part.includes('!') }
    return part.includes('[]') ? [own, { name: '[]', required: false }] : [own]
  })
  return { steps, type, values: values.split(' ').filter(Boolean) }
}

const lines = (text: string): readonly Promise[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(read)

/** The forms of a schema: behind references, and each of several. */
function forms(schema: Json, document: Json): readonly Json[] {
  const { $ref: reference } = schema
  if (typeof reference === 'string') {
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((part, step) => json(part)[step], document)
    return forms(json(target), document)
  }
  const others = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => list(schema[key])).flatMap((one) => forms(one, document))
  return [schema, ...others]
}

function within(found: readonly Json[], name: string, document: Json): readonly Json[] {
  const inner = name === '[]' ? found.map(({ items }) => items) : found.map(({ properties }) => json(properties)[name])
  return inner.filter((one) => one !== undefined).flatMap((one) => forms(json(one), document))
}

/** Returns the missing part of a promise in a description; null: none. */
function missing(root: Json, { steps, type, values }: Promise, document: Json): string | null {
  let found = forms(root, document)
  for (const { name, required } of steps) {
    if (required && !found.some((one) => Array.isArray(one['required']) && one['required'].includes(name))) return `${name} is not required`
    found = within(found, name, document)
    if (found.length === 0) return `${name} is not described`
  }
  if (type !== 'any' && !found.some((one) => typesOf(one).includes(type))) return `it is no ${type}`
  const known = new Set(found.flatMap((one) => [one['const']].concat(one['enum'])))
  const lacking = values.filter((value) => !known.has(value))
  return lacking.length === 0 ? null : `it lacks the values ${lacking.join(', ')}`
}

const typesOf = (schema: Json): readonly string[] => {
  const types = [schema['type']].flat().filter((type) => typeof type === 'string')
  const named = [schema['const'], ...(Array.isArray(schema['enum']) ? schema['enum'] : [])].map((value) => typeof value)
  return [...types, ...named, ...(types.includes('integer') ? ['number'] : [])]
}

/** A part of an operation as one schema. */
function schemaOf(operation: Json, part: Part): Json {
  if (part === 'body') return shown(json(operation['requestBody']))
  if (part === 'answer') return shown(json(json(operation['responses'])['200']))
  const own = list(operation['parameters']).filter((parameter) => parameter['in'] === part)
  const properties = Object.fromEntries(own.map(({ name, schema }) => [String(name), schema]))
  return { properties, required: own.filter(({ required }) => required === true).map(({ name }) => name) }
}

const shown = (holder: Json): Json => json(json(json(holder['content'])['application/json'])['schema'])

function lacks(level: string): readonly string[] {
  const at = fixedLevel(level)
  const own = features.filter(({ since }) => at.atLeast(since))
  const document = openapiDocument(own, { version: level, publicUrl: null })
  const later = Object.entries(promisedSince).filter(([release]) => at.atLeast(release))
  return [promised, ...later.map(([, promises]) => promises)]
    .flatMap(Object.entries<(typeof promised)[string]>)
    .flatMap(([name, promise]) => {
      const [method = '', path = ''] = name.split(' ')
      const operation = json(json(json(document['paths'])[path])[method.toLowerCase()])
      if (Object.keys(operation).length === 0) return name.includes('/policies') && !at.atLeast('1.5.0') ? [] : [`${name} is not there`]
      return parts.flatMap((part) =>
        lines(promise[part] ?? '').flatMap((one) => {
          const fault = missing(schemaOf(operation, part), one, document)
          return fault === null ? [] : [`${name}: ${part}: ${one.steps.map((step) => step.name).join('.')}: ${fault}`]
        }),
      )
    })
}

test('the description has every field, value and parameter that the interface promises, at every level', (t) => {
  for (const { version } of readOwnTable().releases) t.deepEqual(lacks(version), [], version)
})

test('a promise that is not kept is found', (t) => {
  const document = {
    components: { schemas: { A: { properties: { kind: { enum: ['a'] }, names: { items: { type: 'string' } } }, required: ['kind'] } } },
  }
  const root = { anyOf: [{ $ref: '#/components/schemas/A' }, { type: 'null' }] }
  const fault = (line: string) => missing(root, read(line), document)
  t.is(fault('kind! string = a'), null)
  t.is(fault('names[] string'), null)
  t.is(fault('kind string = a b'), 'it lacks the values b')
  t.is(fault('names[]! string'), 'names is not required')
  t.is(fault('names[] integer'), 'it is no integer')
  t.is(fault('kinds string'), 'kinds is not described')
})
