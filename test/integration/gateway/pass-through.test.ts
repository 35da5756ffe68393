import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send, sendJson } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  const onlyGpt = { allowAll: false, named: new Map([['gpt-4o', { enabled: true, customHost: null }]]) }
  bed = await startGateway({ providers: { mine: { customHost: emulator.url }, few: { customHost: emulator.url, models: onlyGpt } } })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

const auth = { 'x-service-api-key': workspaceKey, 'x-service-provider': '@mine' }

interface Echo {
  method: string
  url: string
  rawHeaders: string[]
  length: number
  sha256: string
}

for (const method of ['POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
  test.serial(`${method} reaches any path, with its query and its body`, async (t) => {
    const body = method === 'GET' ? undefined : Buffer.from([0, 1, 2, 250, 255])
    const answer = await send(`${bed.origin}/v1/echo/some%20thing?a=1&a=2&b=%2F`, {
      method,
      headers: { ...auth, ...(body === undefined ? {} : { 'content-type': 'application/x-thing' }) },
      ...(body === undefined ? {} : { body }),
    })
    t.is(answer.status, 200)
    const echo = JSON.parse(answer.text) as Echo
    t.is(echo.method, method)
    t.is(echo.url, '/v1/echo/some%20thing?a=1&a=2&b=%2F')
    t.is(
      echo.sha256,
      createHash('sha256')
        .update(body ?? '')
        .digest('hex'),
    )
  })

test.serial('HEAD gives status and headers alone', async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, { method: 'HEAD', headers: auth })
  t.is(answer.body.length, 0)
  t.is(emulator.requests.findLast((request) => request.url === '/v1/models')?.method, 'HEAD')
})

test("the provider gets the stored key and the caller's headers, and nothing of ours", async (t) => {
  const answer = await sendJson(
    `${bed.origin}/v1/echo`,
    { ...auth, 'X-Custom': 'kept', 'anthropic-beta': 'a,b', cookie: 'c=1', 'x-forwarded-for': '9.9.9.9' },
    { a: 1 },
  )
  const { rawHeaders } = JSON.parse(answer.text) as Echo
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
  t.deepEqual(
    names.toSorted(),
    ['anthropic-beta', 'authorization', 'connection', 'content-length', 'content-type', 'host', 'x-custom'].toSorted(),
  )
  t.is(rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === 'authorization') + 1], 'Bearer sk-stored-mine')
  t.false(JSON.stringify(rawHeaders).includes(workspaceKey))
})

test.serial('status, reason, headers and body come back exactly', async (t) => {
  const remove = emulator.script({
    path: '/teapot',
    behaviour: {
      status: 418,
      statusMessage: 'Short And Stout',
      headers: { 'X-Odd-Case': ['one', 'two'], 'x-ratelimit-remaining': '7' },
      body: '{"odd":  "spacing\\u00e9"}\n',
    },
  })
  const answer = await send(`${bed.origin}/v1/teapot`, { headers: auth })
  remove()
  t.is(answer.status, 418)
  t.is(answer.statusMessage, 'Short And Stout')
  t.is(answer.text, '{"odd":  "spacing\\u00e9"}\n')
  const odd = answer.rawHeaders.flatMap((name, i) => (i % 2 === 0 && name === 'X-Odd-Case' ? [answer.rawHeaders[i + 1]] : []))
  t.deepEqual(odd, ['one', 'two'])
  t.is(answer.headers['x-ratelimit-remaining'], '7')
})

