import * as zlib from 'node:zlib'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { readMultipart } from '../../support/emulator/multipart.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send, sendJson } from '../../support/http.ts'

const readingKey = 'gh-test-key-that-only-reads-00000000'

let emulator: Emulator
let google: Emulator
let bed: GatewayBed

const geminis = JSON.stringify({ models: [{ name: 'models/gemini-2.5-flash', displayName: 'Gemini 2.5 Flash' }] })

const rules = (allowAll: boolean, ...names: string[]) => ({
  models: { allowAll, named: new Map(names.map((name) => [name, { enabled: !allowAll, customHost: null }])) },
})

test.before(async () => {
  ;[emulator, google] = await Promise.all([startEmulator(), startEmulator()])
  google.script({ behaviour: { status: 200, headers: { 'content-type': 'application/json' }, body: geminis } })
  const stored = { provider: 'openai', customHost: emulator.url } as const
  bed = await startGateway({
    providers: {
      open: stored,
      some: { ...stored, ...rules(false, 'gpt-mini', 'whisper-1') },
      most: { ...stored, ...rules(true, 'gpt-4o') },
      gemini: { provider: 'google', customHost: google.origin },
      closed: { ...stored, allowed: false },
      away: { provider: 'openai', customHost: 'http://127.0.0.1:1' },
    },
    enabledModels: { some: ['gpt-mini', 'whisper-1'], away: ['own-model'], closed: ['hidden'] },
    keys: { [readingKey]: { scopes: new Set(['logs.view']) } },
    configs: { 'pc-open': { provider: '@open' } },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await emulator?.stop()
  await google?.stop()
})

const bearer = { authorization: `Bearer ${workspaceKey}` }
const anthropic = { 'x-api-key': workspaceKey, 'anthropic-version': '2023-06-01' }
const get = async (path: string, headers: Readonly<Record<string, string>> = bearer) => {
  const { status, text, headers: sent } = await send(`${bed.origin}${path}`, { headers })
  return { status, body: JSON.parse(text), requestId: sent['request-id'] }
}
const idsOf = ({ data }: { readonly data: readonly { readonly id: string }[] }) => data.map(({ id }) => id)

test.serial('GET /models with a key alone lists what its providers offer', async (t) => {
  const live = idsOf(JSON.parse((await send(`${emulator.url}/models`)).text))
  const { status, body } = await get('/v1/models')
  t.is(status, 200)
  t.is(body.object, 'list')
  const expected = [
    ...live.map((id) => `@open/${id}`),
    '@some/gpt-mini',
    '@some/whisper-1',
    ...live.filter((id) => id !== 'gpt-4o').map((id) => `@most/${id}`),
    '@gemini/gemini-2.5-flash',
    '@away/own-model',
  ]
  t.deepEqual(idsOf(body).toSorted(), expected.toSorted())
  t.like(body.data[0], { object: 'model', owned_by: 'openai' })
  t.true(body.data.every(({ created }: { created: unknown }) => Number.isInteger(created)))
  const asked = emulator.requests.filter(({ url }) => url === '/v1/models').length
  await get('/v1/models')
  t.is(emulator.requests.filter(({ url }) => url === '/v1/models').length, asked)
})

test('one model, however its name is escaped', async (t) => {
  for (const path of ['/v1/models/@some/gpt-mini', '/v1/models/%40some%2Fgpt-mini']) {
    t.like((await get(path)).body, { id: '@some/gpt-mini', object: 'model' })
  }
  t.like((await get('/v1/models/@some%2Fgpt-mini', anthropic)).body, { id: '@some/gpt-mini', type: 'model', display_name: 'gpt-mini' })
  for (const path of ['/v1/models/@some/gpt-4o', '/v1/models/@most/gpt-4o', '/v1/models/@closed/hidden', '/v1/models/gpt-mini']) {
    const { status, body } = await get(path)
    t.is(status, 404, path)
    t.like(body.error, { code: 'not_found', param: 'model' })
  }
})

test.serial('the list of the stored providers can be asked for although a provider is named', async (t) => {
  const named = { ...bearer, 'x-service-provider': '@open' }
  const ours = (await get('/v1/models')).body
  t.false(idsOf((await get('/v1/models', named)).body).includes('@some/gpt-mini'))
  for (const target of [{ 'x-service-provider': '@open' }, { 'x-service-config': 'pc-open' }])
    t.deepEqual((await get('/v1/models', { ...bearer, ...target, 'x-service-fetch-integrated-models': 'True' })).body, ours)
  const unclear = await get('/v1/models', { ...named, 'x-service-fetch-integrated-models': 'yes' })
  t.is(unclear.status, 400)
  t.is(unclear.body.error.param, 'x-service-fetch-integrated-models')
})

test('HEAD is answered like GET, and a key that may not call models is not told of another path', async (t) => {
  const { status, text } = await send(`${bed.origin}/v1/models`, { method: 'HEAD', headers: bearer })
  t.deepEqual([status, text], [200, ''])
  const { status: refusal, body } = await get('/v1/models', { authorization: `Bearer ${readingKey}` })
  t.is(refusal, 403)
  t.regex(body.error.message, /lacks the scope completions\.write.*Use a workspace key that has it\.$/)
})

test("Anthropic's list comes in pages", async (t) => {
  const first = (await get('/v1/models?limit=2', anthropic)).body
  t.like(first, { has_more: true, first_id: first.data[0].id, last_id: first.data[1].id })
  const second = (await get(`/v1/models?limit=1000&after_id=${encodeURIComponent(first.last_id)}`, anthropic)).body
  t.false(second.has_more)
  t.is(new Set([...idsOf(first), ...idsOf(second)]).size, idsOf((await get('/v1/models')).body).length)
  const { status, body } = await get('/v1/models?limit=many', anthropic)
  t.is(status, 400)
  t.like(body, { type: 'error', error: { type: 'invalid_request_error', param: 'limit' } })
})

test('a request that names a provider gets that provider list, as before', async (t) => {
  for (const named of [{ 'x-service-provider': '@open' }, { 'x-service-config': 'pc-open' }]) {
    const { body } = await get('/v1/models', { ...bearer, ...named })
    t.false(idsOf(body).some((id) => id.startsWith('@')))
  }
})

const refused = (path: string, headers: Readonly<Record<string, string>>) => send(`${bed.origin}${path}`, { headers })

test('errors are in the shape of whoever asks', async (t) => {
  const unknown = await refused('/v1/models', { 'x-api-key': 'nobody', 'anthropic-version': '2023-06-01' })
  t.is(unknown.status, 401)
  t.like(JSON.parse(unknown.text), { type: 'error', error: { type: 'authentication_error' } })
  const googles = await refused('/v1beta/models', { 'x-goog-api-key': 'nobody' })
  t.like(JSON.parse(googles.text), { error: { code: 401, status: 'UNAUTHENTICATED' } })
})

const params = ({ issues }: { readonly issues: readonly { readonly param: string }[] }) => issues.map(({ param }) => param).toSorted()

test('every fault of a request is listed, in the shape of whoever asks', async (t) => {
  const config = { 'x-service-config': JSON.stringify({ nope: 1, retry: { attempts: 99 } }) }
  const ask = async (path: string, headers: Readonly<Record<string, string>>) =>
    JSON.parse(
      (
        await send(`${bed.origin}${path}`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json', ...config },
          body: '{"model":"m"}',
        })
      ).text,
    )
  const wrong = ['config.nope', 'config.retry.attempts']
  t.deepEqual(params((await ask('/v1/chat/completions', bearer)).error), wrong)
  t.deepEqual(params((await ask('/v1/messages', anthropic)).error), wrong)
  const { details } = (await ask('/v1beta/models/m:generateContent', { 'x-goog-api-key': workspaceKey })).error
  t.like(details[1], { '@type': 'type.googleapis.com/google.rpc.BadRequest' })
  t.deepEqual(details[1].fieldViolations.map(({ field }: { readonly field: string }) => field).toSorted(), wrong)
})

const part = (name: string, content: string, more = '') =>
  `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
const file = part('file', 'RIFF\r\n--not-the-boundary\r\n'.repeat(20_000), '; filename="a.wav"\r\ncontent-type: audio/wav')

const closed = (parts: string) => `${parts}--b--\r\n`

for (const [order, parts] of [
  ['the model first', (model: string) => part('model', model) + file],
  ['the model last', (model: string) => file + part('language', 'en') + part('model', model)],
] as const)
  for (const slug of ['open', 'some'])
    for (const chunked of [false, true])
      test(`a form names its provider: @${slug}, ${order}${chunked ? ', chunked' : ''}`, async (t) => {
        const arrived = emulator.next(`/v1/audio/transcriptions?t=${slug}${order.length}${chunked}`)
        const { status, text } = await send(`${bed.origin}/v1/audio/transcriptions?t=${slug}${order.length}${chunked}`, {
          method: 'POST',
          headers: {
            ...bearer,
            'content-type': 'multipart/form-data; boundary=b',
            ...(chunked && { 'transfer-encoding': 'chunked' }),
          },
          body: closed(parts(`@${slug}/whisper-1`)),
        })
        t.is(status, 200, text)
        const { body, headers } = await arrived
        t.is(body.toString(), closed(parts('whisper-1')))
        t.is(headers.authorization, `Bearer sk-stored-${slug}`)
        t.is(
          readMultipart(headers['content-type'] ?? '', body)
            .find(({ name }) => name === 'model')
            ?.content.toString(),
          'whisper-1',
        )
      })

const postForm = (parts: string) =>
  send(`${bed.origin}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'multipart/form-data; boundary=b' },
    body: closed(parts),
  })

