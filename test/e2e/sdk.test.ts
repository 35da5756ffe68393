import Anthropic from '@anthropic-ai/sdk'
import test from 'ava'
import OpenAI, { APIError, toFile } from 'openai'
import { Portkey } from 'portkey-ai'
import { type Emulator, startEmulator } from '../support/emulator/emulator.ts'
import { eventually } from '../support/eventually.ts'
import { adminKey, type Gatehouse, startGatehouse, workspaceKey } from '../support/process.ts'
import { loopLag } from '../support/loop-lag.ts'

let emulator: Emulator
let gatehouse: Gatehouse
let openai: OpenAI
let anthropic: Anthropic
let portkey: Portkey

async function createIntegration(provider: string, slug: string): Promise<void> {
  const answer = await fetch(`${gatehouse.origin}/v1/integrations`, {
    method: 'POST',
    headers: { 'x-service-api-key': adminKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: slug,
      ai_provider_id: provider,
      key: `sk-${slug}-0123456789`,
      default_provider_slug: slug,
      configurations: { custom_host: emulator.url },
    }),
  })
  if (answer.status !== 200) throw new Error(await answer.text())
}

test.before(async () => {
  emulator = await startEmulator()
  gatehouse = await startGatehouse()
  await createIntegration('openai', 'my-openai')
  await createIntegration('anthropic', 'my-anthropic')
  openai = new OpenAI({
    baseURL: `${gatehouse.origin}/v1`,
    apiKey: workspaceKey,
    maxRetries: 0,
    defaultHeaders: { 'x-service-provider': '@my-openai' },
  })
  anthropic = new Anthropic({
    baseURL: gatehouse.origin,
    apiKey: workspaceKey,
    maxRetries: 0,
    defaultHeaders: { 'x-service-provider': '@my-anthropic' },
  })
  portkey = new Portkey({ baseURL: `${gatehouse.origin}/v1`, apiKey: workspaceKey, provider: '@my-openai' })
  // The process reads the key and the providers at their first use, which may be refused on a machine under load; no test repeats its calls.
  await openai.withOptions({ maxRetries: 5 }).chat.completions.create({ model: 'gpt-4o', messages: [...messages] })
  await anthropic.withOptions({ maxRetries: 5 }).messages.create({ model: 'claude-sonnet-4-5', max_tokens: 9, messages: [...messages] })
  const stranger = { headers: { 'x-service-api-key': 'nobody' } }
  await eventually(async () => (await fetch(`${gatehouse.origin}/v1/models`, stranger)).status === 401, 30_000, 'a refused stranger')
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
})

const messages = [{ role: 'user', content: 'hi' }] as const

test('openai: chat', async (t) => {
  const answer = await openai.chat.completions.create({ model: 'gpt-4o', messages: [...messages] })
  t.is(answer.object, 'chat.completion')
  t.true((answer.usage?.total_tokens ?? 0) > 0)
})

