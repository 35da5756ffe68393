import test from 'ava'
import type { HookResults } from '../../../src/gateway/checks/hook-results.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl({}, { RELEASE_LEVEL: '1.11.2' }), startEmulator()])
  acme = await control.createTenant('acme')
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  await control.call(acme.adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'p' })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const later = { id: 'zscaler.zscalerprotect', parameters: { policyId: 'p', credentials: { zscalerApiKey: 'secret-key' } } }
const sooner = { id: 'crowdstrike-aidr.guardChatCompletions', parameters: { credentials: { apiKey: 'secret-key', baseUrl: '' } } }
const errorOf = (body: Readonly<Record<string, unknown>>) => body['error'] as { code: string; param: string; message: string }

test('a check of a later release cannot be stored, wherever it stands', async (t) => {
  const hidden = { strategy: { mode: 'single' }, targets: [{ provider: '@p', output_guardrails: [{ [later.id]: later.parameters }] }] }
  const cases: readonly (readonly [path: string, body: object, param: string])[] = [
    ['/guardrails', { name: 'g', checks: [later], actions: { onFail: 'block' } }, 'checks[0].id'],
    [
      '/configs',
      { name: 'c', config: { provider: '@p', input_guardrails: [{ checks: [later] }] } },
      'config.input_guardrails[0].checks[0].id',
    ],
    ['/configs', { name: 'c', config: hidden }, 'config.targets[0].output_guardrails[0].zscaler.zscalerprotect'],
  ]
  for (const [path, body, param] of cases) {
    const answer = await control.call(acme.workspaceKey, 'POST', path, body)
    t.is(answer.status, 400, answer.text)
    t.like(errorOf(answer.body), { code: 'AB01', param })
    t.regex(errorOf(answer.body).message, /comes with release 1\.12\.0\. The level of this installation is 1\.11\.2\./)
  }
  const known = { ...sooner, parameters: { credentials: { apiKey: 'secret-key', baseUrl: emulator.url } } }
  const stored = await control.call(acme.workspaceKey, 'POST', '/guardrails', { name: 'g', checks: [known], actions: { onFail: 'block' } })
  t.is(stored.status, 200, stored.text)
  const { body } = await control.call(acme.workspaceKey, 'GET', `/guardrails/${String(stored.body['slug'])}`)
  const [shown] = body['checks'] as { parameters: object }[]
  t.deepEqual(shown?.parameters, { credentials: { apiKey: '********', baseUrl: emulator.url } })
})

const parameters = (baseUrl: string, apiKey: string) => ({ projectId: 'p', credentials: { apiKey, calypsoUrl: baseUrl } })
const checks = (baseUrl: string, apiKey: string) => [{ id: 'f5-guardrails.scan', parameters: parameters(baseUrl, apiKey) }]

test('credentials stay sealed, and go nowhere else', async (t) => {
  const made = await control.call(acme.workspaceKey, 'POST', '/guardrails', {
    name: 'sealed',
    checks: checks(emulator.url, 'secret-key-of-f5'),
    actions: { onFail: 'block' },
  })
  t.is(made.status, 200, made.text)
  const path = `/guardrails/${String(made.body['slug'])}`
  const { rows } = await control.sql.query<{ checks: Buffer }>('SELECT checks FROM guardrails')
  for (const row of rows) t.false(row.checks.includes('secret-key'))
  t.false((await control.call(acme.workspaceKey, 'GET', path)).text.includes('secret-key'))
  const same = await control.call(acme.workspaceKey, 'PUT', path, {
    checks: [{ id: 'f5-guardrails.scan', parameters: { ...parameters(emulator.url, '********'), projectId: 'other', redact: true } }],
  })
  t.is(same.status, 200, same.text)
  const moved = await control.call(acme.workspaceKey, 'PUT', path, { checks: checks(`${emulator.url}/elsewhere`, '********') })
  t.is(moved.status, 400)
  t.regex(errorOf(moved.body).message, /goes elsewhere than before/)
  const proxied = await control.call(acme.workspaceKey, 'PUT', path, {
    checks: [{ id: 'f5-guardrails.scan', parameters: { ...parameters(emulator.url, '********'), baseUrl: emulator.url } }],
  })
  t.is(proxied.status, 400)
  const blocked = await control.call(acme.workspaceKey, 'PUT', path, { checks: checks('http://169.254.169.254', 'x') })
  t.is(blocked.status, 400)
  t.regex(errorOf(blocked.body).param, /checks\[0\]\.parameters\.credentials\.calypsoUrl/)
})

const forbids = { id: 'default.contains', parameters: { words: ['forbidden'], operator: 'none' } }

async function ask(content: string, guardrail: object, headers: Readonly<Record<string, string>> = {}) {
  const config = { provider: '@p', input_guardrails: [guardrail] }
  const answer = await fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': acme.workspaceKey,
      'content-type': 'application/json',
      'x-service-config': JSON.stringify(config),
      ...headers,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  })
  const body = (await answer.json()) as { hook_results: HookResults }
  return { status: answer.status, id: answer.headers.get('x-service-request-id') ?? '', hooks: body.hook_results }
}

test('below its release a check does not act, and so counts as failed', async (t) => {
  const warned = await ask('x', { checks: [later], deny: false })
  t.is(warned.status, 246)
  t.regex(
    warned.hooks.before_request_hooks[0]?.checks[0]?.error?.message ?? '',
    /comes with release 1\.12\.0, and this installation is at an earlier/,
  )
  t.is((await ask('x', { checks: [later], deny: true })).status, 446)
})

const readLog = async (id: string) => {
  let log: Readonly<Record<string, unknown>> = {}
  const found = async () => {
    const { status, body } = await control.call(acme.workspaceKey, 'GET', `/logs/${id}`)
    log = body
    return status === 200
  }
  await eventually(found, 10_000, 'the log')
  return (log['data'] ?? log) as { hook_results: HookResults | null; response: { status: number } }
}

test('a log tells what guardrails found, as the answer did', async (t) => {
  const denied = await ask('forbidden \0 words', { checks: [forbids], deny: true })
  t.is(denied.status, 446)
  const log = await readLog(denied.id)
  t.is(log.response.status, 446)
  t.deepEqual(log.hook_results, denied.hooks)
  const warned = await ask('forbidden', { checks: [forbids], deny: false }, { 'x-service-debug': 'false' })
  t.is(warned.status, 246)
  const kept = await readLog(warned.id)
  t.false(kept.hook_results?.before_request_hooks[0]?.verdict)
  t.is(kept.hook_results?.before_request_hooks[0]?.checks[0]?.data, null)
  const plain = await fetch(`${control.origin}/v1/echo`, {
    headers: { 'x-service-api-key': acme.workspaceKey, 'x-service-provider': '@p' },
  })
  t.is((await readLog(plain.headers.get('x-service-request-id') ?? '')).hook_results, null)
})
