import test from 'ava'
import OpenAI, { toFile } from 'openai'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, type Received, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Predictions of Replicate's: jobs that are asked for until they have ended, streams and files at addresses of their own. */
let cloud: Emulator
let elsewhere: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  elsewhere = await startEmulator()
  bed = await startGateway({
    providers: { rep: { provider: 'replicate', customHost: `${cloud.origin}/v1`, credential: { key: 'r8_secret', fields: {} } } },
    settings: { requestTimeoutMs: 3000 },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
  await elsewhere?.stop()
})
test.beforeEach(() => {
  cloud.reset()
  elsewhere.reset()
})

const openai = () => new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 })
const asked = { model: '@rep/meta/meta-llama-3-70b-instruct', messages: [{ role: 'user' as const, content: 'Hello' }] }
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

const prediction = (status: string, more: object = {}) => ({
  id: 'p1',
  model: 'meta/meta-llama-3-70b-instruct',
  created_at: '2026-11-23T10:00:00.000Z',
  status,
  output: null,
  error: null,
  metrics: {},
  ...more,
})
const ended = prediction('succeeded', { output: ['Hel', 'lo.'], metrics: { input_token_count: 5, output_token_count: 2 } })
const begins = (more: object = {}) =>
  cloud.script({ method: 'POST', path: /predictions$/, behaviour: json(prediction('starting', more), 201) })

test.serial('a prediction that has ended is the answer; one that runs is asked for until it has', async (t) => {
  cloud.script({ method: 'POST', behaviour: json(ended, 201) })
  const entry = bed.nextLog()
  const { data, response } = await openai()
    .chat.completions.create({ ...asked, max_tokens: 9, seed: 7, user: 'u' })
    .withResponse()
  t.is(response.status, 200)
  t.is(response.headers.get('x-service-dropped-params'), 'user')
  t.like(data, {
    choices: { 0: { message: { content: 'Hello.' }, finish_reason: 'stop' } },
    usage: { prompt_tokens: 5, completion_tokens: 2 },
  })
  t.like(cloud.requests[0], { url: '/v1/models/meta/meta-llama-3-70b-instruct/predictions', headers: { prefer: 'wait=10' } })
  t.deepEqual(cloud.requests[0]?.json, { input: { prompt: 'Hello', max_tokens: 9, seed: 7 } })
  t.like((await entry).record.usage, { inputTokens: 5, outputTokens: 2 })
  cloud.reset()
  begins()
  cloud.script({ method: 'GET', behaviour: json(ended) })
  cloud.script({ method: 'GET', times: 1, behaviour: json(prediction('processing')) })
  t.is((await openai().chat.completions.create(asked)).choices[0]?.message.content, 'Hello.')
  t.deepEqual(
    cloud.requests.map(({ method, url, headers }) => [method, url, headers.authorization]),
    [
      ['POST', '/v1/models/meta/meta-llama-3-70b-instruct/predictions', 'Bearer r8_secret'],
      ['GET', '/v1/predictions/p1', 'Bearer r8_secret'],
      ['GET', '/v1/predictions/p1', 'Bearer r8_secret'],
    ],
  )
})

test.serial('a version and a deployment have paths of their own', async (t) => {
  cloud.script({ method: 'POST', behaviour: json(ended, 201) })
  const version = 'a'.repeat(64)
  await openai().chat.completions.create({ ...asked, model: `@rep/meta/llama:${version}` })
  await openai().chat.completions.create({ ...asked, model: '@rep/deployments/acme/bot' })
  t.like(cloud.requests, { 0: { url: '/v1/predictions', json: { version } }, 1: { url: '/v1/deployments/acme/bot/predictions' } })
})

