import test from 'ava'
import { z } from 'zod'
import { feature } from '../../../src/app/feature.ts'
import { route } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { startEmulator, type Emulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'
import { offByFlag, offByNeed } from '../../support/probe-feature.ts'
import { record } from '../../support/release-project.ts'

const later = feature({
  id: 'later',
  since: '1.12.0',
  permissions: [],
  entities: [],
  routes: [
    route({ method: 'GET', path: '/later/:id', summary: 'Comes later', permission: 'logs.list', response: z.object({}) })(async () => ({})),
    route({ method: 'GET', path: '/logs/later', summary: 'Comes later', permission: 'logs.list', response: z.object({}) })(
      async () => ({}),
    ),
  ],
})

/** Announces operations that no module implements, beside one that exists. */
const releases = {
  releases: [
    record({
      version: '1.3.0',
      features: { added: ['announced', 'meters'] },
      api: { added: ['POST /announced', 'GET /logs', 'POST /chat/completions', { 'PUT /gauges/{id}': 'meters' }, 'GET /nobodys/{id}'] },
    }),
    record({ version: '1.11.2' }),
    record({ version: '1.12.0', features: { added: ['later', 'tomorrow'] }, api: { added: ['GET /later/{any}', 'GET /tomorrow'] } }),
  ],
  charts: [],
}

let app: TestApp
let provider: Emulator
test.before(async () => {
  provider = await startEmulator()
  provider.script({ behaviour: { status: 418 } })
  app = await startApp({
    features: [...features, later, offByFlag, offByNeed],
    env: { POLICY_ENABLED: 'OFF', RELEASE_LEVEL: '1.11.2' },
    overrides: { releases },
  })
})
test.after.always(async () => {
  await app.stop()
  await provider.stop()
})

const pending = (release: string) => new RegExp(`is announced for release ${release}, and this build does not implement it yet`)
const raise = /comes with release 1\.12\.0\. The level of this installation is 1\.11\.2\. Raise RELEASE_LEVEL/

interface Missing {
  readonly asked: string
  readonly feature: { readonly id: string | null; readonly flag: string | null; readonly release: string }
  readonly message: RegExp
}

const missing: readonly Missing[] = [
  { asked: 'GET /off-by-flag', feature: { id: 'off-by-flag', flag: 'POLICY_ENABLED', release: '1.0.0' }, message: /POLICY_ENABLED to ON/ },
  { asked: 'GET /off-by-need', feature: { id: 'off-by-need', flag: null, release: '1.0.0' }, message: /needs the feature off-by-flag/ },
  { asked: 'GET /later/7', feature: { id: 'later', flag: null, release: '1.12.0' }, message: raise },
  { asked: 'GET /tomorrow', feature: { id: 'tomorrow', flag: null, release: '1.12.0' }, message: raise },
  { asked: 'POST /announced', feature: { id: 'announced', flag: null, release: '1.3.0' }, message: pending('1.3.0') },
  { asked: 'PUT /gauges/7', feature: { id: 'meters', flag: null, release: '1.3.0' }, message: pending('1.3.0') },
  { asked: 'GET /nobodys/7?x=1', feature: { id: null, flag: null, release: '1.3.0' }, message: pending('1.3.0') },
  // No route below these segments is on, so that neither another method nor another end is a provider's.
  { asked: 'DELETE /later/7', feature: { id: 'later', flag: null, release: '1.12.0' }, message: raise },
  { asked: 'GET /announced/7/parts', feature: { id: 'announced', flag: null, release: '1.3.0' }, message: pending('1.3.0') },
]

for (const { asked, feature: named, message } of missing) {
  const [method = '', path = ''] = asked.split(' ')
  test(`${asked}: 404 that says why`, async (t) => {
    const answer = await send(`${app.baseUrl}/v1${path}`, { method, headers: { authorization: `Bearer ${app.workspaceKey}` } })
    t.is(answer.status, 404, answer.text)
    const { error } = JSON.parse(answer.text)
    t.like(error, { code: 'feature_unavailable', type: 'not_found_error', feature: named, request_id: answer.headers['x-request-id'] })
    t.regex(error.message, message)
    t.is(answer.headers['x-should-retry'], 'false')
  })

  test(`${asked} with a provider: the same, and nothing leaves`, async (t) => {
    const answer = await send(`${app.baseUrl}/v1${path}`, {
      method,
      headers: {
        'x-service-api-key': app.workspaceKey,
        'x-service-provider': 'openai',
        'x-service-custom-host': provider.url,
        authorization: 'Bearer sk-of-the-caller',
        'x-test': asked,
      },
    })
    t.is(answer.status, 404)
    t.is(JSON.parse(answer.text).error.code, 'feature_unavailable')
    t.false(provider.requests.some(({ headers }) => headers['x-test'] === asked))
  })
}

test('a route that is on is ours, whatever provider is named', async (t) => {
  const answer = await send(`${app.baseUrl}/v1/logs`, {
    headers: { 'x-service-api-key': app.workspaceKey, 'x-service-provider': '@nobody' },
  })
  t.is(answer.status, 200, answer.text)
})

const ask = async (method: string, path: string) => {
  const answer = await send(`${app.baseUrl}/v1${path}`, { method, headers: { 'x-service-api-key': app.workspaceKey } })
  return { status: answer.status, code: JSON.parse(answer.text).error?.code }
}

test('what is off beside what is on: its own 404, and the rest as before', async (t) => {
  t.deepEqual(await ask('DELETE', '/logs'), { status: 405, code: 'method_not_allowed' })
  t.deepEqual(await ask('GET', '/logs/a/b/c'), { status: 404, code: 'not_found' })
  t.deepEqual(await ask('POST', '/rerank'), { status: 400, code: 'missing_provider' })
  t.deepEqual(await ask('POST', '/chat/completions'), { status: 400, code: 'missing_provider' })
})

for (const path of ['/auth/me', '/auth/login', '/auth/sessions'])
  test(`/v1${path} says that the path is without /v1`, async (t) => {
    const { status, text } = await send(`${app.baseUrl}/v1${path}`, { headers: { 'x-service-api-key': app.adminKey } })
    t.is(status, 404)
    t.regex(text, /without \/v1/)
    t.notRegex(text, /not implement/)
  })

test('a client of another gateway learns which setting accepts its headers', async (t) => {
  const headers = { 'x-portkey-api-key': app.workspaceKey, 'x-portkey-provider': '@openai', 'content-type': 'application/json' }
  const { status, text } = await send(`${app.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body: '{"model":"m"}' })
  t.is(status, 401)
  t.regex(text, /HEADER_ALIASES=portkey/)
})
