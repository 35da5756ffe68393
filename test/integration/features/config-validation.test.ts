// oxlint-disable unicorn/no-thenable -- the name of a field in every config there is
import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', default_provider_slug: 'p' }
  const made = await control.call(acme.adminKey, 'POST', '/integrations', account)
  if (made.status !== 200) throw new Error(made.text)
  const stored = { name: 'kept', slug: 'kept', config: { provider: 'openai', api_key: 'sk-kept' } }
  const kept = await control.call(acme.workspaceKey, 'POST', '/configs', stored)
  if (kept.status !== 200) throw new Error(kept.text)
})
test.after.always(() => control?.close())

type Body = Readonly<Record<string, unknown>>
const validate = (body: Body, key = acme.workspaceKey) => control.call(key, 'POST', '/configs/validate', body)
const params = (list: unknown) => (list as readonly { readonly param: string }[]).map(({ param }) => param)

test('a good config is valid, and nothing is stored', async (t) => {
  const before = await control.call(acme.workspaceKey, 'GET', '/configs')
  const { status, body } = await validate({ config: { provider: '@p', retry: { attempts: 2 } } })
  t.is(status, 200)
  t.deepEqual(body, { object: 'config_validation', valid: true, issues: [], unsupported: [], missing: [] })
  t.deepEqual((await control.call(acme.workspaceKey, 'GET', '/configs')).body, before.body)
})

test('all faults are listed, each with its place', async (t) => {
  const targets = [
    { provider: '@p', weight: -1 },
    { provider: '@p', retry: { attempts: 9 }, nothing: 1 },
  ]
  const { body } = await validate({ config: { strategy: { mode: 'loadbalance' }, targets } })
  t.false(body['valid'])
  t.deepEqual(params(body['issues']).toSorted(), [
    'config.targets[0].weight',
    'config.targets[1].nothing',
    'config.targets[1].retry.attempts',
  ])
})

test('faults beyond the schema are listed beside each other', async (t) => {
  const config = { provider: 'openai', custom_host: 'http://169.254.169.254/v1', input_guardrails: ['none-such'], api_key: '********' }
  const { body } = await validate({ config })
  t.deepEqual(params(body['issues']), ['config.api_key', 'config.custom_host', 'config.input_guardrails[0]'])
})

test('a config that is too large is looked at no further', async (t) => {
  const { body } = await validate({ config: { provider: 'openai', nothing: 1, override_params: { x: 'y'.repeat(140_000) } } })
  t.deepEqual(params(body['issues']), ['config'])
})

test('names that do not exist are told apart from faults', async (t) => {
  const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@p', fetch_integrated_models: true }, { virtual_key: 'gone' }] }
  const { body } = await validate({ config })
  t.true(body['valid'])
  t.deepEqual(params(body['unsupported']), [])
  t.like((body['missing'] as readonly Body[])[0], { kind: 'provider', reference: 'gone' })
})

test('of a config that would be changed masks stand for its credentials', async (t) => {
  const config = { provider: 'openai', api_key: '********', override_params: { seed: 1 } }
  t.like((await validate({ slug: 'kept', config })).body, { valid: true })
  t.like((await validate({ config })).body, { valid: false })
  t.deepEqual(params((await validate({ slug: 'kept', config: { ...config, provider: 'groq' } })).body['issues']), ['config.api_key'])
})

test('a config of another workspace is not there, and the scope is asked for', async (t) => {
  t.is((await validate({ slug: 'kept', config: { provider: 'openai' } }, acme.sideKey)).status, 404)
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['configs.read'] })
  t.is((await validate({ config: { provider: 'openai' } }, key)).status, 403)
})

test('hostile patterns are bounded as in a stored config', async (t) => {
  const query = { 'metadata.a': { $regex: '(?:a{0,1000}){0,1000}' } }
  const strategy = { mode: 'conditional', conditions: [{ query, then: 'x' }], default: 'x' }
  const { body } = await validate({ config: { strategy, targets: [{ name: 'x', provider: '@p' }] } })
  t.false(body['valid'])
})

test('the schema of configs is that of the level', async (t) => {
  const { status, body } = await control.call(acme.workspaceKey, 'GET', '/catalogue/config-schema')
  t.is(status, 200)
  type Schema = Body & { readonly $ref?: string; readonly $defs?: Record<string, Body> }
  const schema = body['schema'] as Schema
  const named = schema.$defs?.[(schema.$ref ?? '').replace('#/$defs/', '')]
  const properties = (named ?? schema)['properties'] as Body
  for (const name of ['provider', 'strategy', 'targets', 'retry', 'cache']) t.true(name in properties, name)
  t.deepEqual(body['unsupported'], [])
})
