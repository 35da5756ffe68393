import { request } from 'node:http'
import test from 'ava'
import { createApiKey } from '../../../src/lib/api-key.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'

const chosen = 'a key that the operator chose, of any shape: 100% / his'
const otherKey = createApiKey()
const stored = 'sk-stored+of/mine'
let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  bed = await startGateway({
    providers: { mine: { customHost: emulator.url, credential: { key: stored, fields: {} } } },
    settings: { chosenKeys: new Set([chosen]) },
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

const mine = { 'x-service-api-key': workspaceKey, 'x-service-provider': '@mine' }
const own = { 'x-service-api-key': workspaceKey, 'x-service-provider': 'openai', authorization: 'Bearer sk-own-of-the-caller' }
const emulate = (behaviour: Behaviour) => ({ 'x-emulate': JSON.stringify(behaviour) })

/** One exchange with its log. */
async function logged(path: string, headers: Readonly<Record<string, string>>) {
  const log = bed.nextLog()
  const answer = await send(`${bed.origin}/v1${path}`, { headers })
  return { answer, ...(await log) }
}

for (const key of [workspaceKey, otherKey, chosen]) {
  const places: readonly (readonly [where: string, value: string])[] = [
    ['behind a name', `key=${key}`],
    ['in a sentence', `use ${key}, please`],
    ['percent-encoded', `https://a.test/?k=${encodeURIComponent(key)}&x`],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(`key ${key}`))],
    ['as a password', `Basic ${Buffer.from(`user:${key}`).toString('base64')}`],
    ['as a bearer', `bearer ${key}`],
  ]
  for (const [where, value] of places) {
    test.serial(`a key of ours (${key.slice(0, 5)}) goes neither upstream nor into the log: in a header, ${where}`, async (t) => {
      const host = { ...own, 'x-service-custom-host': emulator.url }
      const { answer, record } = await logged('/echo', { ...host, 'x-baz': value, 'api-key': value, 'x-fine': 'fine' })
      t.is(answer.status, 200)
      t.false(answer.text.includes(value))
      t.true(answer.text.includes('x-fine'))
      t.is(record.requestHeaders['x-baz'], '[removed]')
    })
  }
  for (const [where, query] of [
    ['a value', `q=Bearer%20${encodeURIComponent(key)}`],
    ['a value that hides it', `a=b%26${encodeURIComponent(key)}`],
    ['a value, encoded twice', `a=${encodeURIComponent(encodeURIComponent(`x ${key}`))}`],
    ['a name', `${encodeURIComponent(`x${key}`)}=1`],
  ] as const) {
    test.serial(`a key of ours (${key.slice(0, 5)}) is refused in a query: ${where}`, async (t) => {
      const { answer, record } = await logged(`/echo?${query}`, mine)
      t.is(answer.status, 400)
      t.is(record.path, '/echo?[removed]')
    })
  }
  test.serial(`a key of ours (${key.slice(0, 5)}) is refused in a path`, async (t) => {
    const { answer, record } = await logged(`/echo/x-${encodeURIComponent(key)}-y/z`, mine)
    t.is(answer.status, 400)
    t.is(record.path, '/echo/[removed]/z')
  })
}

const forUs = [
  'trace-id',
  'span-id',
  'parent-span-id',
  'span-name',
  'metadata',
  'custom-host',
  'provider',
  'virtual-key',
  'azure-api-version',
]
for (const name of forUs)
  test.serial(`a key of ours in x-service-${name} is refused, and not logged`, async (t) => {
    for (const key of [workspaceKey, otherKey]) {
      const value = name === 'metadata' ? JSON.stringify({ a: `x ${key}` }) : name === 'custom-host' ? `${emulator.url}/${key}` : `x ${key}`
      const before = emulator.requests.length
      const { answer, ...kept } = await logged('/echo', { ...own, [`x-service-${name}`]: value })
      t.is(answer.status, 400)
      t.regex(answer.text, new RegExp(`must not stand in x-service-${name}`))
      t.false(JSON.stringify(kept).includes(key))
      t.is(emulator.requests.length, before)
    }
  })

test.serial('a provider that serves another path than the one that was looked at is not told of it', async (t) => {
  const names = [
    'x-original-url',
    'X-Rewrite-URL',
    'x-original-uri',
    'x-envoy-original-path',
    'x-forwarded-prefix',
    'x-http-method-override',
    'origin',
  ]
  const { answer } = await logged('/echo', { ...mine, ...Object.fromEntries(names.map((name) => [name, '/admin'])), 'x-fine': 'fine' })
  t.notRegex(answer.text, /admin/)
  t.regex(answer.text, /x-fine/)
})

test.serial('a credential that the provider repeats in a header is not logged', async (t) => {
  const headers = {
    'x-echo': `Bearer ${stored}`,
    location: `https://a.test/?key=${encodeURIComponent(stored)}`,
    'x-fine': 'fine',
  }
  const { answer, record } = await logged('/models', { ...mine, ...emulate({ headers }) })
  t.is(answer.headers['x-echo'], `Bearer ${stored}`)
  t.is(record.responseHeaders['x-echo'], 'Bearer [removed]')
  t.is(record.responseHeaders['location'], 'https://a.test/?key=[removed]')
  t.is(record.responseHeaders['x-fine'], 'fine')
})

