import { globSync, readFileSync } from 'node:fs'
import test from 'ava'
import { openapiDocument } from '../../src/app/openapi/openapi.ts'
import { readExamples } from '../../src/app/openapi/examples.ts'
import { features } from '../../src/features/index.ts'

interface Operation {
  /** Paths at the origin's root, which browsers ask by session; examples are run by key. */
  readonly servers?: unknown
  readonly tags: readonly string[]
  readonly parameters: readonly { readonly in: string; readonly name: string; readonly required?: boolean; readonly example?: unknown }[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, { readonly example?: unknown }>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> }>>
}

const examples = readExamples()
const document = openapiDocument(features, { version: '99.0.0', publicUrl: null, examples })
const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
)
const advice = 'add it to assets/docs/examples.json, then: node scripts/record-examples.ts'

const hasExample = (content: Readonly<Record<string, { readonly example?: unknown }>> = {}) =>
  Object.values(content).some((shown) => shown.example !== undefined)

test('every operation has an example: of what it must be given, and of what it answers', (t) => {
  for (const [name, { tags, parameters, requestBody, responses }] of operations.filter(
    ([, { servers, responses: all }]) => servers === undefined && !('101' in all),
  )) {
    t.true(examples.has(name), `${name}: ${advice}`)
    // The ids of a provider's own things are nowhere but there.
    for (const parameter of parameters.filter(({ required }) => required === true && !tags.includes('gateway')))
      t.not(parameter.example, undefined, `${name}: ${parameter.name}`)
    // A request that is valid without a body needs none in its example.
    const given = examples.get(name)
    const needsBody = requestBody !== undefined && (requestBody.required === true || given?.body !== undefined || given?.form !== undefined)
    if (needsBody) t.true(hasExample(requestBody.content), `${name}: body`)
    t.true('200' in responses, name)
    if (examples.get(name)?.answer !== null) t.true(hasExample(responses['200']?.content), `${name}: answer`)
  }
})

test('no example is of what there is not', (t) => {
  const names = new Set<string>(operations.map(([name]) => name))
  for (const name of examples.keys()) t.true(names.has(name), name)
})

const namesOf = ({ parameters }: Operation) => parameters.map(({ name }) => name)

test('every header of ours that the gateway reads is described', (t) => {
  const described = new Set(['/chat/completions', '/models'].flatMap((path) => Object.values(paths[path] ?? {}).flatMap(namesOf)))
  const sources = globSync('src/gateway/**/*.ts').map((path) => readFileSync(path, 'utf8'))
  const read = new Set(
    sources.flatMap((text) => [...text.matchAll(/\bservice\.(?:get|has)\('([\w-]+)'\)/g)].map(([, name]) => `x-service-${name}`)),
  )
  t.true(read.size > 10)
  t.deepEqual([...read.difference(described)], [])
})

test('the gateway comes first, and each group says what it is about', (t) => {
  const tags = document['tags'] as readonly { readonly name: string; readonly description?: string }[]
  t.is(tags[0]?.name, 'gateway')
  for (const { name, description } of tags) t.truthy(description, `${name}: add it to src/app/openapi/introduction.ts`)
  const used = new Set(operations.flatMap(([, { tags: own }]) => own))
  t.deepEqual([...used].toSorted(), tags.map(({ name }) => name).toSorted())
})

const ofGateway = operations.filter(([, { tags }]) => tags.includes('gateway'))

test('what a page sends of the gateway as it is shown works once a provider is stored', (t) => {
  t.true(ofGateway.length > 40)
  for (const [name, { parameters, requestBody }] of ofGateway) {
    const shown = parameters.flatMap(({ name: parameter, example }) =>
      example === undefined ? [] : [`${parameter}: ${JSON.stringify(example)}`],
    )
    t.true(shown.length < 2, name)
    for (const text of shown) t.regex(text, /^x-service-provider: "@(?:openai|anthropic|cohere)-prod"$/, name)
    const bodies = JSON.stringify(Object.values(requestBody?.content ?? {}).map(({ example }) => example ?? null))
    t.notRegex(bodies, /emulate|trace-1|2026-01/, name)
    if (shown.length === 0 && bodies.includes('"model"')) t.regex(bodies, /"model":"@[\w-]+\//, name)
  }
})

test('no page sends a filter or a time that nobody chose', (t) => {
  for (const [name, { parameters }] of operations)
    for (const { name: parameter, required, in: place, example } of parameters)
      if (required !== true && place !== 'header') t.is(example, undefined, `${name}: ${parameter}`)
})
