import { gzipSync } from 'node:zlib'
import test from 'ava'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { send, type RawRequest } from '../../support/http.ts'
import { probe } from '../../support/probe-feature.ts'

let app: TestApp
test.before(async () => {
  app = await startApp({ features: [...features, probe], env: { MAX_JSON_PAYLOAD_SIZE_IN_MB: '1' } })
})
test.after.always(() => app.stop())

const json = { 'content-type': 'application/json' }

interface Expected {
  readonly status: number
  readonly code: string
  readonly message: RegExp
  readonly param?: string
}

const refuses = test.macro<[string, RawRequest, Expected]>({
  async exec(t, _name, request, { status, code, message, param }) {
    const answer = await send(`${app.baseUrl}/v1/probe/echo`, {
      method: 'POST',
      ...request,
      headers: { 'x-service-api-key': app.adminKey, ...request.headers },
    })
    t.is(answer.status, status, answer.text)
    const { error } = JSON.parse(answer.text)
    const { issues, ...rest } = error
    t.deepEqual(Object.keys(rest), ['message', 'type', 'param', 'code', 'request_id'])
    // Each fault of a body that was read is listed, and the first is the one that `param` names.
    if (issues !== undefined) t.is(issues[0].param, error.param)
    t.is(error.code, code)
    t.regex(error.message, message)
    if (param !== undefined) t.is(error.param, param)
    t.is(answer.headers['x-request-id'], error.request_id)
    t.is(answer.headers['request-id'], error.request_id)
    t.is(answer.headers['x-should-retry'], 'false')
    t.regex(String(answer.headers['content-type']), /^application\/json/)
    t.notRegex(answer.text, /\.ts:|node_modules|127\.0\.0\.1|at async/)
  },
  title: (_, name) => `refuses ${name}`,
})

const body = (text: string | Uint8Array): RawRequest => ({ headers: json, body: text })
const invalid = (message: RegExp, param?: string): Expected => ({ status: 400, code: 'AB01', message, ...(param && { param }) })
const field = (message: RegExp, param: string): Expected => ({ status: 400, code: 'AB01', message, param })

