// The fields of requests that the records name, asked over HTTP at both sides of the edge: refused by name at the level before, taken at their own.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { z } from 'zod'
import { readOwnTable } from '../../../src/app/level/release-records.ts'
import type { Route } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { scopeReleases } from '../../../src/lib/access/scopes.ts'
import { fieldsOf } from '../../../src/release/items.ts'
import { partsOf } from '../../../src/release/schema-parts.ts'
import { laterValues, markOf } from '../../../src/release/since.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { testDatabase } from '../../support/database.ts'
import { inParallel } from '../../support/in-parallel.ts'

const { releases } = readOwnTable()
const levels = releases.map(({ version }) => version)
const routes = new Map<string, Route>(
  features.flatMap((one) => one.routes).map((route) => [`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`, route] as const),
)

/** Forms that a release added to existing ones: one that only it takes. */
const newForms: Readonly<Record<string, unknown>> = { value: ['a', 'b'], workspaces: [], workspace_id: 'a-slug' }

/** Bounds that a release drew: a value that was taken before. */
const narrowed: Readonly<Record<string, unknown>> = { name: 'x'.repeat(300), slug: 'x'.repeat(300) }

type Step = string | number

/** Returns where a marked field, or a marked value, stands in a request, and the value to send there. */
function find(schema: z.ZodType, name: string): { readonly at: readonly Step[]; readonly value: unknown } | null {
  const seen = new Set<z.ZodType>()
  const visit = (part: z.ZodType, at: readonly Step[], field: string | null): ReturnType<typeof find> => {
    if (seen.has(part)) return null
    seen.add(part)
    const mark = markOf(part)
    if (mark !== null && field === name) return { at, value: newForms[name] ?? narrowed[name] ?? true }
    if (Object.hasOwn(laterValues(part), name)) return { at, value: name }
    for (const inner of partsOf(part)) {
      const step = inner.field === null ? (part.type === 'array' ? [0] : []) : [inner.field]
      const found = visit(inner.schema, [...at, ...step], inner.field ?? field)
      if (found !== null) return found
    }
    return null
  }
  return visit(schema, [], null)
}

const nested = (at: readonly Step[], value: unknown): unknown => {
  const [step, ...rest] = at
  if (step === undefined) return value
  return typeof step === 'number' ? [nested(rest, value)] : { [step]: nested(rest, value) }
}

const items = releases.flatMap((release) =>
  fieldsOf(release).flatMap(({ at, operation }) => {
    const [, place = '', name = ''] = /^(\w+)\.(.*)$/.exec(at) ?? []
    const route = routes.get(operation)
    return route !== undefined && (place === 'body' || place === 'query')
      ? [{ version: release.version, operation, place, name, route }]
      : []
  }),
)
type Item = (typeof items)[number]

const known: Readonly<Record<string, string>> = { type: 'workspace', subType: 'service' }

/** Returns the field by which a body chooses one of several forms; a field of a later release is judged after it. */
function formOf(schema: z.ZodType | undefined): Readonly<Record<string, unknown>> {
  const def = schema?.def as { discriminator?: string; options?: readonly z.ZodObject[] } | undefined
  const literal = def?.discriminator === undefined ? undefined : def.options?.[0]?.shape[def.discriminator]
  return literal === undefined ? {} : { [String(def?.discriminator)]: (literal.def as { values?: readonly unknown[] }).values?.[0] }
}

async function send(app: TestApp, { place, name, route }: Item): Promise<{ readonly status: number; readonly text: string }> {
  const schema = route[place === 'body' ? 'body' : 'query']
  const found = schema === undefined ? null : find(schema, name)
  if (found === null) throw new Error(`nothing is marked ${name}`)
  const path = route.path.replaceAll(/:(\w+)/g, (_, parameter: string) => known[parameter] ?? randomUUID())
  const query = place === 'query' ? `?${String(found.at[0])}=${String(found.value)}` : ''
  const response = await fetch(`${app.baseUrl}/v1${path}${query}`, {
    method: route.method,
    headers: { 'x-service-api-key': app.adminKey, 'content-type': 'application/json' },
    ...(place === 'body' && { body: JSON.stringify(Object.assign(nested(found.at, found.value) ?? {}, formOf(schema))) }),
  })
  return { status: response.status, text: await response.text() }
}

const later = (version: string) => `comes with release ${version}, which is above the level of this installation`

test('each field of the records is refused at the level before its release, by the name of that release, and known from then on', async (t) => {
  t.timeout(300_000)
  const database = await testDatabase()
  t.teardown(() => database.drop())
  t.true(items.length > 130, `${items.length}`)
  const edges = levels.map((level, at) => ({
    level,
    own: items.filter(({ version }) => version === level),
    next: items.filter(({ version }) => version === levels[at + 1]),
  }))
  await inParallel(
    edges.filter(({ own, next }) => own.length + next.length > 0),
    2,
    async ({ level, own, next }) => {
      const app = await startApp({ database, env: { RELEASE_LEVEL: level, ROLES: 'control' } })
      try {
        for (const item of next) {
          // A route that the same release brings is not there at all.
          const { status, text } = await send(app, item)
          if (status === 404 && text.includes('feature_unavailable')) continue
          const label = `${item.place}.${item.name} of ${item.operation} at ${level}: ${text}`
          if (item.name in narrowed) {
            t.notRegex(text, new RegExp(`"param":"${item.name}"`), label)
            continue
          }
          t.is(status, 400, label)
          t.true(text.includes(later(item.version)), label)
        }
        for (const item of own) {
          const { text } = await send(app, item)
          if (item.name in narrowed) t.regex(text, new RegExp(`"param":"${item.name}"`), item.operation)
          t.false(text.includes(later(item.version)), `${item.place}.${item.name} of ${item.operation} at ${level}: ${text}`)
        }
      } finally {
        await app.stop()
      }
    },
  )
})

test('what a member may do names no scope of a later release, in answers and in the API description', async (t) => {
  const app = await startApp({ env: { RELEASE_LEVEL: '1.3.1', ROLES: 'control', INIT_OWNER_EMAIL: 'owner@example.com' } })
  t.teardown(() => app.stop())
  const ask = async (path: string, body?: unknown) => {
    const response = await fetch(app.baseUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-service-api-key': app.adminKey, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    t.is(response.status, 200, text)
    return text
  }
  const [, owner] = /"id":"([^"]+)"/.exec(await ask('/v1/admin/users?email=owner@example.com')) ?? []
  await ask('/v1/admin/workspaces', { name: 'Full', slug: 'full' })
  await ask('/v1/admin/workspaces/full/users', { users: [{ id: owner, role: 'member' }] })
  const members = await ask('/v1/admin/workspaces/full/users')
  t.true(members.includes('"prompts.render"'), members)
  const description = await ask('/openapi.json')
  for (const scope of Object.keys(scopeReleases)) {
    t.false(members.includes(`"${scope}"`), scope)
    t.false(description.includes(`"${scope}"`), scope)
  }
})
