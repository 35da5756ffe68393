import test from 'ava'
import { z } from 'zod'
import { feature } from '../../../../src/app/feature.ts'
import { openapiDocument, operationsOf } from '../../../../src/app/openapi/openapi.ts'
import { route } from '../../../../src/app/route.ts'
import { features } from '../../../../src/features/index.ts'

const about = { version: '1.2.3', publicUrl: null }

const part = z.object({ n: z.int() }).meta({ id: 'Part' })
const whole = z
  .object({ part, parts: z.array(part), at: z.iso.datetime().default('2026-01-01T00:00:00Z') })
  .meta({ id: 'Whole', description: 'All of it.' })

const sample = feature({
  id: 'sample',
  since: '1.0.0',
  permissions: ['sample.read'],
  entities: [],
  routes: [
    route({
      method: 'PUT',
      path: '/samples/:id/parts/:part',
      summary: 'Change a part',
      permission: 'sample.read',
      resource: 'sample',
      params: z.object({ id: z.string().meta({ description: 'UUID or slug.' }) }),
      query: z.object({ deep: z.stringbool().optional(), size: z.int().max(5).default(2) }),
      body: whole,
      response: whole,
    })(async () => ({ part: { n: 1 }, parts: [], at: '2026-01-01T00:00:00Z' })),
  ],
})

test('a route becomes an operation with parameters, body, answer, errors and scope', (t) => {
  const document = JSON.parse(JSON.stringify(openapiDocument([sample], about)))
  const operation = document.paths['/samples/{id}/parts/{part}'].put
  t.is(operation.operationId, 'put_samples_id_parts_part')
  t.is(operation['x-permission'], 'sample.read')
  t.deepEqual(
    operation.parameters.map(
      ({ in: place, name, required }: Record<string, unknown>) => `${String(place)} ${String(name)} ${String(required)}`,
    ),
    ['path id true', 'path part true', 'query deep false', 'query size false', 'header if-match false'],
  )
  t.is(operation.parameters[0].description, 'UUID or slug.')
  t.like(operation.parameters[3].schema, { type: 'integer', maximum: 5, default: 2 })
  t.deepEqual(operation.requestBody.content['application/json'].schema, { $ref: '#/components/schemas/WholeInput' })
  t.deepEqual(operation.responses['200'].content['application/json'].schema, { $ref: '#/components/schemas/Whole' })
  t.deepEqual(Object.keys(operation.responses), ['200', '400', '401', '403', '404', '409', '412', '413', '415', '503'])
})

test('schemas with an id become components once; input and output differ by name where they differ', (t) => {
  const { components } = JSON.parse(JSON.stringify(openapiDocument([sample], about)))
  t.deepEqual(components.schemas.Whole.properties.part, { $ref: '#/components/schemas/Part' })
  t.deepEqual(components.schemas.Whole.required, ['part', 'parts', 'at'])
  t.deepEqual(components.schemas.WholeInput.required, ['part', 'parts'])
  t.is(components.schemas.Whole.description, 'All of it.')
})

const document = JSON.parse(JSON.stringify(openapiDocument(features, about)))

test('the operations are told alike with their description and without', (t) => {
  const described = Object.entries(document.paths).flatMap(([at, methods]) =>
    Object.keys(Object(methods)).map((method) => `${method.toUpperCase()} ${at}`),
  )
  t.true(described.length > 200)
  t.deepEqual(operationsOf(features), described)
})

test('every reference of the whole document resolves', (t) => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference ?? '')
  t.true(references.length > 50)
  for (const reference of new Set(references)) {
    t.true(reference.startsWith('#/components/'), reference)
    const found = reference
      .slice(2)
      .split('/')
      .reduce((at: Record<string, unknown> | undefined, key) => at?.[key] as Record<string, unknown>, document)
    t.not(found, undefined, reference)
  }
})

test('every operation has a unique id, a summary, answers and declared path parameters', (t) => {
  const ids = new Set<string>()
  for (const [path, methods] of Object.entries<Record<string, Record<string, unknown>>>(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const place = `${method} ${path}`
      t.false(ids.has(String(operation['operationId'])), place)
      ids.add(String(operation['operationId']))
      t.truthy(operation['summary'], place)
      t.true(Object.keys(operation['responses'] ?? {}).length > 0, place)
      const declared = (operation['parameters'] as { in: string; name: string }[])
        .filter(({ in: kind }) => kind === 'path')
        .map(({ name }) => name)
      t.deepEqual(declared.toSorted(), [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').toSorted(), place)
    }
  }
  t.true(ids.size > 30)
})

test('the server is relative unless the installation has a public address', (t) => {
  t.deepEqual(document.servers, [{ url: '/v1' }])
  t.deepEqual(openapiDocument([], { ...about, publicUrl: 'https://ai.example.org' })['servers'], [{ url: 'https://ai.example.org/v1' }])
})

test('no pattern uses classes that only some tools know', (t) => {
  const patterns = [...JSON.stringify(openapiDocument(features, about)).matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map(
    ([, pattern]) => pattern ?? '',
  )
  t.true(patterns.length > 10)
  t.deepEqual(
    patterns.filter((pattern) => /\\p\{/i.test(pattern)),
    [],
  )
})