test(refuses, 'malformed JSON', body('{"name": }'), invalid(/position 9 \(line 1, column 10\)/))
test(refuses, 'half a JSON', body('{"name":"a"'), invalid(/unexpected end/))
test(refuses, 'deep JSON', body(`{"name":"a","free":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`), invalid(/deeper than 128/))
test(refuses, 'a flood of brackets', body('['.repeat(500_000)), invalid(/deeper than 128/))
test(refuses, '__proto__', body('{"name":"a","__proto__":{"x":1}}'), invalid(/__proto__/, '__proto__'))
test(refuses, 'escaped __proto__', body(String.raw`{"name":"a","free":{"\u005f_proto__":{"x":1}}}`), invalid(/__proto__/))
test(refuses, 'constructor', body('{"name":"a","free":{"constructor":{"prototype":{"x":1}}}}'), invalid(/constructor/, 'constructor'))
test(refuses, 'invalid UTF-8', body(Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])), invalid(/not valid UTF-8/))
test(refuses, 'an array instead of an object', body('[]'), field(/expected an object \(got \[\]\)/, 'body'))
test(refuses, 'null', body('null'), field(/expected an object \(got null\)/, 'body'))
test(refuses, 'no body at all', {}, field(/`name`.*missing/, 'name'))
test(refuses, 'a field below its bound', body('{"name":""}'), field(/`name`: must have at least 1 character.*got ""/, 'name'))
test(refuses, 'a field above its bound', body('{"name":"a","size":101}'), field(/`size`: must be at most 100.*got 101/, 'size'))
test(refuses, 'a field of the wrong type', body('{"name":"a","size":"7"}'), field(/`size`.*number.*got "7"/, 'size'))
test(refuses, 'an unknown field', body('{"name":"a","nmae":"b"}'), field(/`nmae`: there is no such field/, 'nmae'))
test(refuses, 'an unknown nested field', body('{"name":"a","nested":{"x":1}}'), field(/`nested\.x`: there is no such field/, 'nested.x'))
test(
  refuses,
  'a wrong element',
  body('{"name":"a","nested":{"list":[{"id":"1"}]}}'),
  field(/`nested\.list\[0\]\.id`.*got "1"/, 'nested.list[0].id'),
)
test(
  refuses,
  'the nearest of two shapes',
  body('{"name":"a","either":{"kind":"a","value":"x"}}'),
  field(/`either\.value`.*got "x"/, 'either.value'),
)
test(refuses, 'several faults at once', body('{"name":"","size":0}'), field(/`name`.*`size`/, 'name'))
test(refuses, 'a long wrong value, cut', body(JSON.stringify({ name: 'x'.repeat(5000) })), field(/^.{1,400}$/, 'name'))
test(
  refuses,
  'a text body',
  { headers: { 'content-type': 'text/plain' }, body: '{}' },
  { status: 415, code: 'unsupported_media_type', message: /application\/json, not text\/plain/ },
)
test(
  refuses,
  'a form',
  { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'name=a' },
  { status: 415, code: 'unsupported_media_type', message: /application\/json/ },
)
test(refuses, 'a body without a type', { body: '{}' }, { status: 415, code: 'unsupported_media_type', message: /without a content-type/ })
test(
  refuses,
  'an unknown encoding',
  { headers: { ...json, 'content-encoding': 'zip' }, body: '{}' },
  { status: 415, code: 'unsupported_media_type', message: /content-encoding/ },
)
test(refuses, 'broken gzip', { headers: { ...json, 'content-encoding': 'gzip' }, body: 'not gzip' }, invalid(/cannot be read/))
test(refuses, 'a body over the limit', body(`{"name":"${'x'.repeat(1_100_000)}"}`), {
  status: 413,
  code: 'payload_too_large',
  message: /1048576 bytes/,
})
test(
  refuses,
  'a chunked body over the limit',
  { headers: { ...json, 'transfer-encoding': 'chunked' }, body: `{"name":"${'x'.repeat(1_100_000)}"}` },
  { status: 413, code: 'payload_too_large', message: /1048576 bytes/ },
)
test(
  refuses,
  'a small body that inflates over the limit',
  { headers: { ...json, 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(50_000_000, 0x20)) },
  { status: 413, code: 'payload_too_large', message: /1048576 bytes/ },
)

test('never repeats the value of a secret field', async (t) => {
  const answer = await send(`${app.baseUrl}/v1/probe/echo`, {
    method: 'POST',
    headers: { ...json, 'x-service-api-key': app.adminKey },
    body: '{"name":"sk-abcdefghijklmnop","api_key":"short-secret","nested":{"secret":7}}',
  })
  t.is(answer.status, 400)
  t.notRegex(answer.text, /short-secret|sk-abcdef|got 7/)
  t.regex(answer.text, /api_key.*nested\.secret/)
})

const echo = (headers: Readonly<Record<string, string>>, bytes: string | Uint8Array) =>
  send(`${app.baseUrl}/v1/probe/echo`, { method: 'POST', headers: { 'x-service-api-key': app.adminKey, ...headers }, body: bytes })

const askItem = (query: string) => send(`${app.baseUrl}/v1/probe/items/x?${query}`, { headers: { 'x-service-api-key': app.adminKey } })

test('takes gzip, +json types, and a body that names nothing', async (t) => {
  t.is((await echo({ ...json, 'content-encoding': 'gzip' }, gzipSync('{"name":"zipped"}'))).text, '{"name":"zipped"}')
  t.is((await echo({ 'content-type': 'application/vnd.api+json' }, '{"name":"é"}')).text, '{"name":"é"}')
  t.is((await echo({ 'content-type': 'application/json; charset=utf-8' }, '{"name":"a"}')).status, 200)
})

test('unknown query parameters are ignored, known ones are checked', async (t) => {
  t.is((await askItem('size=3&utm_source=mail')).status, 200)
  t.is((await askItem('size=1&size=3')).text, '{"id":"x","size":3,"inner":{"a":1}}')
  const wrong = await askItem('size=11')
  t.is(wrong.status, 400)
  t.regex(wrong.text, /The query is not valid: `size`: must be at most 10 .*got \\"11\\"/)
})