test.serial('a credential of the caller that stands in another header and in the path is not logged', async (t) => {
  const path = '/models?echo=sk-own-of-the-caller'
  const { record } = await logged(path, { ...own, 'x-service-custom-host': emulator.url, 'x-again': 'sk-own-of-the-caller' })
  t.is(record.requestHeaders['x-again'], '[removed]')
  t.is(record.path, '/models?echo=[removed]')
})

test.serial('headers that x-service-sensitive-headers names are masked in the log, wherever their values come back', async (t) => {
  const body = '{"you":"sent a-value-of-mine"}'
  const sent = { ...mine, 'x-service-sensitive-headers': 'X-Mine, x-theirs', 'x-mine': 'a-value-of-mine', 'x-other': 'other' }
  const { answer, record, bodies } = await logged('/models', { ...sent, ...emulate({ headers: { 'x-theirs': 'short' }, body }) })
  t.is(answer.headers['x-theirs'], 'short')
  t.is(record.requestHeaders['x-mine'], '[removed]')
  t.is(record.requestHeaders['x-other'], 'other')
  t.is(record.responseHeaders['x-theirs'], '[removed]')
  t.is(Buffer.from(bodies.response ?? []).toString(), '{"you":"sent [removed]"}')
})

const secretNames = `key sig sas bearer pass pwd passphrase password token access_token refreshToken client_secret X-Amz-Signature
  X-Goog-Credential AWSAccessKeyId subscription-key appkey session sid auth otp pin creds jwt SAMLResponse cookie user[pass] hmac`
const plainNames = 'model limit after max_tokens tokens monkey sort passage design authors page compass'

const names = (text: string) => text.split(/\s+/)

test.serial('what queries name as a secret is not logged, and nothing else is taken out', async (t) => {
  const query = [...names(secretNames), ...names(plainNames)].map((name) => `${name}=value`).join('&')
  const { record } = await logged(`/models?${query}`, mine)
  const expected = [...names(secretNames).map((name) => `${name}=[removed]`), ...names(plainNames).map((name) => `${name}=value`)]
  t.is(record.path, `/models?${expected.join('&')}`)
})

test.serial('headers of a provider that act on our origin, or on a proxy before us, do not reach the caller', async (t) => {
  const acting =
    names(`clear-site-data nel report-to reporting-endpoints service-worker-allowed refresh set-login speculation-rules login-status
    activate-storage-access use-as-dictionary accept-ch critical-ch www-authenticate set-cookie2 x-sendfile2
    x-reproxy-file fly-replay x-envoy-immediate-health-check-fail x-litespeed-purge x-accel-redirect x-accel-expires x-accel-limit-rate x-sendfile
    x-lighttpd-send-file x-litespeed-location x-reproxy-url surrogate-control cdn-cache-control cloudflare-cdn-cache-control edge-control
    link content-security-policy content-security-policy-report-only referrer-policy cross-origin-resource-policy timing-allow-origin sourcemap
    attribution-reporting-register-source expires age pragma no-vary-search surrogate-key cache-tag edge-cache-tag`)
  const headers = Object.fromEntries([...acting, 'x-ratelimit-remaining-requests', 'request-id'].map((name) => [name, 'forged']))
  const { answer } = await logged('/models', { ...mine, ...emulate({ headers }) })
  t.is(answer.status, 200)
  t.deepEqual(
    acting.filter((name) => answer.headers[name] !== undefined),
    [],
  )
  t.is(answer.headers['x-ratelimit-remaining-requests'], 'forged')
})

for (const [theirs, ours] of [
  ['public, max-age=31536000, immutable', 'no-store'],
  ['private', 'no-store'],
  ['no-cache, no-transform', 'no-store, no-transform'],
] as const)
  test.serial(`no cache keeps an answer, whatever the provider says: ${theirs}`, async (t) => {
    const { answer } = await logged('/models', { ...mine, ...emulate({ headers: { 'cache-control': theirs, etag: '"a"' } }) })
    t.is(answer.headers['cache-control'], ours)
    t.is(answer.headers.etag, '"a"')
  })

const acting =
  names(`openai-organization OpenAI-Project chatgpt-account-id anthropic-workspace-id anthropic-organization-id x-goog-user-project
  x-goog-iam-authorization-token x-amz-security-token x-amz-target x-amzn-sagemaker-target-model x-amzn-sagemaker-inference-component x-ms-user-id
  x-ms-tenant azureml-model-deployment opc-obo-token x-hf-bill-to x-databricks-org-id x-snowflake-role ai-resource-group cf-aig-byok-alias
  helicone-target-url x-github-org x-litellm-tags x-amzn-bedrock-service-tier x-amzn-bedrock-performanceconfig-latency
  x-vertex-ai-llm-shared-request-type x-dashscope-workspace`)