test('a form whose model is not enabled is refused, and one without a model too', async (t) => {
  t.is((await postForm(part('model', '@some/gpt-4o') + file)).status, 403)
  t.like(JSON.parse((await postForm(file)).text), { error: { code: 'missing_provider' } })
  t.like(JSON.parse((await postForm(part('model', 'open/whisper-1') + file)).text), { error: { code: 'missing_provider', param: 'model' } })
})

const chat = { model: '@open/gpt-mini', messages: [{ role: 'user', content: 'é'.repeat(2000) }] }
const codings = {
  gzip: zlib.gzipSync,
  br: zlib.brotliCompressSync,
  deflate: zlib.deflateSync,
  zstd: zlib.zstdCompressSync,
} as const

for (const [coding, fold] of Object.entries(codings))
  test(`a body in ${coding} is read, and goes on plain`, async (t) => {
    const path = `/v1/chat/completions?coding=${coding}`
    const arrived = emulator.next(path)
    const { status, text } = await send(`${bed.origin}${path}`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json', 'content-encoding': coding },
      body: fold(JSON.stringify(chat)),
    })
    t.is(status, 200, text)
    const { json, headers } = await arrived
    t.deepEqual(json, { ...chat, model: 'gpt-mini' })
    t.is(headers['content-encoding'], undefined)
  })