test.serial('a conversation is told as one, and ends where the model goes on', async (t) => {
  cloud.script({ method: 'POST', behaviour: json(ended, 201) })
  const messages = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'Hi' },
    { role: 'assistant' as const, content: 'Hello' },
    { role: 'user' as const, content: 'Bye' },
  ]
  await openai().chat.completions.create({ ...asked, messages, provider_options: { replicate: { prompt_template: '{prompt}' } } } as never)
  t.deepEqual(cloud.requests[0]?.json['input'], {
    system_prompt: 'Be brief.',
    prompt: 'User: Hi\n\nAssistant: Hello\n\nUser: Bye\n\nAssistant:',
    prompt_template: '{prompt}',
  })
  const replaced = openai().chat.completions.create({ ...asked, provider_options: { replicate: { prompt: 'x' } } } as never)
  t.is((await t.throwsAsync(replaced, { instanceOf: OpenAI.BadRequestError }))?.param, 'provider_options.replicate.prompt')
})

test.serial('a prediction that fails, one that is canceled and one that takes too long are errors', async (t) => {
  begins()
  cloud.script({ method: 'GET', behaviour: json(prediction('failed', { error: 'CUDA out of memory' })) })
  await t.throwsAsync(openai().chat.completions.create(asked), { message: /502 CUDA out of memory/ })
  cloud.script({ method: 'GET', behaviour: json(prediction('canceled')) })
  await t.throwsAsync(openai().chat.completions.create(asked), { message: /502 The prediction was canceled/ })
  cloud.script({ method: 'GET', behaviour: json({ title: 'Gone', detail: 'no such prediction' }, 404) })
  await t.throwsAsync(openai().chat.completions.create(asked), { message: /404 no such prediction/ })
  cloud.script({ method: 'GET', behaviour: json(prediction('processing')) })
  const canceled = cloud.next(/p1\/cancel$/)
  await t.throwsAsync(openai().chat.completions.create(asked), { instanceOf: OpenAI.InternalServerError, message: /504/ })
  t.is((await canceled).headers.authorization, 'Bearer r8_secret')
})

test.serial('work that nobody waits for is ended at the provider: before it is known, while it runs, while it streams', async (t) => {
  const leave = async (stream: boolean, arrived: Promise<Received>) => {
    const leaving = new AbortController()
    const canceled = cloud.next(/p1\/cancel$/)
    const talk = openai().chat.completions.create({ ...asked, stream }, { signal: leaving.signal })
    await arrived
    leaving.abort()
    await t.throwsAsync(async () => {
      const answer = await talk
      if (Symbol.asyncIterator in answer) for await (const _ of answer) t.fail()
      throw new Error('the stream ended')
    })
    t.is((await canceled).method, 'POST')
  }
  cloud.script({ method: 'POST', path: /predictions$/, behaviour: { ...json(prediction('starting'), 201), delayMs: 200 } })
  await leave(false, cloud.next(/predictions$/))
  cloud.reset()
  begins()
  cloud.script({ method: 'GET', behaviour: json(prediction('processing')) })
  await leave(false, cloud.next(/\/p1$/))
  cloud.reset()
  begins({ urls: { stream: `${cloud.origin}/streams/p1` } })
  cloud.script({
    path: /streams/,
    behaviour: {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: 'event: output\ndata: a\n\n',
      hang: 'before-body',
    } as never,
  })
  await leave(true, cloud.next(/streams/))
})