test.serial('a compressed body passes as it is, and its usage is read', async (t) => {
  const log = bed.nextLog()
  const answer = await sendJson(
    `${bed.origin}/v1/chat/completions`,
    { ...auth, 'x-emulate': 'gzip' },
    { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  )
  t.is(answer.headers['content-encoding'], 'gzip')
  t.truthy(JSON.parse(gunzipSync(answer.body).toString()))
  const { record } = await log
  t.is(record.usageSource, 'provider')
  t.true((record.usage?.totalTokens ?? 0) > 0)
})

test.serial('a request body goes on byte for byte', async (t) => {
  const body = '{ "model" : "m",\n  "messages":[ {"role":"user","content":"\\u0041 \\/ é"} ], "unknown_parameter": 1e2 }'
  await send(`${bed.origin}/v1/chat/completions`, { method: 'POST', headers: { ...auth, 'content-type': 'application/json' }, body })
  t.is(
    emulator.requests.findLast((request) => request.url.endsWith('/chat/completions') && request.body.toString() === body)?.body.toString(),
    body,
  )
})

test.serial('model "@slug/model" finds the provider, and only the slug is taken out', async (t) => {
  const body = '{"messages":[{"role":"user","content":"model \\"@mine/x\\""}],  "model": "@mine/gpt-4o"}'
  const answer = await send(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspaceKey}`, 'content-type': 'application/json' },
    body,
  })
  t.is(answer.status, 200)
  const received = emulator.requests.findLast((request) => request.body.includes('gpt-4o'))
  t.is(received?.body.toString(), body.replace('"@mine/gpt-4o"', '"gpt-4o"'))
  t.is(received?.headers.authorization, 'Bearer sk-stored-mine')
})

test.serial('a body in the encoding identity is read as any other', async (t) => {
  for (const provider of ['mine', 'few']) {
    const answer = await send(`${bed.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'content-encoding': 'identity' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], model: `@${provider}/gpt-4o` }),
    })
    t.is(answer.status, 200, answer.text)
    t.like(emulator.requests.at(-1)?.json, { model: 'gpt-4o' })
  }
})

for (const type of ['application/json-seq', 'application/json-lines', 'application/jsonl', 'application/x-ndjson'])
  test.serial(`a list of JSON texts goes on as it is: ${type}`, async (t) => {
    const body = '\u001e{"a":1}\n\u001e{"a":2}\n'
    const answer = await send(`${bed.origin}/v1/echo`, { method: 'POST', headers: { ...auth, 'content-type': type }, body })
    t.is(answer.status, 200, answer.text)
    t.is((JSON.parse(answer.text) as Echo).sha256, createHash('sha256').update(body).digest('hex'))
  })

test.serial('1xx answers are handled', async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, { headers: { ...auth, 'x-emulate': 'early-hints' } })
  t.is(answer.status, 200)
})

test.serial('trailers pass', async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, { headers: { ...auth, 'x-emulate': 'trailers' } })
  t.is(answer.status, 200)
  t.is(answer.trailers['x-checksum'], 'abc123')
})

for (const status of [300, 301, 302, 303, 305, 307, 308, 399])
  test.serial(`a redirect is neither followed nor passed on: ${status}`, async (t) => {
    const headers = { location: `${emulator.url}/v1/elsewhere?signed=secret` }
    const before = emulator.requests.length
    const answer = await send(`${bed.origin}/v1/models`, { headers: { ...auth, 'x-emulate': JSON.stringify({ status, headers }) } })
    t.is(answer.status, 502)
    t.is(answer.headers.location, undefined)
    t.regex(answer.text, new RegExp(`redirect \\(${status}\\) to ${new URL(emulator.url).origin}, which Gatehouse does not follow`))
    t.notRegex(answer.text, /signed/)
    t.is(emulator.requests.length, before + 1)
  })

test.serial('what leads to the copy that the caller holds passes', async (t) => {
  const emulate = JSON.stringify({ status: 304, headers: { etag: '"a"' }, answer: 'empty' })
  const answer = await send(`${bed.origin}/v1/models`, { headers: { ...auth, 'if-none-match': '"a"', 'x-emulate': emulate } })
  t.is(answer.status, 304)
  t.is(answer.headers.etag, '"a"')
})

for (const [name, raw] of [
  ['101 that was not asked for', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
  ['101 without a protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['100 and no more', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['103 and no more', 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'],
  ['199 and no more', 'HTTP/1.1 199 Odd\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 Odd\r\n\r\n'],
] as const)
  test.serial(`a provider that answers with ${name} fails`, async (t) => {
    const answer = await send(`${bed.origin}/v1/models`, { headers: { ...auth, 'x-emulate': JSON.stringify({ raw }) } })
    t.is(answer.status, 502, answer.text)
  })

test.serial('204 has no body', async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, { headers: { ...auth, 'x-emulate': 'no-content' } })
  t.is(answer.status, 204)
  t.is(answer.body.length, 0)
})

