import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { childOf, pointerStep } from '../../../lib/json/json-path.ts'
import type { Application, Keyword, SchemaFault, Validation } from './keyword.ts'

const fault = (isWell: boolean, path: string, message: string): readonly SchemaFault[] => (isWell ? [] : [{ path, message }])

/** A keyword that only objects are judged by. */
const ofObjects =
  (judge: (fields: Fields, application: Application, validation: Validation) => readonly SchemaFault[]): Keyword =>
  (application, validation) =>
    isFields(application.value) ? judge(application.value, application, validation) : []

const at = (path: string, name: string) => `${path}/${pointerStep(name)}`
const namesIn = (rule: unknown): readonly string[] => (Array.isArray(rule) ? rule.filter((name) => typeof name === 'string') : [])
const missing = (fields: Fields, names: readonly string[], path: string): readonly SchemaFault[] =>
  names.filter((name) => !Object.hasOwn(fields, name)).map((name) => ({ path, message: `lacks ${name}` }))

/** Checks which names or schemas are required when a name is there. */
const dependent: Keyword = ofObjects((fields, { rule, path }, { check }) =>
  Object.entries(isFields(rule) ? rule : {})
    .filter(([name]) => Object.hasOwn(fields, name))
    .flatMap(([, then]) => (Array.isArray(then) ? missing(fields, namesIn(then), path) : check(then, fields, path))),
)

/** The keywords of objects. `dependencies` is that of older drafts. */
export const objectKeywords: Readonly<Record<string, Keyword>> = {
  properties: ofObjects((fields, { rule, path }, { check }) =>
    Object.entries(isFields(rule) ? rule : {}).flatMap(([name, schema]) =>
      Object.hasOwn(fields, name) ? check(schema, fields[name], at(path, name)) : [],
    ),
  ),
  patternProperties: ofObjects((fields, { rule, path }, { check, pattern }) =>
    Object.entries(isFields(rule) ? rule : {}).flatMap(([source, schema]) =>
      Object.entries(fields).flatMap(([name, value]) => (pattern(source).test(name) ? check(schema, value, at(path, name)) : [])),
    ),
  ),
  additionalProperties: ofObjects((fields, { rule, schema, path }, { check, pattern }) => {
    const named = childOf(schema, 'properties')
    const patterns = Object.keys(Object(childOf(schema, 'patternProperties')))
    const others = Object.entries(fields).filter(
      ([name]) => !(isFields(named) && Object.hasOwn(named, name)) && !patterns.some((one) => pattern(one).test(name)),
    )
    return others.flatMap(([name, value]) => check(rule, value, at(path, name)))
  }),
  propertyNames: ofObjects((fields, { rule, path }, { check }) => Object.keys(fields).flatMap((name) => check(rule, name, at(path, name)))),
  required: ofObjects((fields, { rule, path }) => missing(fields, namesIn(rule), path)),
  minProperties: ofObjects((fields, { rule, path }) =>
    fault(typeof rule !== 'number' || Object.keys(fields).length >= rule, path, `must have at least ${String(rule)} fields`),
  ),
  maxProperties: ofObjects((fields, { rule, path }) =>
    fault(typeof rule !== 'number' || Object.keys(fields).length <= rule, path, `must have at most ${String(rule)} fields`),
  ),
  dependentRequired: dependent,
  dependentSchemas: dependent,
  dependencies: dependent,
}