test.serial('a stream comes without the credential, from the provider alone, with its counts at the end', async (t) => {
  const body = ['Hel', 'lo', '', '.\n'].map((text) => `event: output\n${text.replaceAll(/^/gm, 'data: ')}\n\n`).join('')
  begins({ urls: { stream: `${cloud.origin}/streams/p1` } })
  cloud.script({
    path: /streams/,
    behaviour: { status: 200, headers: { 'content-type': 'text/event-stream' }, body: `${body}event: done\ndata: {}\n\n` },
  })
  cloud.script({ path: /predictions\/p1$/, method: 'GET', behaviour: json(ended) })
  const entry = bed.nextLog()
  const stream = await openai().chat.completions.create({ ...asked, stream: true, stream_options: { include_usage: true } })
  let [said, tokens] = ['', 0]
  for await (const { choices, usage } of stream) {
    said += choices[0]?.delta.content ?? ''
    tokens = usage?.total_tokens ?? tokens
  }
  t.is(said, 'Hello.\n')
  t.is(tokens, 7)
  t.is(cloud.requests.find(({ url }) => url.includes('streams'))?.headers.authorization, undefined)
  t.like((await entry).record.usage, { inputTokens: 5, outputTokens: 2 })
  begins({ urls: { stream: `${elsewhere.origin}/streams/p1` } })
  await t.throwsAsync(openai().chat.completions.create({ ...asked, stream: true }), {
    message: /502 The provider named an address that is none of its own/,
  })
  t.is(elsewhere.requests.length, 0)
})

test.serial('a stream that tells an error, or a reason for its end, is an error', async (t) => {
  for (const end of ['event: error\ndata: {"detail":"out of memory"}\n\n', 'event: done\ndata: {"reason":"error"}\n\n']) {
    begins({ urls: { stream: `${cloud.origin}/streams/p1` } })
    cloud.script({
      path: /streams/,
      behaviour: { status: 200, headers: { 'content-type': 'text/event-stream' }, body: `event: output\ndata: a\n\n${end}` },
    })
    const entry = bed.nextLog()
    const stream = await openai().chat.completions.create({ ...asked, stream: true })
    await t.throwsAsync(
      async () => {
        for await (const _ of stream) t.truthy(_)
      },
      { instanceOf: OpenAI.APIError },
    )
    t.is((await entry).record.status, 200)
  }
})

test.serial('images are drawn one for each prediction; their bytes are fetched unless addresses are asked for', async (t) => {
  const drawn = prediction('succeeded', { output: [`${cloud.origin}/files/a.png`] })
  begins()
  cloud.script({ method: 'GET', path: /\/p1$/, behaviour: json(drawn) })
  cloud.script({
    path: /files/,
    behaviour: { status: 200, headers: { 'content-type': 'image/png' }, bodyBase64: pixel },
  })
  const entry = bed.nextLog()
  const ask = {
    model: '@rep/black-forest-labs/flux-schnell',
    prompt: 'a sun',
    size: '1024x1024' as const,
    n: 2,
    seed: 3,
    output_format: 'png' as const,
  }
  const made = await openai().images.generate(ask)
  t.deepEqual(made.data, [{ b64_json: pixel }, { b64_json: pixel }])
  const posts = cloud.requests.filter(({ method }) => method === 'POST')
  t.deepEqual(
    posts.map((post) => post.json),
    [3, 4].map((seed) => ({ input: { prompt: 'a sun', aspect_ratio: '1:1', output_format: 'png', seed } })),
  )
  t.is(cloud.requests.find(({ url }) => url.startsWith('/files'))?.headers.authorization, undefined)
  t.deepEqual((await entry).record.cost?.charges[0]?.counts, { image: 2 })
  const found = await openai().images.generate({ ...ask, n: 1, response_format: 'url' })
  t.deepEqual(found.data, [{ url: `${cloud.origin}/files/a.png` }])
  const image = await toFile(Buffer.from(pixel, 'base64'), 'a.png', { type: 'image/png' })
  await openai().images.edit({ model: '@rep/black-forest-labs/flux-kontext-pro', prompt: 'at night', image })
  t.like(cloud.requests.findLast(({ method }) => method === 'POST')?.json, {
    input: { prompt: 'at night', input_image: `data:image/png;base64,${pixel}` },
  })
  cloud.script({ method: 'GET', path: /\/p1$/, behaviour: json(prediction('failed', { error: 'NSFW content detected' })) })
  await t.throwsAsync(openai().images.generate({ ...ask, n: 1 }), { instanceOf: OpenAI.BadRequestError, message: /NSFW content detected/ })
})
