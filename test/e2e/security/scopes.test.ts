import test from 'ava'
import type { Route } from '../../../src/app/route.ts'
import { organisationScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { errorOf } from '../../support/caller.ts'
import { type RawAnswer, sendJson } from '../../support/http.ts'
import { adminKey, type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { controlRoutes, neededQuery } from '../../support/routes.ts'
import { ask } from '../../support/tenants.ts'

let gatehouse: Gatehouse

test.before(async () => {
  gatehouse = await startGatehouse()
})
test.after.always(() => gatehouse?.stop())

const types = { organisation: organisationScopes, workspace: workspaceScopes } as const
type Type = keyof typeof types

const create = (type: Type, scopes: readonly string[], key = adminKey): Promise<RawAnswer> =>
  ask(gatehouse, key, { method: 'POST', path: `/api-keys/${type}/service`, body: { name: 'k', scopes } })

const keys = new Map<string, Promise<string>>()

let latest: Promise<unknown> = Promise.resolve()

/** A key with just these scopes; one that was made before is used again. One is made after the other: hundreds at once wait in vain. */
function keyWith(type: Type, scopes: readonly string[]): Promise<string> {
  const name = `${type} ${scopes.join(' ')}`
  const make = () => create(type, scopes).then(({ text }) => String((JSON.parse(text) as { key: unknown }).key))
  const made = keys.get(name) ?? latest.then(make)
  keys.set(name, made)
  latest = made
  return made
}

const accepted = ({ permission }: Route): readonly string[] => (typeof permission === 'string' ? [permission] : permission)
/** An id and a slug that do not exist; a request that is refused for its scope is refused before any look-up. */
/** Paths that name a kind of thing, and not a thing, are those of lists. */
const withKind = ({ path }: Route) => path.replace(':groupBy', 'model').replace(':metadataKey', 'env')
const pathTo = (route: Route) => withKind(route).replace(':type/:subType', 'workspace/service').replace(/:\w+/, 'nothing-has-this-slug')

for (const route of controlRoutes.filter(({ permission }) => permission.length > 0)) {
  for (const type of ['organisation', 'workspace'] as const) {
    const without = types[type].filter((scope) => !accepted(route).includes(scope))
    const only = types[type].filter((scope) => accepted(route).includes(scope))

    test(`${route.method} ${route.path}: refused to an ${type} key that has every other scope`, async (t) => {
      const { method } = route
      const answer = await ask(gatehouse, await keyWith(type, without), {
        method,
        path: pathTo(route),
        ...(method !== 'GET' && { body: {} }),
      })
      t.is(answer.status, 403, answer.text)
      t.is(errorOf(answer).code, 'AB03')
      t.true(
        accepted(route).some((scope) => errorOf(answer).message.includes(scope)),
        'the answer names no scope that would do',
      )
    })

    if (only.length > 0 && route.method === 'GET') {
      test(`${route.method} ${route.path}: open to an ${type} key with this scope alone`, async (t) => {
        const answer = await ask(gatehouse, await keyWith(type, only), { path: `${pathTo(route)}${neededQuery(route)}` })
        t.is(answer.status, withKind(route).includes(':') ? 404 : 200, answer.text)
      })
    }
  }
}

/** To a port that the guard refuses: it reports that only to callers that may call providers at all. */
const chat = (key: string) =>
  sendJson(
    `${gatehouse.origin}/v1/chat/completions`,
    {
      'x-service-provider': 'openai',
      'x-service-custom-host': 'http://127.0.0.1:1',
      authorization: 'Bearer sk-own',
      'x-service-api-key': key,
    },
    { model: 'm', messages: [] },
  )

test('providers are called with completions.write and with nothing else', async (t) => {
  const without = await keyWith(
    'workspace',
    workspaceScopes.filter((scope) => scope !== 'completions.write'),
  )
  for (const key of [adminKey, without]) t.is((await chat(key)).status, 403)
  t.is(errorOf(await chat(await keyWith('workspace', ['completions.write']))).code, 'blocked_host')
})

test('no key grants what it does not hold', async (t) => {
  const maker = await keyWith('workspace', ['workspace_service_api_keys.create', 'logs.list'])
  t.is((await create('workspace', ['logs.list'], maker)).status, 200)
  for (const scope of workspaceScopes) {
    if (scope === 'logs.list' || scope === 'workspace_service_api_keys.create') continue
    t.is((await create('workspace', [scope], maker)).status, 403, scope)
  }
  t.is((await create('organisation', ['logs.list'], workspaceKey)).status, 403)
})

test('no scope is granted that the key’s type cannot have', async (t) => {
  const shared = new Set<string>(workspaceScopes)
  for (const scope of organisationScopes) if (!shared.has(scope)) t.is((await create('workspace', [scope])).status, 400, scope)
  const own = new Set<string>(organisationScopes)
  for (const scope of workspaceScopes) if (!own.has(scope)) t.is((await create('organisation', [scope])).status, 400, scope)
  for (const scope of ['', '*', 'logs.*', '__proto__', 'completions.write ', 'COMPLETIONS.WRITE'])
    t.is((await create('workspace', [scope])).status, 400, scope)
})
