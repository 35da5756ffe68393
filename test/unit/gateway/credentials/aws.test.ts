import { createHash } from 'node:crypto'
import test from 'ava'
import { AwsV4Signer } from 'aws4fetch'
import { authorize, type AuthRequest } from '../../../../src/gateway/credentials/authorize.ts'
import { ApiError, type ErrorCode } from '../../../../src/lib/errors.ts'
import { answered, fakeEgress, noEgress, ok, record, type FakeEgress } from './fake-egress.ts'

const start = Date.UTC(2026, 0, 2, 3, 4, 5)
const keys = { aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'canary/secret', aws_region: 'eu-west-1' }
const body = Buffer.from('{"messages":[]}')
const path = '/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse?a=1'

const request = (fields: Record<string, string>, rest: Partial<AuthRequest> = {}): AuthRequest => ({
  auth: { kind: 'sigv4', service: 'bedrock' },
  credential: { key: null, fields },
  method: 'POST',
  url: { origin: 'https://bedrock-runtime.eu-west-1.amazonaws.com', path },
  headers: [
    'Content-Type',
    'application/json',
    'User-Agent',
    'x',
    'X-Amzn-Bedrock-Trace',
    'ENABLED',
    'X-Amzn-Trace-Id',
    'Root=1',
    'x-amz-date',
    'forged',
  ],
  body,
  ...rest,
})

test('a request is signed at once: host, type, AWS headers and body, not what proxies change', async (t) => {
  const authorized = authorize(request({ ...keys, aws_session_token: 'session' }), { egress: noEgress(), now: () => start })
  t.false(authorized instanceof Promise)
  const sent = record((await authorized).headers)
  const payloadHash = createHash('sha256').update(body).digest('hex')
  t.is(sent['x-amz-date'], '20260102T030405Z')
  t.is(sent['x-amz-security-token'], 'session')
  t.is(sent['x-amz-content-sha256'], payloadHash)
  t.regex(
    sent['authorization'] ?? '',
    /SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amzn-bedrock-trace, /,
  )
  const other = new AwsV4Signer({
    method: 'POST',
    url: `https://bedrock-runtime.eu-west-1.amazonaws.com${path}`,
    headers: { 'content-type': 'application/json', 'x-amzn-bedrock-trace': 'ENABLED', 'x-amz-content-sha256': payloadHash },
    body,
    accessKeyId: keys.aws_access_key_id,
    secretAccessKey: keys.aws_secret_access_key,
    sessionToken: 'session',
    service: 'bedrock',
    region: 'eu-west-1',
    datetime: '20260102T030405Z',
    allHeaders: true,
  })
  t.is(sent['authorization'], (await other.sign()).headers.get('authorization') ?? '')
})

test('SageMaker signs for its own service', async (t) => {
  const { headers } = await authorize(request(keys, { auth: { kind: 'sigv4', service: 'sagemaker' } }), {
    egress: noEgress(),
    now: () => start,
  })
  t.regex(record(headers)['authorization'] ?? '', /\/20260102\/eu-west-1\/sagemaker\/aws4_request/)
})

test('a Bedrock API key goes as a bearer token', async (t) => {
  const { headers } = await authorize(request({}, { credential: { key: 'ABSK', fields: {} } }), { egress: noEgress(), now: () => start })
  t.deepEqual(headers, ['authorization', 'Bearer ABSK'])
})

const role = { ...keys, aws_role_arn: 'arn:aws:iam::123456789012:role/caller', aws_external_id: 'tenant 7' }
const answer = (id: string, expiresAt: number) => `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
  <AssumedRoleUser><Arn>arn</Arn></AssumedRoleUser>
  <Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>taken/secret</SecretAccessKey><SessionToken>taken==</SessionToken>
  <Expiration>${new Date(expiresAt).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`
const sts = () => fakeEgress((_, count) => ok(answer(`ASIA${count}`, start + 3_600_000)))
const idAt = async (egress: FakeEgress, now: number, fields: Record<string, string> = role) =>
  /Credential=(\w+)/.exec(record((await authorize(request(fields), { egress, now: () => now })).headers)['authorization'] ?? '')?.[1]