test.serial('a large upload streams through', async (t) => {
  const body = Buffer.alloc(20 * 1024 * 1024, 'abcdefghij')
  const answer = await send(`${bed.origin}/v1/echo`, {
    method: 'POST',
    headers: { ...auth, 'content-type': 'multipart/form-data; boundary=x', 'content-length': String(body.length) },
    body,
  })
  const echo = JSON.parse(answer.text) as Echo
  t.is(echo.length, body.length)
  t.is(echo.sha256, createHash('sha256').update(body).digest('hex'))
})

test.serial('a chunked upload streams through', async (t) => {
  const answer = await send(`${bed.origin}/v1/echo`, {
    method: 'POST',
    headers: { ...auth, 'content-type': 'audio/wav', 'transfer-encoding': 'chunked' },
    body: Buffer.alloc(300_000, 'x'),
  })
  t.is((JSON.parse(answer.text) as Echo).length, 300_000)
})

test.serial('answers say what happened, in the prefix that the caller used', async (t) => {
  for (const prefix of ['x-service-', 'x-portkey-']) {
    const answer = await send(`${bed.origin}/v1/models`, {
      headers: { [`${prefix}api-key`]: workspaceKey, [`${prefix}provider`]: '@mine', [`${prefix}trace-id`]: 'trace-1' },
    })
    t.is(answer.status, 200)
    t.is(answer.headers[`${prefix}trace-id`], 'trace-1')
    t.is(answer.headers[`${prefix}provider`], 'openai')
    t.is(answer.headers[`${prefix}retry-attempt-count`], '0')
    t.is(answer.headers[`${prefix}cache-status`], 'DISABLED')
    t.is(answer.headers[`${prefix}last-used-option-index`], 'config')
    t.truthy(answer.headers['x-request-id'])
  }
})

test.serial('a traceparent gives the trace id', async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, {
    headers: { ...auth, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  })
  t.is(answer.headers['x-service-trace-id'], '0af7651916cd43dd8448eb211c80319c')
})

for (const [path, headers] of [
  ['/echo', {}],
  ['/chat/completions', { 'x-service-config': '{"strategy":{"mode":"fallback"},"targets":[{"override_params":{"model":"m"}}]}' }],
] as const)
  test.serial(`the context of a trace goes on to the provider: ${path}`, async (t) => {
    const context = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'congo=t61rcWkgMzE',
      baggage: 'userId=alice,isProduction=false',
    }
    await sendJson(
      `${bed.origin}/v1${path}`,
      { ...auth, ...headers, ...context },
      { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    )
    const { headers: sent } = emulator.requests.findLast(({ url }) => url?.includes(path)) ?? {}
    t.like(sent, context)
  })

for (const traceparent of [
  '00-00000000000000000000000000000000-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
  'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
])
  test.serial(`a traceparent that is not valid gives none: ${traceparent}`, async (t) => {
    const log = bed.nextLog()
    const answer = await send(`${bed.origin}/v1/models`, { headers: { ...auth, traceparent } })
    t.is(answer.headers['x-service-trace-id'], answer.headers['x-service-request-id'])
    t.is((await log).record.parentSpanId, null)
  })

test.serial('an exchange is logged with what it was and what it took', async (t) => {
  const log = bed.nextLog()
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }
  const answer = await sendJson(
    `${bed.origin}/v1/chat/completions?x=1&api_key=sk-hidden`,
    { ...auth, 'x-service-metadata': '{"team":"search","n":1}' },
    body,
  )
  const { record, bodies } = await log
  t.is(record.status, 200)
  t.is(record.outcome, 'complete')
  t.is(record.operation, 'chatComplete')
  t.is(record.provider, 'openai')
  t.is(record.providerSlug, 'mine')
  t.is(record.model, 'gpt-4o')
  t.is(record.path, '/chat/completions?x=1&api_key=[removed]')
  t.deepEqual({ ...record.metadata }, { team: 'search', n: '1' })
  t.is(record.responseBytes, answer.body.length)
  t.is(Buffer.from(bodies.request ?? []).toString(), JSON.stringify(body))
  t.is(Buffer.from(bodies.response ?? []).toString(), answer.text)
  t.true(record.durationMs >= (record.upstreamMs ?? Infinity))
  t.false(JSON.stringify(record).includes('sk-'))
})

