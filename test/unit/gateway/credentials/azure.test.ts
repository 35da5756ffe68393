import test from 'ava'
import { authorize } from '../../../../src/gateway/credentials/authorize.ts'
import type { Egress } from '../../../../src/gateway/egress/egress.ts'
import type { Auth } from '../../../../src/gateway/providers/provider.ts'
import { ApiError, type ErrorCode } from '../../../../src/lib/errors.ts'
import { answered, fakeEgress, noEgress, ok } from './fake-egress.ts'

const start = Date.UTC(2026, 0, 1)
const entra = {
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: '11111111-2222-3333-4444-555555555555',
  azure_entra_client_id: 'client',
  azure_entra_client_secret: 'canary&secret=+ ',
}
const tokens = () => fakeEgress((_, count) => ok({ access_token: `token-${count}`, expires_in: 3599 }))

interface Given {
  fields?: Record<string, string>
  key?: string | null
  auth?: Auth
  egress?: Egress
  now?: number
}

async function headers({
  fields = {},
  key = null,
  auth = { kind: 'azure' },
  egress = noEgress(),
  now = start,
}: Given): Promise<readonly string[]> {
  const url = { origin: 'https://res.openai.azure.com', path: '/openai/x' }
  return (await authorize({ auth, credential: { key, fields }, method: 'POST', url, headers: [], body: null }, { egress, now: () => now }))
    .headers
}

const sends = test.macro({
  async exec(t, given: Given, expected: readonly string[]) {
    t.deepEqual(await headers(given), expected)
  },
  title: (name = '') => `sends ${name}`,
})

test('the key', sends, { key: 'k' }, ['api-key', 'k'])
test(
  'the key in both headers where the row says so',
  sends,
  { key: 'k', auth: { kind: 'azure', keyHeaders: ['authorization', 'api-key'] } },
  ['authorization', 'Bearer k', 'api-key', 'k'],
)
test('a given token before the key', sends, { key: 'k', fields: { azure_ad_token: 'ad' } }, ['authorization', 'Bearer ad'])
test('a given token with its scheme', sends, { fields: { azure_ad_token: 'Bearer ad' } }, ['authorization', 'Bearer ad'])
test('the token of client credentials', sends, { fields: entra, egress: tokens() }, ['authorization', 'Bearer token-1'])

test('asks Entra for client credentials', async (t) => {
  const egress = tokens()
  await headers({ fields: { ...entra, azure_entra_scope: 'api://x/.default' }, egress })
  t.is(egress.asked[0]?.url, `https://login.microsoftonline.com/${entra.azure_entra_tenant_id}/oauth2/v2.0/token`)
  t.deepEqual(Object.fromEntries(new URLSearchParams(egress.asked[0]?.body)), {
    grant_type: 'client_credentials',
    client_id: 'client',
    client_secret: entra.azure_entra_client_secret,
    scope: 'api://x/.default',
  })
  t.is(egress.asked[0]?.headers['content-type'], 'application/x-www-form-urlencoded; charset=utf-8')
})

test('the scope is that of Azure AI unless given', async (t) => {
  const egress = tokens()
  await headers({ fields: entra, egress })
  t.is(new URLSearchParams(egress.asked[0]?.body).get('scope'), 'https://cognitiveservices.azure.com/.default')
})

test('one fetch for all who wait, one token until a minute before its end, one per secret', async (t) => {
  const egress = tokens()
  await Promise.all(Array.from({ length: 20 }, () => headers({ fields: entra, egress })))
  t.is(egress.asked.length, 1)
  t.deepEqual(await headers({ fields: entra, egress, now: start + 3_538_999 }), ['authorization', 'Bearer token-1'])
  t.deepEqual(await headers({ fields: entra, egress, now: start + 3_539_000 }), ['authorization', 'Bearer token-2'])
  t.deepEqual(await headers({ fields: { ...entra, azure_entra_client_secret: 'rotated' }, egress, now: start + 3_539_000 }), [
    'authorization',
    'Bearer token-3',
  ])
})

const fails = test.macro({
  async exec(t, given: Given, code: ErrorCode, param: string | null) {
    const error = await t.throwsAsync(headers(given), { instanceOf: ApiError })
    t.is(error?.code, code)
    t.is(error?.param, param)
    t.notRegex(error?.message ?? '', /canary/)
  },
  title: (name = '') => `fails: ${name}`,
})

test('no key', fails, {}, 'missing_credential', 'authorization')
test(
  'a tenant that climbs out of its path',
  fails,
  { fields: { ...entra, azure_entra_tenant_id: '../evil' } },
  'invalid_request',
  'azure_entra_tenant_id',
)
test('a tenant of dots', fails, { fields: { ...entra, azure_entra_tenant_id: '..' } }, 'invalid_request', 'azure_entra_tenant_id')
test('no client secret', fails, { fields: { ...entra, azure_entra_client_secret: '' } }, 'missing_credential', 'azure_entra_client_secret')
test('managed identity', fails, { key: 'k', fields: { azure_auth_mode: 'managed' } }, 'forbidden', 'azure_auth_mode')
test('a token that would break the header', fails, { fields: { azure_ad_token: 'canary\r\nx: y' } }, 'invalid_request', 'azure_ad_token')
test(
  'a refusal',
  fails,
  {
    fields: entra,
    egress: fakeEgress(() => answered(401, '{"error":"invalid_client","error_description":"canary"}')),
  },
  'credential_failed',
  null,
)
