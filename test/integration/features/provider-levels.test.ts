import test from 'ava'
import { send } from '../../support/http.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let below: Control
let at: Control
test.before(async () => {
  ;[below, at] = await Promise.all([startControl({}, { RELEASE_LEVEL: '1.6.2' }), startControl({}, { RELEASE_LEVEL: '1.7.0' })])
})
test.after.always(() => Promise.all([below?.close(), at?.close()]))

const configurations = { oracle_region: 'us-x', oracle_tenancy: 't', oracle_user: 'u', oracle_fingerprint: 'f', oracle_private_key: 'k' }
const account = { name: 'o', slug: 'o', ai_provider_id: 'oracle', configurations }
const later = /comes with release 1\.7\.0, which is above the level of this installation/

const store = (control: Control, { adminKey }: Tenant) => control.call(adminKey, 'POST', '/integrations', account)
const ask = ({ origin }: Control, { workspaceKey }: Tenant, headers: Readonly<Record<string, string>>) =>
  send(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': workspaceKey, ...headers },
    body: JSON.stringify({ model: 'm', messages: [] }),
  })

test('below its release a provider can neither be stored nor named', async (t) => {
  const acme = await below.createTenant('acme')
  const stored = await store(below, acme)
  t.is(stored.status, 400, stored.text)
  t.like(stored.body['error'], { code: 'AB01', param: 'ai_provider_id' })
  t.regex(stored.text, later)
  const config = await below.call(acme.workspaceKey, 'POST', '/configs', { name: 'c', config: { provider: 'oracle' } })
  t.is(config.status, 400, config.text)
  t.regex(config.text, later)
  const named = await ask(below, acme, { 'x-service-provider': 'oracle' })
  t.regex(named.text, later)
  t.is(JSON.parse(named.text).error.code, 'unknown_provider')
})

test('from its release on it can', async (t) => {
  const acme = await at.createTenant('acme')
  const stored = await store(at, acme)
  t.is(stored.status, 200, stored.text)
  const config = await at.call(acme.workspaceKey, 'POST', '/configs', { name: 'c', config: { provider: 'oracle' } })
  t.is(config.status, 200, config.text)
  t.notRegex((await ask(at, acme, { 'x-service-provider': 'oracle' })).text, later)
})

const details = [
  ['anthropic', 'anthropic-beta', 'tools', /^x-service-anthropic-beta comes with release 1\.7\.3, which is above the level/],
  ['azure-openai', 'azure-entra-scope', 'api://own', /^x-service-azure-entra-scope comes with release 1\.11\.2, which is above the level/],
  ['vertex-ai', 'vertex-auth-type', 'workload', /^x-service-vertex-auth-type: workload comes with release 1\.10\.0, which is above/],
] as const

test('below its release a detail of a provider is refused as a header, and in a config', async (t) => {
  const acme = await below.createTenant('details')
  for (const [provider, name, value, message] of details) {
    const own = { 'x-service-provider': provider, authorization: 'Bearer sk-own' }
    const { status, text } = await ask(below, acme, { ...own, [`x-service-${name}`]: value })
    t.is(status, 400, text)
    const { error } = JSON.parse(text) as { error: { message: string } }
    t.like(error, { code: 'invalid_request', param: `x-service-${name}` })
    t.regex(error.message, message)
    const config = JSON.stringify({ provider, api_key: 'sk-own', [name.replaceAll('-', '_')]: value })
    t.regex((await ask(below, acme, { 'x-service-config': config })).text, /comes with release 1\.\d+\.\d, which is above the level/, name)
  }
  const known = await ask(below, acme, {
    'x-service-provider': 'vertex-ai',
    authorization: 'Bearer sk-own',
    'x-service-vertex-auth-type': 'basic',
  })
  t.notRegex(known.text, /comes with release/)
})