test('a role is taken on through STS, signed, with its external id', async (t) => {
  const egress = sts()
  const sent = record((await authorize(request(role), { egress, now: () => start })).headers)
  t.regex(sent['authorization'] ?? '', /Credential=ASIA1\//)
  t.is(sent['x-amz-security-token'], 'taken==')
  const [asked] = egress.asked
  t.is(asked?.url, 'https://sts.eu-west-1.amazonaws.com/')
  t.deepEqual(Object.fromEntries(new URLSearchParams(asked?.body)), {
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: role.aws_role_arn,
    RoleSessionName: 'gatehouse',
    ExternalId: 'tenant 7',
  })
  const other = new AwsV4Signer({
    method: 'POST',
    url: 'https://sts.eu-west-1.amazonaws.com/',
    headers: { 'content-type': asked?.headers['content-type'] ?? '' },
    body: asked?.body ?? '',
    accessKeyId: keys.aws_access_key_id,
    secretAccessKey: keys.aws_secret_access_key,
    service: 'sts',
    region: 'eu-west-1',
    datetime: '20260102T030405Z',
    allHeaders: true,
  })
  t.is(asked?.headers['authorization'], (await other.sign()).headers.get('authorization') ?? '')
})

test("a role's keys are renewed before they expire, and serve until half a minute before; one fetch for all who wait", async (t) => {
  const egress = sts()
  t.deepEqual(new Set(await Promise.all(Array.from({ length: 20 }, () => idAt(egress, start)))), new Set(['ASIA1']))
  t.is(await idAt(egress, start + 3_260_000), 'ASIA1')
  t.is(await idAt(egress, start + 3_570_000), 'ASIA2')
  t.is(await idAt(egress, start, { ...role, aws_external_id: 'tenant 8' }), 'ASIA3')
  t.is(egress.asked.length, 3)
})

test("a role's keys serve while STS is away, and no longer than they are good", async (t) => {
  const good = sts()
  const egress = fakeEgress((asked, count) => (count === 1 ? good.exchange(asked) : { ...ok(''), status: 503 }))
  t.is(await idAt(egress, start), 'ASIA1')
  for (const ms of [3_280_000, 3_400_000, 3_500_000, 3_569_999]) {
    t.is(await idAt(egress, start + ms), 'ASIA1')
    await new Promise(setImmediate)
  }
  t.true(egress.asked.length >= 3, 'it was asked meanwhile')
  await t.throwsAsync(async () => idAt(egress, start + 3_570_000), { message: /AWS STS answered 503/ })
})

test('accessKey leaves a role alone', async (t) => {
  t.is(await idAt(noEgress(), start, { ...role, aws_auth_type: 'accessKey' }), 'AKIDEXAMPLE')
})

const fails = test.macro({
  async exec(
    t,
    fields: Record<string, string>,
    expected: { code: ErrorCode; param?: string; message?: RegExp },
    egress: FakeEgress = noEgress(),
  ) {
    const error = await t.throwsAsync(async () => authorize(request(fields), { egress, now: () => start }), { instanceOf: ApiError })
    t.is(error?.code, expected.code)
    t.is(error?.param, expected.param ?? null)
    t.regex(error?.message ?? '', expected.message ?? /./)
    t.notRegex(error?.message ?? '', /canary/)
  },
  title: (name = '') => `fails: ${name}`,
})
const answers = (status: number, text: string) => fakeEgress(() => answered(status, text))

test('no access key', fails, {}, { code: 'missing_credential', param: 'aws_access_key_id' })
test('no secret', fails, { aws_access_key_id: 'AKID' }, { code: 'missing_credential', param: 'aws_secret_access_key' })
test(
  'a key id that would break the header',
  fails,
  { ...keys, aws_access_key_id: 'A\r\nx: y' },
  { code: 'invalid_request', param: 'aws_access_key_id' },
)
test('a region that is a host', fails, { ...role, aws_region: 'evil.example.com/' }, { code: 'invalid_request', param: 'aws_region' })
test(
  'an assumed role without its name',
  fails,
  { ...keys, aws_auth_type: 'assumedRole' },
  { code: 'missing_credential', param: 'aws_role_arn' },
)
test('the role of the machine', fails, { ...keys, aws_auth_type: 'serviceRole' }, { code: 'forbidden', param: 'aws_auth_type' })
test(
  'a refusal of STS',
  fails,
  role,
  { code: 'credential_failed', message: /403 \(AccessDenied\)/ },
  answers(403, '<Error><Code>AccessDenied</Code><Message>canary</Message></Error>'),
)
test('garbage of STS', fails, role, { code: 'credential_failed' }, answers(200, '<canary/>'))