test('openai: a provider named in the model', async (t) => {
  const plain = new OpenAI({ baseURL: `${gatehouse.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 })
  const answer = await plain.chat.completions.create({ model: '@my-openai/gpt-4o', messages: [...messages] })
  t.is(answer.model, 'gpt-4o')
})

test('openai: stream', async (t) => {
  const stream = await openai.chat.completions.create({
    model: 'gpt-4o',
    messages: [...messages],
    stream: true,
    stream_options: { include_usage: true },
  })
  let text = ''
  let tokens = 0
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? ''
    tokens = chunk.usage?.total_tokens ?? tokens
  }
  t.true(text.length > 0)
  t.true(tokens > 0)
})

test('openai: tools', async (t) => {
  const tools = [
    {
      type: 'function' as const,
      function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
    },
  ]
  const answer = await openai.chat.completions.create({ model: 'gpt-4o', messages: [...messages], tools, tool_choice: 'required' })
  const call = answer.choices[0]?.message.tool_calls?.[0]
  t.is(call?.type === 'function' ? call.function.name : null, 'get_weather')
})

test('openai: embeddings', async (t) => {
  const answer = await openai.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] })
  t.is(answer.data.length, 2)
  t.true((answer.data[0]?.embedding.length ?? 0) > 0)
})

test('openai: files', async (t) => {
  const content = '{"custom_id":"1"}\n'.repeat(1000)
  const file = await openai.files.create({ file: await toFile(Buffer.from(content), 'batch.jsonl'), purpose: 'batch' })
  t.is(file.bytes, content.length)
  t.is(await (await openai.files.content(file.id)).text(), content)
  t.true((await openai.files.list()).data.some(({ id }) => id === file.id))
  t.true((await openai.files.delete(file.id)).deleted)
})

test('openai: responses, made and read again', async (t) => {
  const made = await openai.responses.create({ model: 'o1-pro', input: 'hi' })
  t.is((await openai.responses.retrieve(made.id)).id, made.id)
  let completed = false
  for await (const event of await openai.responses.create({ model: 'o1-pro', input: 'hi', stream: true }))
    completed ||= event.type === 'response.completed'
  t.true(completed)
})

test('openai: completions, batches, fine-tuning and threads, with a virtual key', async (t) => {
  const keyed = openai.withOptions({ defaultHeaders: { 'x-service-virtual-key': 'my-openai' } })
  t.is((await keyed.completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: 'hi' })).object, 'text_completion')
  const batch = await keyed.batches.create({ input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' })
  t.is((await keyed.batches.cancel(batch.id)).status, 'cancelling')
  t.true((await keyed.batches.list({ limit: 100 })).data.length > 0)
  const job = await keyed.fineTuning.jobs.create({
    model: 'gpt-4o-mini',
    training_file: 'file-1',
    suffix: 's',
    method: { type: 'supervised' },
  })
  t.is((await keyed.fineTuning.jobs.retrieve(job.id)).id, job.id)
  t.true((await keyed.fineTuning.jobs.list()).data.length > 0)
})

test('openai: a request out of bounds is refused once, naming the field', async (t) => {
  const keyed = new OpenAI({
    baseURL: `${gatehouse.origin}/v1`,
    apiKey: workspaceKey,
    defaultHeaders: { 'x-service-virtual-key': 'my-openai' },
  })
  const error = await t.throwsAsync(keyed.completions.create({ model: 'm', prompt: 'p', temperature: 3 }), {
    instanceOf: OpenAI.BadRequestError,
  })
  t.is(error.param, 'temperature')
  t.truthy(error.requestID)
})

test('openai: a stream that breaks off raises', async (t) => {
  const stream = await openai.chat.completions.create(
    { model: 'gpt-4o', messages: [...messages], stream: true },
    { headers: { 'x-emulate': JSON.stringify({ frames: 20, frameEveryMs: 2, cutAt: 700 }) } },
  )
  await t.throwsAsync(
    async () => {
      for await (const _ of stream);
    },
    { instanceOf: APIError },
  )
})

test('openai: a stream of a response that breaks off raises', async (t) => {
  const headers = { 'x-emulate': JSON.stringify({ frames: 20, frameEveryMs: 2, cutAt: 700 }) }
  const stream = await openai.responses.create({ model: 'o1-pro', input: 'hi', stream: true }, { headers })
  const error = await t.throwsAsync(
    async () => {
      for await (const _ of stream);
    },
    { instanceOf: APIError },
  )
  t.truthy(error.code)
})

test('openai: abort reaches the provider', async (t) => {
  const closing = emulator.onClose('/chat/completions')
  const stream = await openai.chat.completions.create(
    { model: 'gpt-4o', messages: [...messages], stream: true },
    { headers: { 'x-emulate': JSON.stringify({ frames: 1000, frameEveryMs: 5 }) } },
  )
  for await (const _ of stream) break
  stream.controller.abort()
  const left = performance.now()
  const { at, complete } = await (await closing).closed
  t.false(complete)
  t.true(at - left < 100 + 3 * loopLag(), `${at - left} ms`)
})

test('anthropic: messages, counted and streamed', async (t) => {
  const ask = { model: 'claude-opus-4-5', max_tokens: 64, messages: [...messages] }
  const answer = await anthropic.messages.create(ask)
  t.is(answer.type, 'message')
  t.true(answer.usage.output_tokens > 0)
  const stream = anthropic.messages.stream(ask)
  t.is((await stream.finalMessage()).role, 'assistant')
  t.true((await anthropic.messages.countTokens({ model: ask.model, messages: ask.messages })).input_tokens > 0)
})

test('anthropic: errors have its shape', async (t) => {
  const stranger = new Anthropic({ baseURL: gatehouse.origin, apiKey: 'nobody', maxRetries: 0 })
  await t.throwsAsync(stranger.messages.create({ model: 'm', max_tokens: 1, messages: [...messages] }), {
    instanceOf: Anthropic.AuthenticationError,
  })
})

test('portkey-ai works through the alias', async (t) => {
  const answer = await portkey.chat.completions.create({ model: 'gpt-4o', messages: [...messages] })
  t.true((answer.choices?.length ?? 0) > 0)
  const embedded = await portkey.embeddings.create({ model: 'text-embedding-3-small', input: 'a' })
  t.true((embedded.data?.length ?? 0) > 0)
  let chunks = 0
  for await (const _ of await portkey.chat.completions.create({ model: 'gpt-4o', messages: [...messages], stream: true })) chunks += 1
  t.true(chunks > 1)
})

test('portkey-ai manages and calls prompts through the alias', async (t) => {
  const { collections, labels, prompts } = portkey
  const folder = (await collections.create({ name: 'Prompts of the SDK' })) as { id: string }
  const label = (await labels.create({ name: 'sdk-label' })) as { id: string }
  const partial = (await prompts.partials.create({ name: 'sdk tone', string: 'Be {{tone}}.' })) as unknown as { slug: string }
  const string = JSON.stringify([
    { role: 'system', content: `{{>${partial.slug}}}` },
    { role: 'user', content: 'Hi {{name}}' },
  ])
  const made = (await prompts.create({
    name: 'sdk prompt',
    collection_id: folder.id,
    string,
    parameters: { max_tokens: 50 },
    virtual_key: 'my-openai',
    model: 'gpt-4o',
  })) as unknown as { slug: string }
  await prompts.update(made.slug, { string: 'Second {{name}}', parameters: {}, model: 'gpt-4o-mini' })
  const list = (await prompts.versions.list(made.slug)) as unknown as { data: readonly { id: string }[] }
  await prompts.versions.update(made.slug, list.data[0]?.id ?? '', { label_id: label.id })

  const variables = { name: 'Ada', tone: 'terse' }
  const rendered = await prompts.render({ promptID: made.slug, variables, temperature: 0 })
  t.true(rendered.success)
  const data = {
    max_tokens: 50,
    model: 'gpt-4o',
    temperature: 0,
    messages: [
      { role: 'system', content: 'Be terse.' },
      { role: 'user', content: 'Hi Ada' },
    ],
  }
  t.deepEqual(rendered.data as unknown, data)
  const asChat = await portkey.chat.completions.create(rendered.data as never)
  t.true((asChat.choices?.length ?? 0) > 0)
  t.deepEqual(emulator.requests.at(-1)?.json, data)

  const completion = await prompts.completions.create({ promptID: made.slug, variables })
  t.true((completion['choices'] as unknown[]).length > 0)
  let chunks = 0
  for await (const _ of await prompts.completions.create({ promptID: `${made.slug}@sdk-label`, variables, stream: true })) chunks += 1
  t.true(chunks > 1)
  t.like(emulator.requests.at(-1)?.json, { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Second Ada' }] })
  await prompts.publish(made.slug, { version: 2 })
  const read = (await prompts.retrieve(made.slug)) as unknown as { prompt_version: number }
  t.is(read.prompt_version, 2)
  await t.throwsAsync(prompts.render({ promptID: 'pp-never', variables }), { message: /There is no prompt/ })
  await prompts.delete(made.slug)
  await t.throwsAsync(prompts.completions.create({ promptID: 'pp-never', variables }), { message: /There is no prompt/ })
})

test('portkey: logs of own calls', async (t) => {
  const trace = `own-${Date.now()}`
  const made = await portkey.logs.create({
    request: { url: 'https://api.example/v1/chat/completions', method: 'POST', headers: {}, body: { model: 'own-model', messages } },
    response: { status: 200, headers: {}, body: { choices: [] }, response_time: 12 },
    metadata: { trace_id: trace, span_id: 'span-1', span_name: 'own call' },
  })
  t.like(made, { status: 'success' })
  const logs = async () => {
    const answer = await fetch(`${gatehouse.origin}/v1/logs?trace_id=${trace}`, { headers: { 'x-service-api-key': workspaceKey } })
    return ((await answer.json()) as { data: readonly Record<string, unknown>[] }).data
  }
  await eventually(async () => (await logs()).length === 1, 20_000)
  t.like((await logs())[0], { ai_model: 'own-model', operation: 'inserted', span_name: 'own call', cost: null })
})

test('every exchange is in the log, with its tokens', async (t) => {
  const marker = `trace-${Date.now()}`
  await openai.chat.completions.create({ model: 'gpt-4o', messages: [...messages] }, { headers: { 'x-service-trace-id': marker } })
  let ids: readonly string[] = []
  const isLogged = async () => {
    const answer = await fetch(`${gatehouse.origin}/v1/logs?trace_id=${marker}`, { headers: { 'x-service-api-key': workspaceKey } })
    if (answer.status === 200) ids = ((await answer.json()) as { data: readonly { id: string }[] }).data.map(({ id }) => id)
    return ids.length > 0
  }
  await eventually(isLogged, 30_000, 'the log')
  t.is(ids.length, 1)
  const one = await fetch(`${gatehouse.origin}/v1/logs/${ids[0]}`, { headers: { 'x-service-api-key': workspaceKey } })
  const log = (await one.json()) as { request: { body: { model: string } }; response: { status: number }; metrics: { total_units: number } }
  t.is(log.request.body.model, 'gpt-4o')
  t.is(log.response.status, 200)
  t.true(log.metrics.total_units > 0)
})

const spare = (model: string) =>
  JSON.stringify({
    strategy: { mode: 'fallback' },
    targets: [{ override_params: { model } }, { provider: '@my-openai' }],
  })

test('openai: behind a fallback a client does not notice that the first target fails, in a stream too', async (t) => {
  const headers = { 'x-service-config': spare('emulate:server-error') }
  const { data, response } = await openai.chat.completions.create({ model: 'gpt-4o', messages: [...messages] }, { headers }).withResponse()
  t.is(data.object, 'chat.completion')
  t.is(response.headers.get('x-service-last-used-option-index'), 'config.targets[1]')
  const stream = await openai.chat.completions.create({ model: 'gpt-4o', messages: [...messages], stream: true }, { headers })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  t.true(text.length > 0)
})

test('anthropic: a refused first target leads to the second, whose error is what the client gets', async (t) => {
  const config = JSON.stringify({
    strategy: { mode: 'fallback', on_status_codes: [500] },
    targets: [
      { provider: '@my-anthropic', override_params: { model: 'emulate:server-error' } },
      { provider: '@my-anthropic', override_params: { model: 'emulate:rate-limited' } },
    ],
  })
  const headers = { 'x-service-config': config }
  const error = await t.throwsAsync(() =>
    anthropic.messages.create({ model: 'claude', max_tokens: 5, messages: [...messages] }, { headers }),
  )
  t.is((error as { status?: number }).status, 429)
})
