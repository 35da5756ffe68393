import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { atLevel, type ShownLevel } from '../../release/at-level.ts'
import { findProjectPath } from '../database/project-path.ts'
import type { Route } from '../route.ts'
import { example, type Example, fields } from './example.ts'
import { type LevelNames, withoutLater } from './later-names.ts'
import { onFreshInstallation, withParameterExample } from './tried-examples.ts'

type Json = Readonly<Record<string, unknown>>

/** The examples of all operations, by `POST /configs`. Read on the first request for the document, since no start should pay for it. */
export function readExamples(): ReadonlyMap<string, Example> {
  const path = findProjectPath('assets/docs/examples.json')
  if (path === null) throw new Error('The installation is not complete: assets/docs/examples.json is missing.')
  const all = z.array(example).parse(JSON.parse(readFileSync(path, 'utf8')))
  return new Map(all.toReversed().map((one) => [one.operation, one]))
}

/** The level of examples: by the marks of schemas, and by names where schemas are open. */
export interface ExampleLevel {
  readonly shown: string | ShownLevel
  readonly names: LevelNames
}

/** An example as it can be tried at a level: without later fields. */
export function exampleAt(shown: Example, { query, body, response }: Route, { shown: level, names }: ExampleLevel): Example {
  const shape = atLevel(response, level, 'answer')
  const answer = shape === response ? shown.answer : shape.safeParse(shown.answer).data
  return {
    ...shown,
    query: fields.parse(accepted(query, shown.query, level)),
    body: shown.body === undefined ? undefined : withoutLater(accepted(body, shown.body, level), names),
    answer: shown.type === undefined ? withoutLater(answer, names) : answer,
  }
}

/** A value without the parts that a level refuses. */
function accepted(schema: z.ZodType | undefined, value: unknown, level: string | ShownLevel): unknown {
  if (schema === undefined || value === undefined) return value
  const present = atLevel(schema, level, 'request')
  if (present === schema) return value
  const rest: unknown = structuredClone(value)
  for (const { path } of present.safeParse(value).error?.issues ?? []) {
    const holder = path.slice(0, -1).reduce<unknown>((part, step) => Object(part)[step], rest)
    Reflect.deleteProperty(Object(holder), path.at(-1) ?? '')
  }
  return rest
}

/** The paths of a document with an example in each operation that has one. */
export const withExamples = (
  paths: Readonly<Record<string, Json>>,
  examples: ReadonlyMap<string, Example>,
): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => {
          const found = examples.get(`${method.toUpperCase()} ${path}`)
          return [method, found === undefined ? operation : withExample(toJson(operation), found)]
        }),
      ),
    ]),
  )

function withExample(operation: Json, given: Example): Json {
  const { parameters, requestBody, responses, tags } = operation
  const ofGateway = Array.isArray(tags) && tags.includes('gateway')
  const shown = ofGateway ? onFreshInstallation(given) : given
  return {
    ...operation,
    parameters: toList(parameters).map((parameter) => withParameterExample(parameter, valueOf(parameter, shown), { ofGateway })),
    ...(requestBody !== undefined && { requestBody: asked(toJson(requestBody), shown) }),
    responses: { 200: answered(toJson(toJson(responses)['200']), shown), ...withoutSuccess(toJson(responses)) },
  }
}

function valueOf(parameter: Json, { path, query, headers }: Example): unknown {
  const given: Readonly<Record<string, Json | undefined>> = { path, query, header: headers }
  return given[String(parameter['in'])]?.[String(parameter['name'])]
}

function asked(requestBody: Json, { body, form }: Example): Json {
  const value = body ?? form
  if (value === undefined) return requestBody
  const content = toJson(requestBody['content'])
  const type = form === undefined ? 'application/json' : 'multipart/form-data'
  return { ...requestBody, content: { [type]: { ...toJson(content[type] ?? content['*/*']), example: value }, ...other(content, type) } }
}

function answered(response: Json, { answer, type = 'application/json' }: Example): Json {
  const description = response['description'] ?? "The provider's answer."
  if (answer === null) return { ...response, description }
  const content = toJson(response['content'])
  return { ...response, description, content: { ...content, [type]: { ...toJson(content[type]), example: answer } } }
}

const other = ({ ...content }: Json, type: string): Json => Object.fromEntries(Object.entries(content).filter(([name]) => name !== type))
const withoutSuccess = (responses: Json): Json => other(responses, '200')
const toJson = (value: unknown): Json => Object.fromEntries(Object.entries(Object(value)))
const toList = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(toJson) : [])
