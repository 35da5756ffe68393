import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type RawRequest, send, sendJson } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed

const past = Date.now() - 1000
const keys = {
  'gh-expired-key-0000000000000000000': { expiresAt: past },
  'gh-without-scope-00000000000000000': { scopes: new Set(['logs.list']) },
} as const

test.before(async () => {
  const gone = await startEmulator()
  const closed = gone.url
  await gone.stop()
  emulator = await startEmulator()
  bed = await startGateway({
    keys,
    providers: {
      mine: { customHost: emulator.url },
      claude: { provider: 'anthropic', customHost: emulator.url },
      gemini: { provider: 'google', customHost: emulator.url },
      old: { customHost: emulator.url, expiresAt: past },
      public: {},
      palm: { provider: 'palm' },
      keyless: { credential: { key: null, fields: {} } },
      unreachable: { customHost: closed },
    },
    settings: { maxJsonBytes: 64 * 1024, maxUploadBytes: 256 * 1024 },
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

const mine = { 'x-service-api-key': workspaceKey, 'x-service-provider': '@mine' }
const json = { 'content-type': 'application/json' }
const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
const keyOnly = { 'x-service-api-key': workspaceKey }
const post = (headers: Readonly<Record<string, string>>, body: string | Uint8Array = chat): RawRequest => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body,
})

interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
    readonly request_id: string
  }
}

const refused = test.macro<[string, RawRequest, number, string, (string | null)?]>({
  async exec(t, path, input, status, code, param) {
    const before = emulator.requests.length
    const answer = await send(`${bed.origin}${path}`, input)
    const { error } = JSON.parse(answer.text) as ErrorBody
    t.is(answer.status, status, error.message)
    t.is(error.code, code, error.message)
    if (param !== undefined) t.is(error.param, param)
    t.is(error.request_id, String(answer.headers['x-request-id']))
    t.true(error.message.length > 20)
    t.false(/127\.0\.0\.1|ECONN|node_modules|sk-stored/.test(answer.text), answer.text)
    t.is(answer.headers['x-should-retry'], status < 500 && status !== 408 ? 'false' : undefined)
    t.is(emulator.requests.length, before, 'nothing reached the provider')
  },
  title: (name = '') => `refused: ${name}`,
})

const chatPath = '/v1/chat/completions'
test.serial('no key', refused, chatPath, post({ 'x-service-provider': '@mine' }), 401, 'unauthorized')
test.serial(
  'a dummy key',
  refused,
  chatPath,
  post({ authorization: 'Bearer DUMMY-KEY', 'x-service-provider': '@mine' }),
  401,
  'unauthorized',
)
test.serial('an unknown key', refused, chatPath, post({ 'x-service-api-key': 'nobody' }), 401, 'unauthorized')
test.serial('an unknown key in Authorization', refused, chatPath, post({ authorization: 'Bearer nobody' }), 401, 'unauthorized')
test.serial('an expired key', refused, chatPath, post({ 'x-service-api-key': 'gh-expired-key-0000000000000000000' }), 401, 'expired_key')
test.serial(
  'a key without the scope',
  refused,
  chatPath,
  post({ 'x-service-api-key': 'gh-without-scope-00000000000000000' }),
  403,
  'forbidden',
)
test.serial('no provider', refused, chatPath, post(keyOnly), 400, 'missing_provider', 'x-service-provider')
const inText = (type: string) => ({ ...keyOnly, 'content-type': type })
const named = (name: string) => ({ ...keyOnly, authorization: 'Bearer sk-own', 'x-service-provider': name })
const modelled = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })

/** The refusal of a slip names the remedy. */
const slips: readonly (readonly [title: string, input: RawRequest, status: number, says: RegExp, param: string])[] = [
  [
    'JSON as a form, as curl sends it',
    post(inText('application/x-www-form-urlencoded'), modelled('@mine/m')),
    400,
    /content-type: application\/json/,
    'content-type',
  ],
  ['JSON as plain text', post(inText('text/plain'), modelled('@mine/m')), 400, /"text\/plain" is not read for its model/, 'content-type'],
  ['another name of Google', post(named('gemini')), 400, /Did you mean "google"\?/, 'x-service-provider'],
  ['a misspelt other name of Google', post(named('gemni')), 400, /Did you mean "google"\?/, 'x-service-provider'],
  [
    'another name of Google in a config',
    post({ ...keyOnly, 'x-service-config': '{"provider":"gemini"}' }),
    400,
    /config\.provider: .*Did you mean "google"\?/,
    'config.provider',
  ],
  ['another name of Azure', post(named('azure')), 400, /Did you mean "azure-openai"\?/, 'x-service-provider'],
  ['a misspelt provider', post(named('openia')), 400, /Did you mean "openai"\?/, 'x-service-provider'],
  ['another name of Vertex, in other letters', post(named('Vertex_AI')), 400, /Did you mean "vertex-ai"\?/, 'x-service-provider'],
  [
    'two providers',
    post({ ...mine }, modelled('@claude/claude-opus-4-5')),
    400,
    /names the provider @mine, and the model names @claude/,
    'model',
  ],
  [
    'a provider’s key alone',
    post({ authorization: 'Bearer sk-proj-1', 'x-service-provider': 'openai' }),
    401,
    /begin with gh-.*x-service-api-key/,
    'x-service-api-key',
  ],
]
for (const [title, input, status, says, param] of slips)
  test.serial(`a refusal helps: ${title}`, async (t) => {
    const answer = await send(`${bed.origin}${chatPath}`, input)
    t.is(answer.status, status, answer.text)
    const { error } = JSON.parse(answer.text) as ErrorBody
    t.regex(error.message, says)
    t.is(error.param, param)
  })
