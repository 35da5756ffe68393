import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { importSPKI, jwtVerify } from 'jose'
import { authorize, type AuthRequest } from '../../../../src/gateway/credentials/authorize.ts'
import type { Egress } from '../../../../src/gateway/egress/egress.ts'
import { ApiError, type ErrorCode } from '../../../../src/lib/errors.ts'
import { answered, fakeEgress, noEgress, ok } from './fake-egress.ts'

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = {
  type: 'service_account',
  client_email: 'caller@project.iam.gserviceaccount.com',
  private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  private_key_id: 'key-1',
  token_uri: 'https://oauth2.example.com/token',
}
const start = Date.UTC(2026, 0, 1)

const request = (json: unknown, key: string | null = null): AuthRequest => ({
  auth: { kind: 'google' },
  credential: { key, fields: json === null ? {} : { vertex_service_account_json: typeof json === 'string' ? json : JSON.stringify(json) } },
  method: 'POST',
  url: { origin: 'https://us-central1-aiplatform.googleapis.com', path: '/v1/x' },
  headers: [],
  body: null,
})
const tokens = () => fakeEgress((_, count) => ok({ access_token: `token-${count}`, expires_in: 3600, token_type: 'Bearer' }))
const bearer = async (egress: Egress, now: number, json: unknown = account) =>
  (await authorize(request(json), { egress, now: () => now })).headers[1]

test('a service account signs a grant that verifies', async (t) => {
  const egress = tokens()
  t.is(await bearer(egress, start), 'Bearer token-1')
  const [asked] = egress.asked
  t.is(asked?.url, account.token_uri)
  t.is(asked?.method, 'POST')
  t.is(asked?.timeoutMs, 10_000)
  const form = new URLSearchParams(asked?.body)
  t.is(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
  const publicKey = await importSPKI(pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'RS256')
  const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
    issuer: account.client_email,
    audience: account.token_uri,
    currentDate: new Date(start),
  })
  t.deepEqual(protectedHeader, { alg: 'RS256', typ: 'JWT', kid: 'key-1' })
  t.is(payload['scope'], 'https://www.googleapis.com/auth/cloud-platform')
  t.is((payload.exp ?? 0) - (payload.iat ?? 0), 3600)
})

test('a token is kept until a minute before it expires, and then it is there at once', async (t) => {
  const egress = tokens()
  await bearer(egress, start)
  const held = authorize(request(account), { egress, now: () => start + 3_539_999 })
  t.false(held instanceof Promise)
  t.is(await bearer(egress, start + 3_539_999), 'Bearer token-1')
  t.is(await bearer(egress, start + 3_540_000), 'Bearer token-2')
  t.is(egress.asked.length, 2)
})

test('all who wait share one fetch', async (t) => {
  const egress = tokens()
  t.deepEqual(new Set(await Promise.all(Array.from({ length: 50 }, () => bearer(egress, start)))), new Set(['Bearer token-1']))
  t.is(egress.asked.length, 1)
})

test('two accounts, or two apps, share nothing', async (t) => {
  const egress = tokens()
  await bearer(egress, start)
  t.is(await bearer(egress, start, { ...account, client_email: 'other@project.iam.gserviceaccount.com' }), 'Bearer token-2')
  const second = tokens()
  await bearer(second, start)
  t.is(second.asked.length, 1)
})

test('a failure is not kept', async (t) => {
  const egress = fakeEgress((_, count) => (count === 1 ? answered(503, '') : ok({ access_token: 'later', expires_in: 10 })))
  await t.throwsAsync(bearer(egress, start), { instanceOf: ApiError })
  t.is(await bearer(egress, start), 'Bearer later')
})

test('without an account the key is the access token', async (t) => {
  const { headers } = await authorize(request(null, 'ya29.token'), { egress: noEgress(), now: () => start })
  t.deepEqual(headers, ['authorization', 'Bearer ya29.token'])
})

const fails = test.macro({
  async exec(t, json: unknown, expected: { code: ErrorCode; param?: string; message?: RegExp }, egress: Egress = tokens()) {
    const error = await t.throwsAsync(async () => bearer(egress, start, json), { instanceOf: ApiError })
    t.is(error?.code, expected.code)
    t.is(error?.param, expected.param ?? null)
    t.regex(error?.message ?? '', expected.message ?? /./)
    t.notRegex(error?.message ?? '', /BEGIN|eyJ|canary/)
  },
  title: (name = '') => `fails: ${name}`,
})
const answers = (status: number, text: string) => fakeEgress(() => answered(status, text))
const throws = (error: Error) =>
  fakeEgress(() => {
    throw error
  })
const field = 'vertex_service_account_json'

test('no credential at all', fails, null, { code: 'missing_credential', param: 'authorization' })
test('not JSON', fails, '{canary', { code: 'invalid_request', param: field })
test('not an object', fails, '[1]', { code: 'invalid_request', param: field })
test('no private key', fails, { ...account, private_key: undefined }, { code: 'invalid_request', param: field })
test('a broken private key', fails, { ...account, private_key: 'canary' }, { code: 'invalid_request', param: field, message: /PKCS#8/ })
test(
  'a refusal names its reason only',
  fails,
  account,
  { code: 'credential_failed', message: /400 \(invalid_grant\)/ },
  answers(400, '{"error":"invalid_grant","error_description":"canary"}'),
)
test('an answer without a token', fails, account, { code: 'credential_failed' }, answers(200, '{"canary":1}'))
test('an answer that is garbage', fails, account, { code: 'credential_failed' }, answers(200, '<canary>'))
test(
  'a token that would break a header',
  fails,
  account,
  { code: 'credential_failed' },
  answers(200, JSON.stringify({ access_token: 'canary\r\nx: y' })),
)
test('a redirect is no token', fails, account, { code: 'credential_failed', message: /302/ }, answers(302, ''))
test('a timeout', fails, account, { code: 'credential_failed', message: /within 10 s/ }, throws(new ApiError('upstream_timeout', 'canary')))
test('no connection', fails, account, { code: 'credential_failed', message: /reached/ }, throws(new Error('connect ECONNREFUSED canary')))
test(
  'a token address behind the guard',
  fails,
  account,
  { code: 'blocked_host', param: 'url' },
  throws(new ApiError('blocked_host', 'no', { param: 'url' })),
)
