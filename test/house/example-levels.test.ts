// The examples of a level can be tried at that level, and show no field of a later one.
import test from 'ava'
import { readOwnTable } from '../../src/app/level/release-records.ts'
import type { Example } from '../../src/app/openapi/example.ts'
import { exampleAt, readExamples } from '../../src/app/openapi/examples.ts'
import { laterNames } from '../../src/app/openapi/later-names.ts'
import type { Route } from '../../src/app/route.ts'
import { features } from '../../src/features/index.ts'
import { checks } from '../../src/gateway/checks/registry.ts'
import { plugins } from '../../src/gateway/checks/partners/plugins.ts'
import { laterProviders } from '../../src/gateway/providers/catalog.ts'
import { atLevel } from '../../src/release/at-level.ts'
import { fixedLevel } from '../../src/release/level.ts'

const examples = readExamples()

const own = (release: string) => features.filter(({ since }) => fixedLevel(release).atLeast(since))
const nameOf = ({ method, path }: Route) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`

function shownAt(release: string): readonly (readonly [name: string, route: Route, shown: Example])[] {
  const names = { level: release, later: laterNames(own(release), release) }
  return own(release).flatMap(({ routes }) =>
    routes.flatMap((route) => {
      const given = examples.get(nameOf(route))
      return given === undefined ? [] : [[nameOf(route), route, exampleAt(given, route, { shown: release, names })] as const]
    }),
  )
}

/** The releases of things that have one beside fields: checks, plugins, providers. */
const things: readonly (readonly [name: string, release: string])[] = [
  ...checks.map(({ id, since }) => [id, since] as const),
  ...[...plugins.values()].map(({ id, releases: [first = '0.0.0'] }) => [id, first] as const),
  ...Object.entries(laterProviders),
]

/** Every name of a field, and every text that an example shows. */
function* texts(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) yield name
    yield* texts(inner)
  }
}

test('an example is what its level takes and answers', (t) => {
  for (const { version: release } of readOwnTable().releases) {
    const shown = shownAt(release)
    t.true(shown.length > 100, release)
    for (const [name, { query, body, response, takes }, { query: asked, body: sent, answer, type }] of shown) {
      const parts = [
        ['query', query, asked, 'request'],
        ['body', takes === 'form' ? undefined : body, sent, 'request'],
        ['answer', type === undefined ? response : undefined, answer, 'answer'],
      ] as const
      for (const [part, schema, value, use] of parts) {
        if (schema === undefined || value === undefined || value === null) continue
        const { error } = atLevel(schema, release, use).safeParse(value)
        t.is(error, undefined, `${release} ${name}: ${part}: ${JSON.stringify(error?.issues)}`)
      }
    }
  }
})

test('an example shows no name of a later level', (t) => {
  for (const { version: release } of readOwnTable().releases) {
    const level = fixedLevel(release)
    const later = new Set([
      ...laterNames(own(release), release),
      ...things.filter(([, since]) => !level.atLeast(since)).map(([name]) => name),
    ])
    for (const [name, , { query, body, answer, type }] of shownAt(release)) {
      const found = [...texts([query, body, type === undefined ? answer : null])].filter((text) => later.has(text))
      t.deepEqual(found, [], `${release} ${name}`)
    }
  }
})

test('the names that were shown too early are known as later ones', (t) => {
  const at = laterNames(own('1.3.0'), '1.3.0')
  for (const name of [
    'anthropic_beta',
    'azure_entra_scope',
    'vertex_skip_ptu_cost_attribution',
    'group_based_user_provisioning',
    'membersViewPrompts',
  ])
    t.true(at.has(name), name)
  for (const name of ['id', 'name', 'scopes', 'completions.write']) t.false(at.has(name), name)
  t.is(laterNames(own('1.12.0'), '1.12.0').size, 0)
})