test.serial('a word that is near no provider gets no suggestion', async (t) => {
  const { text } = await send(`${bed.origin}${chatPath}`, post(named('our-own-cluster')))
  t.notRegex(text, /Did you mean/)
})

const message = async (path: string, key: string) => {
  const { text } = await send(`${bed.origin}${path}`, post({ 'x-service-api-key': key }))
  return (JSON.parse(text) as ErrorBody).error.message
}
test.serial('a form that names no provider learns of all three ways', async (t) => {
  const headers = { ...keyOnly, 'content-type': 'multipart/form-data; boundary=b' }
  const body = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b--\r\n'
  const { text } = await send(`${bed.origin}/v1/audio/transcriptions`, { method: 'POST', headers, body })
  t.like((JSON.parse(text) as ErrorBody).error, { code: 'missing_provider', param: 'x-service-provider' })
  t.regex(text, /x-service-virtual-key, or a model/)
})
test.serial("a misspelt path of the control plane is told to be taken for a provider's; a path of ours is not", async (t) => {
  const told = /\/v1\/prompt is no path of Gatehouse's own, and is taken for a provider's\.$/
  t.regex(await message('/v1/prompt?page_size=1', workspaceKey), told)
  t.regex(await message('/v1/prompt', 'gh-without-scope-00000000000000000'), told)
  t.notRegex(await message(chatPath, workspaceKey), /taken for/)
  t.notRegex(await message(chatPath, 'gh-without-scope-00000000000000000'), /taken for/)
})
test.serial('a path that is nearly one of ours is named with it', async (t) => {
  const near = [
    ['/v1/chat/completion', '/v1/chat/completions'],
    ['/v1/embedings?a=b', '/v1/embeddings'],
    ['/v1/chat/compeltions', '/v1/chat/completions'],
  ] as const
  for (const [path, meant] of near) t.true((await message(path, workspaceKey)).endsWith(` Did you mean ${meant}?`), path)
  for (const path of ['/v1/prompt', `/v1/chat/completion${'s'.repeat(200)}`, '/v1/x'])
    t.notRegex(await message(path, workspaceKey), /Did you mean/, path)
})
test.serial(
  'Bearer with nothing behind it, as of an unset variable',
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-provider': 'openai', authorization: 'Bearer ' }),
  400,
  'missing_credential',
  'authorization',
)
test.serial(
  'an unknown provider',
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-provider': 'nobody' }),
  400,
  'unknown_provider',
  'x-service-provider',
)
test.serial(
  "a provider named like an object's insides",
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-provider': '__proto__' }),
  400,
  'unknown_provider',
  'x-service-provider',
)
test.serial(
  'an unknown slug',
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-provider': '@nobody' }),
  400,
  'unknown_provider',
  'x-service-provider',
)
test.serial('an API that has ended', refused, chatPath, post({ ...keyOnly, 'x-service-provider': '@palm' }), 400, 'unsupported_operation')
test.serial('an API that has ended names what is there in its place, for paths of its own too', async (t) => {
  const headers = { ...keyOnly, 'x-service-provider': 'palm', authorization: 'Bearer own' }
  const { status, text } = await send(`${bed.origin}/v1/models/text-bison-001:generateText`, post(headers))
  t.is(status, 400)
  t.like((JSON.parse(text) as ErrorBody).error, { code: 'unsupported_operation', param: 'x-service-provider' })
  t.regex(text, /The API of the provider palm has ended.*Use the provider google in its place/)
})
test.serial(
  'an unknown virtual key',
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-virtual-key': 'nobody' }),
  400,
  'unknown_provider',
  'x-service-virtual-key',
)
test.serial('an unknown slug in the model', refused, chatPath, post(keyOnly, '{"model":"@nobody/m"}'), 400, 'unknown_provider', 'model')
test.serial('an expired provider', refused, chatPath, post({ ...keyOnly, 'x-service-provider': '@old' }), 403, 'forbidden')
test.serial(
  'a provider by name without its key',
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-provider': 'openai' }),
  400,
  'missing_credential',
  'authorization',
)
test.serial(
  "our key is not the provider's",
  refused,
  chatPath,
  post({ authorization: `Bearer ${workspaceKey}`, 'x-service-provider': 'openai' }),
  400,
  'missing_credential',
  'authorization',
)
test.serial(
  'a provider without a host of its own',
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-provider': 'ollama' }),
  400,
  'missing_provider',
  'x-service-custom-host',
)
test.serial('a config', refused, chatPath, post({ ...mine, 'x-service-config': 'pc-1' }), 400, 'invalid_request', 'x-service-config')
test.serial(
  'a stored credential to another host',
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-provider': '@public', 'x-service-custom-host': 'https://attacker.example' }),
  400,
  'blocked_host',
  'x-service-custom-host',
)
test.serial(
  'a stored credential to another port',
  refused,
  chatPath,
  post({ ...mine, 'x-service-custom-host': 'http://127.0.0.1:1/v1' }),
  400,
  'blocked_host',
  'x-service-custom-host',
)
for (const host of [
  'http://169.254.169.254/',
  'http://10.0.0.1',
  'http://[::1]',
  'http://localhost',
  'http://metadata.google.internal',
  'file:///etc/passwd',
  'http://user:pass@example.com',
  'not a url',
])
  test.serial(
    `the host ${host}`,
    refused,
    chatPath,
    post({ ...keyOnly, 'x-service-provider': 'openai', authorization: 'Bearer sk', 'x-service-custom-host': host }),
    400,
    'blocked_host',
    'x-service-custom-host',
  )

