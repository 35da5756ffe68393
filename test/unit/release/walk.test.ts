import test from 'ava'
import { z } from 'zod'
import { openapiDocument } from '../../../src/app/openapi/openapi.ts'
import { healthView } from '../../../src/app/http/process-routes.ts'
import { readOwnTable } from '../../../src/app/level/release-records.ts'
import type { Route } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { readCode } from '../../../src/cli/own-code.ts'
import { laterProviders } from '../../../src/gateway/providers/catalog.ts'
import { atLevel } from '../../../src/release/at-level.ts'
import { fieldsOf } from '../../../src/release/items.ts'
import { compareVersions } from '../../../src/release/version.ts'

const { releases } = readOwnTable()
const levels = releases.map(({ version }) => version)
const routes = new Map<string, Route>(
  features.flatMap((one) => one.routes).map((route) => [`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`, route] as const),
)
const health = { query: undefined, body: undefined, params: undefined, response: healthView }
const places = { query: 'query', body: 'body', path: 'params', answer: 'response' } as const

const items = releases.flatMap((release) =>
  fieldsOf(release).map(({ at, operation }) => {
    const dot = at.indexOf('.')
    const place = at.slice(0, dot) as keyof typeof places
    const schema = (operation === 'GET /health' ? health : routes.get(operation))?.[places[place]]
    return { version: release.version, operation, place, name: at.slice(dot + 1), schema }
  }),
)

/** A schema at a level, as the API description writes it: without meaning for scopes, which are texts. */
const written = new Map<z.ZodType, string>()
function described(schema: z.ZodType, level: string): string {
  const present = atLevel(schema, level, 'description')
  const known = written.get(present) ?? JSON.stringify(z.toJSONSchema(present, { io: 'input', unrepresentable: 'any' }))
  written.set(present, known)
  return known
}

/** A value that is a text has no place in a description: the author of the mark gets an error. */
const texts = new Set([...Object.keys(laterProviders), 'workload'])
const naming = (name: string) => {
  const fields = name === 'workload' ? { vertex_auth_type: name } : { provider: name }
  return { name: 'n', ai_provider_id: name, ...fields, configurations: fields, config: fields }
}

const isScope = (name: string) => name.includes('.')

/** The descriptions of a field anywhere in a description. */
const said = (text: string, name: string) => {
  const found: string[] = []
  JSON.parse(text, (key, value: unknown) => {
    if (key === name) found.push(JSON.stringify(value))
    return value
  })
  return found.toSorted().join()
}

for (const level of levels)
  test(`at ${level} there is what its records and earlier ones name, and nothing later`, (t) => {
    t.true(items.length > 200)
    for (const { version, operation, place, name, schema } of items) {
      const label = `${place}.${name} of ${operation} (${version})`
      if (schema === undefined) {
        t.fail(`there is no ${label}`)
        continue
      }
      const isThere = compareVersions(version, level) <= 0
      if (texts.has(name)) {
        if (place === 'answer') continue
        const fault = atLevel(schema, level, 'request').safeParse(naming(name)).error?.message ?? ''
        t.is(fault.includes(`${name} comes with release ${version}`), !isThere, label)
        continue
      }
      const former = levels[levels.indexOf(version) - 1] ?? level
      const edge = isScope(name) ? `${JSON.stringify(name)} ` : said(described(schema, former), name)
      if (isScope(name)) {
        if (place !== 'body') continue
        const parsed = atLevel(schema, level, 'request').safeParse({ name: 'A key', scopes: [name] })
        t.is(parsed.success, isThere, label)
        if (!isThere) t.regex(parsed.error?.message ?? '', new RegExp(`${name} comes with release ${version}`), label)
      } else if (isThere) t.not(said(described(schema, level), name), edge, label)
      else if (edge === '') t.is(said(described(schema, level), name), '', label)
    }
    const { paths } = openapiDocument(features, { version: level, publicUrl: null }) as { paths: Record<string, Record<string, unknown>> }
    const listed = JSON.stringify(paths['/workspaces']?.['get'])
    t.is(listed.includes('"name":"status"'), compareVersions('1.11.2', level) <= 0)
  })

test('the walk is of everything that is marked', (t) => {
  const recorded = new Set(items.map(({ place, name, operation }) => `${operation} ${place}.${name}`))
  for (const { operation, at } of readCode().fields) t.true(recorded.has(`${operation} ${at}`), `${operation} ${at}`)
})