for (const debug of ['false', 'FALSE', 'False'])
  test.serial(`bodies stay out of the log when the caller says so: ${debug}`, async (t) => {
    const log = bed.nextLog()
    await sendJson(`${bed.origin}/v1/embeddings`, { ...auth, 'x-service-debug': debug }, { model: 'm', input: 'x' })
    const { bodies } = await log
    t.deepEqual(bodies, { request: null, response: null, requestTruncated: false, responseTruncated: false })
  })

test.serial('what a request says of itself in UTF-8 is kept as it was meant, and told so', async (t) => {
  for (const text of ['Zürich', '東京 🗼']) {
    const log = bed.nextLog()
    const wire = Buffer.from(text).toString('latin1')
    const answer = await send(`${bed.origin}/v1/models`, {
      headers: { ...auth, 'x-service-metadata': JSON.stringify({ team: wire }), 'x-service-trace-id': wire, 'x-service-span-name': wire },
    })
    t.is(answer.status, 200, answer.text)
    t.is(answer.headers['x-service-trace-id'], wire)
    const { record } = await log
    t.deepEqual({ ...record.metadata }, { team: text })
    t.like(record, { traceId: text, spanName: text })
  }
})

test.serial('what is latin1 and no UTF-8 is kept as latin1', async (t) => {
  const log = bed.nextLog()
  await send(`${bed.origin}/v1/models`, { headers: { ...auth, 'x-service-metadata': '{"team":"Z\u00fcrich"}' } })
  t.deepEqual({ ...(await log).record.metadata }, { team: 'Zürich' })
})

test.serial("an answer has the ids that both kinds of clients read, and a provider's own stay", async (t) => {
  const ours = await send(`${bed.origin}/v1/models`, { headers: auth })
  t.is(ours.headers['request-id'], ours.headers['x-service-request-id'])
  t.is(ours.headers['x-request-id'], ours.headers['x-service-request-id'])
  const behaviour = { headers: { 'request-id': 'req_1', 'x-request-id': 'req_2' } }
  const theirs = await send(`${bed.origin}/v1/models`, { headers: { ...auth, 'x-emulate': JSON.stringify(behaviour) } })
  t.is(theirs.headers['request-id'], 'req_1')
  t.is(theirs.headers['x-request-id'], 'req_2')
})

test.serial('a key of ours in the path or the query goes neither to the provider nor into the log', async (t) => {
  const hidden = Buffer.from(workspaceKey).toString('hex').replaceAll(/../g, '%$&')
  for (const [path, param, shown] of [
    [`/foo/${workspaceKey}`, 'path', '/foo/[removed]'],
    [`/foo/${workspaceKey}/bar?x=1`, 'path', '/foo/[removed]/bar?x=1'],
    [`/foo/${hidden}`, 'path', '/foo/[removed]'],
    [`/foo?x=${workspaceKey}`, 'x', '/foo?[removed]'],
    [`/foo?${workspaceKey}`, 'query', '/foo?[removed]'],
    [`/foo/${workspaceKey}?x=${workspaceKey}`, 'x', '/foo/[removed]?[removed]'],
  ] as const) {
    const [log, before] = [bed.nextLog(), emulator.requests.length]
    const answer = await send(`${bed.origin}/v1${path}`, { headers: auth })
    t.is(answer.status, 400)
    t.like((JSON.parse(answer.text) as { error: object }).error, { code: 'invalid_request', param })
    t.is((await log).record.path, shown)
    t.is(emulator.requests.length, before)
  }
})