const postGzip = (body: Uint8Array) =>
  send(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body,
  })

test('of a body in another coding the model is not read, and the refusal says so', async (t) => {
  const { status, text } = await send(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', 'content-encoding': 'compress' },
    body: JSON.stringify(chat),
  })
  t.is(status, 400)
  t.like(JSON.parse(text), { error: { code: 'missing_provider', param: 'content-encoding' } })
  t.regex(text, /content-encoding \\"compress\\" is not read for its model\. Send x-service-provider/)
})

test('a bomb, and bytes that are not what they say', async (t) => {
  const bomb = await postGzip(zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')))
  t.is(bomb.status, 413)
  t.regex(bomb.text, /unfolds to more than 10485760 bytes/)
  const lie = await postGzip(Buffer.from('{}'))
  t.is(lie.status, 400)
  t.like(JSON.parse(lie.text), { error: { param: 'content-encoding' } })
})

const contents = { contents: [{ parts: [{ text: 'hi' }] }] }
const ways = {
  'the key header': ['', { 'x-goog-api-key': workspaceKey }],
  'the query': [`?key=${workspaceKey}&alt=sse`, {}],
} as const
for (const [way, [search, headers]] of Object.entries(ways))
  for (const model of ['@gemini/gemini-2.5-flash', '%40gemini%2Fgemini-2.5-flash'])
    test(`Google's door by ${way}: ${model}`, async (t) => {
      const before = google.requests.length
      const { status, text } = await sendJson(`${bed.origin}/v1beta/models/${model}:generateContent${search}`, headers, contents)
      t.is(status, 200, text)
      const received = google.requests.slice(before).find(({ method, url }) => method === 'POST' && url.includes(':generateContent'))
      const [path, query] = (received?.url ?? '').split('?')
      t.is(path, '/v1beta/models/gemini-2.5-flash:generateContent')
      t.is(new URLSearchParams(query).get('key'), null, 'no credential stands in a URL')
      t.is(received?.headers['x-goog-api-key'], 'sk-stored-gemini')
      t.deepEqual(received?.json, contents)
      t.false(JSON.stringify(received?.rawHeaders).includes(workspaceKey))
      t.false(bed.logged.some(({ record }) => JSON.stringify(record).includes(workspaceKey)))
    })

test('the log of a call to Google names the model of the path when a header names the provider', async (t) => {
  const headers = { 'x-goog-api-key': workspaceKey, 'x-service-provider': '@gemini', 'x-service-trace-id': 'by-header' }
  const { status, text } = await sendJson(`${bed.origin}/v1beta/models/gemini-2.5-flash:generateContent`, headers, contents)
  t.is(status, 200, text)
  t.is(bed.logged.find(({ record }) => record.traceId === 'by-header')?.record.model, 'gemini-2.5-flash')
})

test('a client of Google may leave /models out of the path, and repeat the model in the body', async (t) => {
  const model = '@gemini/gemini-embedding-001'
  const parts = [{ text: 'hi' }]
  const requests = [{ content: { parts }, model: `models/${model}` }, { model: `models/${model}` }]
  const { status, text } = await sendJson(
    `${bed.origin}/v1beta/${model}:batchEmbedContents?t=bare`,
    { 'x-goog-api-key': workspaceKey },
    { requests },
  )
  t.is(status, 200, text)
  const received = google.requests.find(({ url }) => url.includes('t=bare'))
  t.true(received?.url.startsWith('/v1beta/models/gemini-embedding-001:batchEmbedContents?'), received?.url)
  t.deepEqual(received?.json, {
    requests: [{ content: { parts }, model: 'models/gemini-embedding-001' }, { model: 'models/gemini-embedding-001' }],
  })
  const counted = { generateContentRequest: { ...contents, model: `models/${model}` } }
  await sendJson(`${bed.origin}/v1beta/models/${model}:countTokens?t=count`, { 'x-goog-api-key': workspaceKey }, counted)
  t.deepEqual(google.requests.find(({ url }) => url.includes('t=count'))?.json, {
    generateContentRequest: { ...contents, model: 'models/gemini-embedding-001' },
  })
})

test('Google clients may name the provider in a header, and list models', async (t) => {
  const key = { 'x-goog-api-key': workspaceKey }
  const path = '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse'
  await sendJson(`${bed.origin}${path}`, { ...key, 'x-service-provider': '@gemini' }, contents)
  t.true(google.requests.some(({ url, headers }) => url === path && headers['x-goog-api-key']?.toString().startsWith('sk-stored')))
  const { body } = await get('/v1beta/models?pageSize=1', key)
  t.is(body.models.length, 1)
  t.is(body.nextPageToken, '1')
  const rest = (await get('/v1beta/models?pageToken=1', key)).body.models
  t.true(rest.some(({ name }: { name: string }) => name === 'models/@gemini/gemini-2.5-flash'))
})

test('a stored slug without its @ is told', async (t) => {
  const { text } = await sendJson(`${bed.origin}/v1/chat/completions`, bearer, { ...chat, model: 'open/gpt-mini' })
  t.like(JSON.parse(text), { error: { code: 'missing_provider', param: 'model' } })
  t.regex(text, /did you mean the model \\"@open\/gpt-mini\\"\?/)
  for (const model of ['@open', '@open/', '@/gpt-mini']) {
    const refusal = await sendJson(`${bed.origin}/v1/chat/completions`, bearer, { ...chat, model })
    t.like(JSON.parse(refusal.text), { error: { code: 'missing_provider', param: 'model' } })
    t.true(refusal.text.includes(`${model}\\" names no provider with a model: write @slug/model.`), refusal.text)
  }
  const long = await sendJson(`${bed.origin}/v1/chat/completions`, bearer, { ...chat, model: `open/${'x'.repeat(100_000)}` })
  t.true(long.text.length < 2000)
})

const configured = [
  [
    'replaces that of the path',
    'gemini-2.5-pro',
    'gemini-2.5-flash',
    { provider: '@gemini', override_params: { model: 'gemini-2.5-pro' } },
  ],
  ['names the provider too', 'gemini-2.5-pro', 'gemini-2.5-flash', { override_params: { model: '@gemini/gemini-2.5-pro' } }],
  ['replaces one with its provider', 'gemini-2.5-pro', '@gemini/x', { provider: '@gemini', override_params: { model: 'gemini-2.5-pro' } }],
  ['is a default, which no path needs', 'gemini-2.5-flash', 'gemini-2.5-flash', { provider: '@gemini', default_params: { model: 'x' } }],
] as const
for (const [title, model, asked, config] of configured)
  test(`the model that a config sets for clients of Google ${title}`, async (t) => {
    const trace = title.replaceAll(/\W/g, '-')
    const headers = { 'x-goog-api-key': workspaceKey, 'x-service-config': JSON.stringify(config) }
    const path = `${bed.origin}/v1beta/models/${asked}:countTokens?t=${trace}`
    const { status, text } = await sendJson(path, headers, { generateContentRequest: { ...contents, model: `models/${asked}` } })
    t.is(status, 200, text)
    const received = google.requests.find(({ url }) => url.includes(`t=${trace}`))
    t.is(received?.url.split('?')[0], `/v1beta/models/${model}:countTokens`)
    t.deepEqual(received?.json, { generateContentRequest: { ...contents, model: `models/${model}` } })
  })

for (const model of ['', '../../files', 7, null])
  test(`a config sets no model ${JSON.stringify(model)} for clients of Google`, async (t) => {
    const config = JSON.stringify({ provider: '@gemini', override_params: { model } })
    const headers = { 'x-goog-api-key': workspaceKey, 'x-service-config': config }
    const { status, text } = await sendJson(`${bed.origin}/v1beta/models/gemini-2.5-flash:generateContent`, headers, contents)
    t.is(status, 400)
    t.regex(text, /override_params\.model of the config must be the name of a model/)
  })
