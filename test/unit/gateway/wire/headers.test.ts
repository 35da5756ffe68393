import test from 'ava'
import { answerHeaders, loggedHeaders, sortHeaders } from '../../../../src/gateway/wire/headers.ts'
import { ApiError } from '../../../../src/lib/errors.ts'

const prefixes = ['x-service-', 'x-portkey-']

const forwards = test.macro({
  exec(t, raw: readonly string[], expected: readonly string[]) {
    t.deepEqual(sortHeaders(raw, prefixes).forward, [...expected])
  },
  title: (name = '') => `forwarded: ${name}`,
})

test(
  'order, case and repeats are kept',
  forwards,
  ['X-Foo', 'a', 'x-foo', 'b', 'Anthropic-Beta', 'c'],
  ['X-Foo', 'a', 'x-foo', 'b', 'Anthropic-Beta', 'c'],
)
test(
  'ours and keys stay here',
  forwards,
  ['X-Service-Api-Key', 'k', 'authorization', 'Bearer p', 'x-api-key', 'a', 'api-key', 'b', 'a', 'b'],
  ['a', 'b'],
)
test('aliases are ours too', forwards, ['x-portkey-provider', 'openai'], [])
test(
  'hop-by-hop headers stay',
  forwards,
  ['Connection', 'keep-alive', 'TE', 'trailers', 'Upgrade', 'h2c', 'Transfer-Encoding', 'chunked', 'Keep-Alive', '1'],
  [],
)
test('what Connection names stays', forwards, ['Connection', 'close, X-Secret-Hop', 'x-secret-hop', '1', 'x-other', '2'], ['x-other', '2'])
test(
  'cookies, proxies and metadata headers stay',
  forwards,
  [
    'Cookie',
    'a=b',
    'X-Forwarded-For',
    '1.2.3.4',
    'Metadata-Flavor',
    'Google',
    'X-aws-ec2-metadata-token',
    't',
    'Proxy-Authorization',
    'x',
    'Host',
    'evil',
  ],
  [],
)

test('proofs of a session at our host stay', forwards, ['X-CSRF-Token', 'a', 'x-xsrf-token', 'b', 'x-other', 'c'], ['x-other', 'c'])

test('what acts on the origin of an answer does not act on ours', (t) => {
  const acting = [
    'Clear-Site-Data',
    'NEL',
    'Report-To',
    'Reporting-Endpoints',
    'Service-Worker-Allowed',
    'Refresh',
    'Origin-Agent-Cluster',
    'Sec-Session-Registration',
    'Set-Login',
    'Speculation-Rules',
  ]
  t.deepEqual(answerHeaders([...acting.flatMap((name) => [name, 'x']), 'x-other', 'y'], prefixes), ['x-other', 'y'])
})

test('one of ours twice with different values is refused', (t) => {
  const error = t.throws(() => sortHeaders(['x-service-api-key', 'a', 'x-service-api-key', 'b'], prefixes), { instanceOf: ApiError })
  t.is(error.code, 'invalid_request')
})

const types: readonly (readonly [name: string, raw: readonly string[]])[] = [
  ['different', ['Content-Type', 'application/octet-stream', 'content-type', 'application/json']],
  ['alike', ['content-type', 'application/json', 'Content-Type', 'application/json']],
  ['the first empty', ['content-type', '', 'content-type', 'application/json']],
  ['joined by a comma', ['content-type', 'application/octet-stream, application/json']],
]
for (const [name, raw] of types)
  test(`two content-types are refused: ${name}`, (t) => {
    const error = t.throws(() => sortHeaders(raw, prefixes), { instanceOf: ApiError })
    t.like(error, { code: 'invalid_request', param: 'content-type' })
  })

test('a comma in a parameter of a content-type makes no second one', (t) => {
  for (const type of ['multipart/form-data; boundary="a, b/c"', 'multipart/form-data; boundary=a,b'])
    t.is(sortHeaders(['content-type', type], prefixes).contentType, type)
})

test('identity is no encoding; any other that comes beside it is one', (t) => {
  for (const [raw, encoding] of [
    [[], ''],
    [['content-encoding', 'Identity'], ''],
    [['content-encoding', 'gzip'], 'gzip'],
    [['content-encoding', 'identity', 'Content-Encoding', 'gzip'], 'gzip'],
    [['content-encoding', 'gzip', 'Content-Encoding', 'identity'], 'gzip'],
  ] as const)
    t.is(sortHeaders(raw, prefixes).contentEncoding, encoding)
})

test('the canonical prefix wins over an alias, in either order', (t) => {
  for (const raw of [
    ['x-portkey-provider', 'b', 'x-service-provider', 'a'],
    ['x-service-provider', 'a', 'x-portkey-provider', 'b'],
  ])
    t.is(sortHeaders(raw, prefixes).service.get('provider'), 'a')
})

test('answers speak in the prefix of the caller', (t) => {
  t.is(sortHeaders(['x-portkey-provider', 'b'], prefixes).prefix, 'x-portkey-')
  t.is(sortHeaders(['x-service-provider', 'b'], prefixes).prefix, 'x-service-')
})

test('an answer loses what speaks of the other hop, and nothing else', (t) => {
  const raw = [
    'Content-Type',
    'text/plain',
    'X-A',
    '1',
    'x-a',
    '2',
    'X-Service-Provider',
    'evil',
    'x-portkey-trace-id',
    'evil',
    'Set-Cookie',
    's',
    'Connection',
    'keep-alive, x-hop',
    'X-Hop',
    '1',
    'Alt-Svc',
    'h3',
    'Strict-Transport-Security',
    'max-age=1',
    'Transfer-Encoding',
    'chunked',
  ]
  t.deepEqual(answerHeaders(raw, prefixes), ['Content-Type', 'text/plain', 'X-A', '1', 'x-a', '2'])
})

test('logs keep a header whose name objects give a meaning to', (t) => {
  const names = ['__proto__', 'constructor', 'tostring', 'tojson']
  const logged = loggedHeaders(names.flatMap((name) => [name, 'a', name, 'b']))
  t.deepEqual(JSON.parse(JSON.stringify(logged)), JSON.parse(`{${names.map((name) => `"${name}":"a, b"`).join(',')}}`))
})

test('logs show no credential', (t) => {
  const logged = loggedHeaders([
    'X-Goog-Api-Key',
    'k',
    'Authorization',
    'a',
    'x-amz-security-token',
    't',
    'X-My-Secret',
    's',
    'accept',
    'x',
    'accept',
    'y',
  ])
  t.deepEqual(
    { ...logged },
    {
      'x-goog-api-key': '[removed]',
      authorization: '[removed]',
      'x-amz-security-token': '[removed]',
      'x-my-secret': '[removed]',
      accept: 'x, y',
    },
  )
})