/** Servers that hand headers to programs read these as the ones above. */
const disguised = names('openai_organization x_goog_user_project x_amz_security_token')
const describing = names(`openai-beta anthropic-version anthropic-beta x-goog-api-client x-goog-upload-command x-amzn-bedrock-trace
  x-ms-client-request-id opc-request-id idempotency-key`)

/** Returns which of the headers a provider was sent, all of which the caller sent. */
async function receivedOf(headers: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const sent = Object.fromEntries([...acting, ...describing].map((name) => [name, 'of-the-caller']))
  const { answer } = await logged('/echo', { ...headers, ...sent })
  const { rawHeaders } = JSON.parse(answer.text) as { readonly rawHeaders: readonly string[] }
  return [...acting, ...describing].filter((name) => rawHeaders.includes(name))
}

test.serial('no header of a caller says for whom a stored credential acts, or who pays', async (t) => {
  t.deepEqual(await receivedOf(mine), describing)
  const { answer } = await logged('/echo', {
    ...mine,
    ...Object.fromEntries(disguised.map((name) => [name, 'x'])),
    transfer_encoding: 'x',
    x_http_method_override: 'x',
  })
  t.notRegex(answer.text, /openai_organization|x_goog_user_project|x_amz_security_token|transfer_encoding|x_http_method_override/)
  t.deepEqual(await receivedOf({ ...mine, 'x-service-forward-headers': acting.join(',') }), describing)
  const config = JSON.stringify({ provider: '@mine', forward_headers: acting })
  t.deepEqual(await receivedOf({ 'x-service-api-key': workspaceKey, 'x-service-config': config }), describing)
})

test.serial("a caller's own credential acts as the caller says", async (t) => {
  t.deepEqual(await receivedOf({ ...own, 'x-service-custom-host': emulator.url }), [...acting, ...describing])
})

test.serial('a config that a request brings does not say for whom a stored credential acts', async (t) => {
  for (const field of ['openai_organization', 'openai_project']) {
    const config = JSON.stringify({ provider: '@mine', [field]: 'other' })
    const { answer } = await logged('/echo', { 'x-service-api-key': workspaceKey, 'x-service-config': config })
    t.is(answer.status, 400, answer.text)
    t.regex(answer.text, new RegExp(field))
  }
})

test.serial('a provider is not told of the page or the browser that called', async (t) => {
  const { answer } = await logged('/echo', { ...mine, referer: 'https://a.test/?key=x', 'sec-fetch-mode': 'cors', 'sec-ch-ua': 'x' })
  t.notRegex(answer.text, /referer|sec-/)
})

test.serial('trailers pass by the rule of headers', async (t) => {
  const trailers = {
    'x-checksum': 'abc',
    'set-cookie': 'a=forged',
    'x-service-cache-status': 'forged',
    'strict-transport-security': 'forged',
    'www-authenticate': 'forged',
  }
  const { answer } = await logged('/models', { ...mine, ...emulate({ chunked: true, trailers }) })
  t.deepEqual({ ...answer.trailers }, { 'x-checksum': 'abc' })
})

test.serial('two different credentials in one header are refused, two equal ones are one', async (t) => {
  for (const [name, one, two] of [
    ['authorization', `Bearer ${workspaceKey}`, 'Bearer other'],
    ['authorization', 'Bearer other', `Bearer ${workspaceKey}`],
    ['x-api-key', workspaceKey, 'other'],
  ] as const) {
    const answer = await sendLines([name, one, name, two])
    t.is(answer.status, 400)
    t.regex(answer.text, new RegExp(`header ${name} was sent twice`))
  }
  t.is((await sendLines(['authorization', `Bearer ${workspaceKey}`, 'Authorization', `Bearer ${workspaceKey}`])).status, 200)
})

/** Sends headers line by line: other clients join those of one name. */
function sendLines(lines: readonly string[]): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = ['host', 'x', 'x-service-provider', '@mine', ...lines]
    const sent = request(`${bed.origin}/v1/models`, { headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

const climbing = [
  '/a/../b',
  '/a/..',
  '/a/./b',
  '/a/%2e%2E/b',
  '/a/..%2fb',
  '/a%5c..%5Cb',
  '/a/..;/b',
  '/a/..;x=1/b',
  '/a/%2e%2e%3bx/b',
  '/a/%252e%252e/b',
  '/a/%25252e%25252e/b',
  '/a/..%252fb',
  '/a/%c0%ae%c0%ae/b',
  '/a/..%c0%afb',
  '/a/..%00/b',
  '/a/..%20/b',
  '/a/..%23/b',
  '/a/..%3f/b',
]
const standing = ['/a/..b', '/a/b..', '/a/b.c', '/a/.well-known', '/a/...', '/files/x%2fy.json', '/a/100%25', '/a;b/c']

for (const path of climbing)
  test.serial(`a path that climbs is refused: ${path}`, async (t) => {
    const answer = await send(`${bed.origin}/v1${path}`, { headers: mine })
    t.is(answer.status, 400)
    t.regex(answer.text, /segments/)
  })

test.serial('a path that only looks like climbing passes', async (t) => {
  for (const path of standing) t.not((await send(`${bed.origin}/v1${path}`, { headers: mine })).status, 400, path)
})