const ofLogs: readonly (readonly [name: string, value: string])[] = [
  ...['0', 'no', 'off'].map((debug) => ['x-service-debug', debug] as const),
  ['x-service-sensitive-headers', Array.from({ length: 33 }, (_, at) => `x-${at}`).join(', ')],
]
for (const [name, value] of ofLogs)
  test.serial(`what the log keeps: ${name}: ${value}`, refused, chatPath, post({ ...mine, [name]: value }), 400, 'invalid_request', name)
test.serial(
  'a stored provider without a key',
  refused,
  chatPath,
  post({ ...keyOnly, 'x-service-provider': '@keyless', authorization: 'Bearer sk' }),
  400,
  'missing_credential',
  'x-service-provider',
)
test.serial(
  'two content-types',
  refused,
  '/v1/chat/completions/',
  { method: 'POST', headers: { ...mine, 'content-type': ['application/octet-stream', 'application/json'] }, body: chat },
  400,
  'invalid_request',
  'content-type',
)
test.serial('malformed JSON', refused, chatPath, post(mine, '{"model":'), 400, 'invalid_request')
test.serial('an empty body', refused, chatPath, post(mine, ''), 400, 'invalid_request', 'body')
test.serial('an array', refused, chatPath, post(mine, '[]'), 400, 'invalid_request', 'body')
test.serial('129 levels', refused, chatPath, post(mine, `${'['.repeat(129)}${']'.repeat(129)}`), 400, 'invalid_request')
test.serial('__proto__', refused, chatPath, post(mine, '{"model":"m","__proto__":{"a":1}}'), 400, 'invalid_request', '__proto__')
test.serial(
  '__proto__ in escapes',
  refused,
  chatPath,
  post(mine, '{"model":"m","\\u005f_proto__":{"a":1}}'),
  400,
  'invalid_request',
  '__proto__',
)
test.serial('invalid UTF-8', refused, chatPath, post(mine, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 400, 'invalid_request')
test.serial(
  'JSON that is too large',
  refused,
  chatPath,
  post(mine, JSON.stringify({ model: 'm', x: 'x'.repeat(70_000) })),
  413,
  'payload_too_large',
  'body',
)
test.serial(
  'chunked JSON that is too large',
  refused,
  chatPath,
  post({ ...mine, 'transfer-encoding': 'chunked' }, JSON.stringify({ model: 'm', x: 'x'.repeat(70_000) })),
  413,
  'payload_too_large',
  'body',
)
test.serial(
  'a declared upload that is too large',
  refused,
  '/v1/files',
  { method: 'POST', headers: { ...mine, 'content-type': 'multipart/form-data; boundary=x' }, body: 'x'.repeat(300_000) },
  413,
  'payload_too_large',
  'body',
)
test.serial(
  'a form where JSON is due',
  refused,
  chatPath,
  { method: 'POST', headers: { ...mine, 'content-type': 'application/x-www-form-urlencoded' }, body: 'model=m' },
  415,
  'unsupported_media_type',
  'content-type',
)
test.serial(
  'completions without a stored credential',
  refused,
  '/v1/completions',
  post({ ...keyOnly, 'x-service-provider': 'openai', authorization: 'Bearer sk' }, '{"model":"m","prompt":"p"}'),
  400,
  'missing_credential',
  'x-service-virtual-key',
)
test.serial(
  'a completion out of bounds',
  refused,
  '/v1/completions',
  post({ ...keyOnly, 'x-service-virtual-key': 'mine' }, '{"model":"m","prompt":"p","temperature":3}'),
  400,
  'invalid_request',
  'temperature',
)
test.serial(
  'a page out of bounds',
  refused,
  '/v1/batches?limit=101',
  { headers: { ...keyOnly, 'x-service-virtual-key': 'mine' } },
  400,
  'invalid_request',
  'limit',
)
test.serial(
  'a page out of bounds, before anything is read',
  refused,
  '/v1/threads/t/messages?limit=0',
  { headers: { ...keyOnly, 'x-service-virtual-key': 'mine' } },
  400,
  'invalid_request',
  'limit',
)
test.serial(
  'a format that the provider does not speak',
  refused,
  '/v1/batches',
  post({ ...keyOnly, 'x-service-provider': '@gemini' }),
  400,
  'unsupported_operation',
)
const ofClaude = { ...keyOnly, 'x-service-provider': '@claude' }
for (const [path, request] of [
  ['/v1/batches', post(ofClaude, '{}')],
  ['/v1/batches', { headers: ofClaude }],
  ['/v1/batches/b1', { headers: ofClaude }],
  ['/v1/batches/b1/cancel', post(ofClaude, '{}')],
  ['/v1/fine_tuning/jobs', post(ofClaude, '{"model":"m","training_file":"f","suffix":"s","method":{"type":"supervised"}}')],
  ['/v1/fine_tuning/jobs', { headers: ofClaude }],
  ['/v1/threads/t1/messages', { headers: ofClaude }],
] as const)
  test.serial(
    `a path of OpenAI's that Anthropic has not: ${request.method ?? 'GET'} ${path}`,
    refused,
    path,
    request,
    400,
    'unsupported_operation',
  )
test.serial('files stand at the same path at Anthropic', async (t) => {
  await send(`${bed.origin}/v1/files`, { headers: ofClaude })
  t.regex(emulator.requests.at(-1)?.url ?? '', /\/v1\/files$/)
})
test.serial('dot segments', refused, '/v1/a/%2e%2E/b', { headers: mine }, 400, 'invalid_request', 'path')
test.serial('no path', refused, '/v1/', { headers: mine }, 404, 'not_found')
test.serial(
  'metadata that is no JSON',
  refused,
  '/v1/models',
  { headers: { ...mine, 'x-service-metadata': 'team=a' } },
  400,
  'invalid_request',
  'x-service-metadata',
)
test.serial(
  'metadata that is nested',
  refused,
  '/v1/models',
  { headers: { ...mine, 'x-service-metadata': '{"a":{}}' } },
  400,
  'invalid_request',
  'x-service-metadata',
)
test.serial(
  'a timeout that is no number',
  refused,
  '/v1/models',
  { headers: { ...mine, 'x-service-request-timeout': '-5' } },
  400,
  'invalid_request',
  'x-service-request-timeout',
)
test.serial(
  'a host that refuses the connection',
  refused,
  '/v1/models',
  { headers: { ...keyOnly, 'x-service-provider': '@unreachable' } },
  502,
  'upstream_unreachable',
)

test.serial('callers of Anthropic paths get errors in its shape', async (t) => {
  const answer = await sendJson(`${bed.origin}/v1/messages`, { 'x-api-key': 'nobody' }, {})
  t.is(answer.status, 401)
  const body = JSON.parse(answer.text) as { type: string; error: { type: string; message: string }; request_id: string }
  t.is(body.type, 'error')
  t.is(body.error.type, 'authentication_error')
  t.is(body.request_id, String(answer.headers['request-id']))
})

test.serial('a refused body that never ends is answered, and then cut off', async (t) => {
  const socket = connect(Number(new URL(bed.origin).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${workspaceKey}\r\nx-service-provider: @mine\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
  )
  const feed = setInterval(() => socket.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`), 5)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(feed)
  t.regex(text, /^HTTP\/1\.1 413 /)
  t.is(bed.gateway.inflight(), 0)
})
