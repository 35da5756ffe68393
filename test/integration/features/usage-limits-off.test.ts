// USAGE_LIMITS_ENABLED=OFF takes usage limits away everywhere; stored ones stay, and come back with the flag.
import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { testDatabase } from '../../support/database.ts'

const ask = async ({ baseUrl, adminKey }: TestApp, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${baseUrl}/v1${path}`, {
    method,
    headers: { 'x-service-api-key': adminKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

const database = await testDatabase()
test.after.always(() => database.drop())

const usage = { credit_limit: 5 }
const off = /`usage_limits`: is off: set USAGE_LIMITS_ENABLED to ON, or remove it, to turn it on/

test('usage limits are refused, not shown and not described while they are off, and are there again afterwards', async (t) => {
  const on = await startApp({ database, env: { ROLES: 'control' } })
  const key = { name: 'limited', scopes: ['logs.list'] }
  const made = await ask(on, 'POST', '/api-keys/organisation/service', { ...key, usage_limits: usage })
  t.is(made.status, 200, made.text)
  const { id } = JSON.parse(made.text) as { id: string }
  t.regex((await ask(on, 'GET', `/api-keys/${id}`)).text, /"usage_limits":\{"credit_limit":5/)
  await on.stop()

  const without = await startApp({ database, env: { ROLES: 'control', USAGE_LIMITS_ENABLED: 'OFF' } })
  for (const [method, path, body] of [
    ['POST', '/api-keys/organisation/service', { ...key, usage_limits: usage }],
    ['PUT', `/api-keys/${id}`, { usage_limits: null }],
    ['POST', '/providers', { name: 'p', integration_id: 'i', usage_limits: usage }],
    ['PUT', '/providers/p', { usage_limits: usage }],
    ['POST', '/virtual-keys', { name: 'v', provider: 'openai', key: 'sk', usage_limits: usage }],
    ['POST', '/admin/workspaces', { name: 'w', usage_limits: [usage] }],
  ] as const) {
    const { status, text } = await ask(without, method, path, body)
    t.is(status, 400, `${method} ${path}: ${text}`)
    t.regex(text, off, `${method} ${path}`)
  }
  const grants = await ask(without, 'PUT', '/integrations/i/workspaces', {
    workspaces: [{ id: 'w', enabled: true, usage_limits: [usage] }],
  })
  t.regex(grants.text, /usage_limits`: is off/)
  t.is((await ask(without, 'PUT', `/api-keys/${id}`, { name: 'renamed' })).status, 200)
  for (const path of [`/api-keys/${id}`, '/api-keys', '/workspaces'])
    t.notRegex((await ask(without, 'GET', path)).text, /usage_limits/, path)
  const described = await (await fetch(`${without.baseUrl}/openapi.json`)).text()
  t.notRegex(described, /"usage_limits"/)
  await without.stop()

  const below = await startApp({ database, env: { ROLES: 'control', USAGE_LIMITS_ENABLED: 'OFF', RELEASE_LEVEL: '1.8.0' } })
  t.regex((await ask(below, 'GET', `/api-keys/${id}`)).text, /"name":"renamed".*"usage_limits":\{"credit_limit":5/)
  await below.stop()
})
