import test from 'ava'
import { startApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'

const token = 'a-token-of-prometheus-of-32-characters'
let emulator: Emulator
let open: TestApp
let closed: TestApp
let apart: TestApp

const start = (env: TestAppOptions['env'] = {}) => startApp({ env })

test.before(async () => {
  emulator = await startEmulator()
  ;[open, closed, apart] = await Promise.all([
    start({ TRUSTED_PROXIES: '127.0.0.1' }),
    start({ METRICS_ACCESS: 'token', METRICS_TOKEN: token, DOCS_ACCESS: 'key' }),
    start({ MANAGEMENT_PORT: '0', DOCS_ACCESS: 'off' }),
  ])
})
test.after.always(() => Promise.all([open, closed, apart, emulator].map((one) => one?.stop())))

const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}` })
const provider = () => ({ 'x-service-provider': 'openai', 'x-service-custom-host': emulator.url, authorization: 'Bearer sk-own' })
const call = (headers: Readonly<Record<string, string>> = {}) =>
  send(`${open.baseUrl}/v1/models`, { headers: { 'x-service-api-key': open.workspaceKey, ...provider(), ...headers } })

test('no answer lets a browser guess its type, and none is kept', async (t) => {
  const key = { 'x-service-api-key': open.adminKey }
  const answers = await Promise.all([
    call(),
    call({ 'x-emulate': JSON.stringify({ headers: { 'x-content-type-options': 'none' } }) }),
    send(`${open.baseUrl}/v1/chat/completions`),
    send(`${open.baseUrl}/v1/api-keys`, { headers: key }),
    send(`${open.baseUrl}/v1/api-keys`),
    send(`${open.baseUrl}/docs`),
    send(`${open.baseUrl}/nowhere`),
    send(`${open.baseUrl}/v1/models`, { headers: { 'x-service-api-key': open.workspaceKey } }),
    send(`${open.baseUrl}/v1/models`, { headers: { upgrade: 'websocket', connection: 'upgrade' } }),
  ])
  for (const { headers } of answers) t.is(headers['x-content-type-options'], 'nosniff')
  t.deepEqual(
    answers.map(({ headers }) => headers['cache-control']),
    ['no-store', 'no-store', 'no-store', 'no-store', 'no-store', 'no-cache', 'no-store', 'no-store', 'no-store'],
    'the pages are asked for again, with their ETag',
  )
})

const toldHttps = { 'x-forwarded-proto': 'https' }

test('browsers are told to stay with TLS where a trusted proxy says that they came by it', async (t) => {
  const told = await Promise.all([
    call(toldHttps),
    call({ 'x-forwarded-proto': 'http, https' }),
    send(`${open.baseUrl}/v1/models`, { headers: toldHttps }),
    send(`${open.baseUrl}/docs`, { headers: toldHttps }),
  ])
  for (const { headers } of told) t.is(headers['strict-transport-security'], 'max-age=31536000')
  const untold = await Promise.all([
    call(),
    call({ 'x-forwarded-proto': 'https, http' }),
    send(`${closed.baseUrl}/v1/health`, { headers: toldHttps }),
  ])
  for (const { headers } of untold) t.is(headers['strict-transport-security'], undefined)
})

const policyOf = async (type: string) =>
  (await call({ 'x-emulate': JSON.stringify({ headers: { 'content-type': type } }) })).headers['content-security-policy']

test('a page of a provider runs no script in our name; what clients read passes as it is', async (t) => {
  for (const type of [
    'text/html; charset=utf-8',
    'TEXT/HTML',
    'image/svg+xml',
    'application/xml',
    'application/pdf',
    'application/atom+xml',
    'application/json, text/html',
    'bogus, text/html',
    ',text/html',
  ])
    t.is(await policyOf(type), "default-src 'none'; sandbox", type)
  for (const type of ['application/json', 'text/plain', 'text/event-stream', 'audio/mpeg', 'image/png', 'application/octet-stream'])
    t.is(await policyOf(type), undefined, type)
})

for (const asked of [
  { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'object' },
  { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'embed' },
] as const)
  test(`a browser that would show an answer gets an inert one: ${asked['sec-fetch-mode']}, ${asked['sec-fetch-dest']}`, async (t) => {
    for (const type of ['text/html', 'image/svg+xml', '', 'application/json', 'text/plain', 'image/png']) {
      const disposition = 'inline; filename=a.html'
      const headers = { 'content-type': type, 'content-disposition': disposition, 'content-security-policy': 'default-src *' }
      const answer = await call({ ...asked, 'x-emulate': JSON.stringify({ headers }) })
      t.is(answer.headers['content-security-policy'], "default-src 'none'; sandbox", type)
      t.is(answer.headers['referrer-policy'], 'no-referrer')
      t.is(answer.headers['x-content-type-options'], 'nosniff')
      const isPage = /html|svg|^$/.test(type)
      t.is(answer.headers['content-disposition'], isPage ? 'attachment' : disposition, type)
    }
  })

test('figures and documents are public unless settings say otherwise', async (t) => {
  for (const path of ['/metrics', '/docs', '/docs/docs.js', '/openapi.json']) t.is((await send(open.baseUrl + path)).status, 200, path)
})

const askMetrics = (headers: Readonly<Record<string, string>>) => send(`${closed.baseUrl}/metrics`, { headers })

test('METRICS_ACCESS=token lets through who sends the token', async (t) => {
  t.is((await askMetrics({ authorization: `Bearer ${token}` })).status, 200)
  t.is((await askMetrics(basic(token))).status, 200)
  for (const headers of [{}, { authorization: `Bearer ${token}x` }, basic(closed.adminKey), { 'x-service-api-key': closed.adminKey }]) {
    const answer = await askMetrics(headers)
    t.is(answer.status, 401)
    t.regex(answer.text, /METRICS_TOKEN/)
    t.notRegex(answer.text, /gateway_inflight/)
  }
})

test('DOCS_ACCESS=key lets through who has a key, and a browser asks for it', async (t) => {
  for (const path of ['/docs', '/docs/docs.js', '/openapi.json']) {
    const ask = (headers: Readonly<Record<string, string>>) => send(closed.baseUrl + path, { headers })
    const stranger = await ask({})
    t.is(stranger.status, 401)
    t.regex(String(stranger.headers['www-authenticate']), /^Basic realm=/)
    t.is((await ask(basic('nobody'))).status, 401)
    for (const headers of [
      { 'x-service-api-key': closed.workspaceKey },
      { authorization: `Bearer ${closed.adminKey}` },
      basic(closed.workspaceKey),
    ])
      t.is((await ask(headers)).status, 200)
  }
})

test('with MANAGEMENT_PORT figures are on that port alone, and nothing but figures and probes', async (t) => {
  const management = apart.managementUrl ?? ''
  t.is((await send(`${apart.baseUrl}/metrics`)).status, 404)
  t.is((await send(`${apart.baseUrl}/healthz`)).status, 200)
  for (const path of ['/metrics', '/healthz', '/readyz', '/v1/health']) t.is((await send(management + path)).status, 200, path)
  for (const path of ['/docs', '/openapi.json', '/v1/models', '/v1/api-keys'])
    t.is((await send(management + path, { headers: { 'x-service-api-key': apart.adminKey } })).status, 404, path)
})

test('DOCS_ACCESS=off leaves no documents', async (t) => {
  for (const path of ['/docs', '/docs/docs.js', '/openapi.json', '/']) t.is((await send(apart.baseUrl + path)).status, 404, path)
})
