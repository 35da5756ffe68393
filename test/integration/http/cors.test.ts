import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { startEmulator, type Emulator } from '../../support/emulator/emulator.ts'
import { send, sendJson } from '../../support/http.ts'

const page = 'https://chat.example.com'

let app: TestApp
let closed: TestApp
let emulator: Emulator
test.before(async () => {
  emulator = await startEmulator()
  ;[app, closed] = await Promise.all([
    startApp({ env: { CORS_ORIGINS: `${page}, http://localhost:3000`, DEDICATED_VALIDATION: 'lenient' } }),
    startApp(),
  ])
})
test.after.always(async () => {
  await Promise.all([app?.stop(), closed?.stop(), emulator?.stop()])
})

const preflight = (base: string, path: string, origin: string) =>
  send(`${base}${path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,x-stainless-os' },
  })

const own = () => ({
  'x-service-api-key': app.workspaceKey,
  'x-service-provider': 'openai',
  'x-service-custom-host': emulator.url,
  authorization: 'Bearer sk-of-the-caller',
})

test('a page of a listed origin is told that it may call, without a key', async (t) => {
  for (const path of ['/v1/chat/completions', '/v1/models', '/v1beta/models']) {
    const { status, headers } = await preflight(app.baseUrl, path, page)
    t.is(status, 204)
    t.like(headers, {
      'access-control-allow-origin': page,
      'access-control-allow-headers': 'authorization,x-stainless-os',
      vary: 'origin',
    })
    t.regex(headers['access-control-allow-methods'] ?? '', /POST/)
    t.is(headers['access-control-allow-credentials'], undefined)
  }
})

test('answers can be read by the page, refusals too, and say nothing of the provider pages', async (t) => {
  const remove = emulator.script({ path: '/chat/completions', behaviour: { headers: { 'access-control-allow-origin': '*' } } })
  const chat = { model: 'm', messages: [] }
  const answer = await sendJson(`${app.baseUrl}/v1/chat/completions`, { ...own(), origin: page }, chat)
  const stranger = await sendJson(`${app.baseUrl}/v1/chat/completions`, { ...own(), origin: 'https://evil.example' }, chat)
  remove()
  t.is(answer.status, 200, answer.text)
  t.like(answer.headers, { 'access-control-allow-origin': page, 'access-control-expose-headers': '*' })
  t.is(stranger.status, 200)
  t.is(stranger.headers['access-control-allow-origin'], undefined)
  const refused = await sendJson(`${app.baseUrl}/v1/chat/completions`, { origin: page }, chat)
  t.is(refused.status, 401)
  t.is(refused.headers['access-control-allow-origin'], page)
})

test('no other page, no path of the control plane, and none at all unless it is set', async (t) => {
  for (const [base, path, origin] of [
    [app.baseUrl, '/v1/chat/completions', 'https://evil.example'],
    [app.baseUrl, '/v1/api-keys', page],
    [closed.baseUrl, '/v1/chat/completions', page],
  ] as const) {
    const { status, headers } = await preflight(base, path, origin)
    t.true(status >= 400, path)
    t.is(headers['access-control-allow-origin'], undefined)
  }
})

test('the stored credential of the dedicated endpoints is demanded unless the demands are lenient', async (t) => {
  const completion = { model: 'm', prompt: 'p' }
  const strict = await sendJson(`${closed.baseUrl}/v1/completions`, { ...own(), 'x-service-api-key': closed.workspaceKey }, completion)
  t.is(strict.status, 400)
  t.regex(strict.text, /x-service-virtual-key, or its newer form x-service-provider: @slug/)
  const lenient = await sendJson(`${app.baseUrl}/v1/completions`, own(), completion)
  t.is(lenient.status, 200, lenient.text)
})
