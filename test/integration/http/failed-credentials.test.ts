import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import { wholePath } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { createApiKey } from '../../../src/lib/api-key.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { send, sendJson, type RawAnswer } from '../../support/http.ts'
import { startIssuer } from '../../support/issuer.ts'

let database: TestDatabase
let app: TestApp
const env = { TRUSTED_PROXIES: '127.0.0.1', FAILED_CREDENTIALS_PER_MINUTE: '5' }
test.before(async () => {
  database = await testDatabase()
  app = await startApp({ database, env })
})
test.after.always(async () => {
  await app?.stop()
  await database?.drop()
})

interface Shown {
  readonly key: string
  readonly from: string
  readonly to?: TestApp
}

const show = ({ key, from, to = app }: Shown): Promise<RawAnswer> =>
  send(`${to.baseUrl}/v1/configs`, { headers: { 'x-service-api-key': key, 'x-forwarded-for': from } })

const showOnDataPlane = ({ key, from, to = app }: Shown): Promise<RawAnswer> =>
  send(`${to.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': from } })

const acceptInvite = ({ from }: Shown): Promise<RawAnswer> =>
  sendJson(`${app.baseUrl}/v1/admin/users/invites/accept`, { 'x-forwarded-for': from }, { token: randomBytes(32).toString('base64url') })

async function makeKey(name = 'made'): Promise<string> {
  const scopes = ['configs.list', 'completions.write']
  const answer = await sendJson(`${app.baseUrl}/v1/api-keys/workspace/service`, { 'x-service-api-key': app.workspaceKey }, { name, scopes })
  if (answer.status !== 200) throw new Error(answer.text)
  return (JSON.parse(answer.text) as { key: string }).key
}

const statuses = (answers: readonly RawAnswer[]) => answers.map(({ status }) => status)

async function failFrom(from: string, ask = show): Promise<readonly RawAnswer[]> {
  const answers = []
  for (let i = 0; i < 7; i += 1) answers.push(await ask({ key: createApiKey(), from }))
  return answers
}

test('unknown keys of one address are answered 429 when there were too many, on both planes, and good keys of it never', async (t) => {
  const answers = await failFrom('192.0.2.1')
  t.deepEqual(statuses(answers), [401, 401, 401, 401, 401, 429, 429])
  const last = answers.at(-1)
  t.regex(last?.text ?? '', /"code":"AB06"/)
  t.true(Number(last?.headers['retry-after']) >= 1)
  t.is((await showOnDataPlane({ key: createApiKey(), from: '192.0.2.1' })).status, 429)
  t.is((await show({ key: app.workspaceKey, from: '192.0.2.1' })).status, 200)
  const made = await makeKey()
  await eventually(async () => (await show({ key: made, from: '192.0.2.1' })).status === 200, 1000)
  t.is((await show({ key: createApiKey(), from: '192.0.2.2' })).status, 401)
  const other = { 'x-forwarded-for': '192.0.2.1', authorization: 'Bearer sk-of-a-provider', 'x-api-key': app.workspaceKey }
  t.is((await send(`${app.baseUrl}/v1/configs`, { headers: other })).status, 200)
  const metrics = await send(`${app.baseUrl}/metrics`)
  t.regex(metrics.text, /gateway_auth_failures_total\{reason="limited"\} [1-9]/)
  t.truthy(app.logged.find(({ msg }) => /not good/.test(String(msg))))
})

test('what a stranger says of their address is not believed', async (t) => {
  const direct = await startApp({ database, env: { FAILED_CREDENTIALS_PER_MINUTE: '5' } })
  t.teardown(() => direct.stop())
  const answers = []
  for (let i = 0; i < 7; i += 1) answers.push(await show({ key: createApiKey(), from: `192.0.2.${i}`, to: direct }))
  t.deepEqual(statuses(answers), [401, 401, 401, 401, 401, 429, 429])
})

test('invitations and tokens count as well', async (t) => {
  t.deepEqual(statuses(await failFrom('192.0.2.10', acceptInvite)), [401, 401, 401, 401, 401, 429, 429])
  const issuer = await startIssuer()
  t.teardown(() => issuer.close())
  const payload = { exp: Math.floor(Date.now() / 1000) + 600, sub: 'x', workspace_slug: 'main' }
  const token = ({ from }: Shown) => show({ key: issuer.sign({ ...payload, organisation_id: randomUUID() }), from })
  t.deepEqual(statuses(await failFrom('192.0.2.11', token)), [401, 401, 401, 401, 401, 429, 429])
})

test('strangers in numbers keep neither known keys of a process that just started nor a new key waiting', async (t) => {
  const keys = await Promise.all(Array.from({ length: 30 }, (_, i) => makeKey(`known ${i}`)))
  const restarted = await startApp({ database, env })
  t.teardown(() => restarted.stop())
  const flood = new AbortController()
  const seen = new Set<number>()
  const stranger = async (i: number) => {
    for (let n = 0; !flood.signal.aborted; n += 1) {
      const from = `198.51.${(i + n) % 100}.${n % 200}`
      seen.add((await showOnDataPlane({ key: createApiKey(), from, to: restarted })).status)
    }
  }
  const strangers = Array.from({ length: 60 }, (_, i) => stranger(i))
  const answers = await Promise.all(keys.map((key) => show({ key, from: '203.0.113.1', to: restarted })))
  const made = await show({ key: await makeKey('new'), from: '203.0.113.1', to: restarted })
  flood.abort()
  await Promise.all(strangers)
  t.deepEqual(new Set(statuses(answers)), new Set([200]))
  t.is(made.status, 200)
  t.false(seen.has(200))
})

const openRoutes = features.flatMap(({ routes }) => routes).filter((route) => route.identify !== undefined && route.below === '/')

test('requests without a credential are limited by their address, at every route that takes them', async (t) => {
  const paths = openRoutes.map((route) => ({ method: route.method, path: wholePath(route).replaceAll(/:\w+/g, 'x') }))
  t.true(paths.length >= 6, JSON.stringify(paths))
  const ask = ({ method, path }: (typeof paths)[number], from: string) =>
    send(app.baseUrl + path, {
      method,
      headers: { 'x-forwarded-for': from, 'content-type': 'application/json' },
      ...(method !== 'GET' && { body: '{}' }),
    })
  const setUp = { method: 'GET', path: '/auth/setup' } as const
  t.false((await Promise.all(Array.from({ length: 40 }, () => ask(setUp, '192.0.2.77')))).some(({ status }) => status === 429))
  for (const one of paths) {
    // The level falls while the test runs: so many at once are above it.
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(one, '192.0.2.77')))
    const refused = answers.find(({ status }) => status === 429)
    t.true(Number(refused?.headers['retry-after']) >= 1, one.path)
    t.not((await ask(one, '192.0.2.78')).status, 429, one.path)
  }
  t.is((await show({ key: app.workspaceKey, from: '192.0.2.77' })).status, 200)
})
