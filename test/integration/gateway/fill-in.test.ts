import test from 'ava'
import OpenAI from 'openai'
import { z } from 'zod'
import { firstFault, json, sse } from '../../support/dialects/strict.ts'
import { type Emulator, type Received, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Completions with a suffix reach the providers that fill texts in, by endpoints of their own. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: {
      mistral: { provider: 'mistral-ai', customHost: `${cloud.origin}/v1`, credential },
      deepseek: { provider: 'deepseek', customHost: cloud.origin, credential },
      ollama: { provider: 'ollama', customHost: `${cloud.origin}/v1`, credential },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const openai = () => new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 })
const text = z.string()
/** docs.mistral.ai/api: unknown fields are a 422. */
const fim = z.strictObject({
  model: text,
  prompt: text,
  suffix: text.optional(),
  max_tokens: z.number().int().optional(),
  min_tokens: z.number().int().optional(),
  temperature: z.number().min(0).max(1.5).optional(),
  top_p: z.number().optional(),
  stop: z.union([text, z.array(text)]).optional(),
  random_seed: z.number().int().optional(),
  stream: z.boolean().optional(),
})
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const message = (content: string) => ({ index: 0, message: { role: 'assistant', content, tool_calls: null }, finish_reason: 'stop' })

function fills({ url, json: body }: Received) {
  if (url !== '/v1/fim/completions') return json({ message: `no ${url}` }, 404)
  const read = fim.safeParse(body)
  if (!read.success) return json({ object: 'error', message: firstFault(read.error), type: 'invalid_request_error' }, 422)
  const head = { id: 'f1', object: 'chat.completion', created: 5, model: body['model'] }
  if (body['stream'] !== true) return json({ ...head, choices: [message('return a')], usage })
  return sse([
    [null, { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'return ' }, finish_reason: null }] }],
    [null, { ...head, choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }], usage }],
    [null, '[DONE]'],
  ])
}

const asked = { model: '@mistral/codestral-2508', prompt: 'def f(a):\n  ', suffix: '\n\nf(1)' }

test.serial('Codestral fills in what stands between a prompt and a suffix, whole and in pieces', async (t) => {
  cloud.script({ behaviour: fills })
  const entry = bed.nextLog()
  const { data, response } = await openai()
    .completions.create({ ...asked, max_tokens: 9, seed: 7, user: 'u', stop: ['\n\n'], logit_bias: { 5: 1 } })
    .withResponse()
  t.like(data, { object: 'text_completion', choices: [{ text: 'return a', finish_reason: 'stop' }], usage })
  t.deepEqual(cloud.requests[0]?.json, {
    model: 'codestral-2508',
    prompt: asked.prompt,
    suffix: asked.suffix,
    max_tokens: 9,
    stop: ['\n\n'],
    random_seed: 7,
  })
  t.is(response.headers.get('x-service-dropped-params'), 'user, logit_bias')
  t.like((await entry).record.usage, { inputTokens: 5, outputTokens: 2 })
  let said = ''
  for await (const { choices } of await openai().completions.create({ ...asked, stream: true })) said += choices[0]?.text ?? ''
  t.is(said, 'return a')
  const several = openai().completions.create({ ...asked, n: 2 })
  t.is((await t.throwsAsync(several, { instanceOf: OpenAI.BadRequestError }))?.param, 'n')
})

test.serial('other models of Mistral complete texts as chats, which fill nothing in', async (t) => {
  cloud.script({
    path: '/chat/completions',
    behaviour: json({ id: 'c', object: 'chat.completion', created: 5, model: 'm', choices: [message('a')], usage }),
  })
  await openai().completions.create({ model: '@mistral/mistral-large-latest', prompt: 'Once' })
  const filled = openai().completions.create({ ...asked, model: '@mistral/mistral-large-latest' })
  t.is((await t.throwsAsync(filled, { instanceOf: OpenAI.BadRequestError }))?.param, 'suffix')
})

test.serial('DeepSeek and Ollama get a completion as it is', async (t) => {
  const whole = {
    id: 'c',
    object: 'text_completion',
    created: 5,
    model: 'm',
    choices: [{ index: 0, text: 'a', finish_reason: 'stop', logprobs: null }],
    usage,
  }
  cloud.script({ behaviour: json(whole) })
  await openai().completions.create({ ...asked, model: '@deepseek/deepseek-chat' })
  await openai().completions.create({ ...asked, model: '@ollama/qwen2.5-coder' })
  t.deepEqual(
    cloud.requests.map(({ url, json: body }) => [url, body['suffix']]),
    [
      ['/beta/completions', asked.suffix],
      ['/v1/completions', asked.suffix],
    ],
  )
})

test.serial('pages that Mistral reads go through as they are, and are counted', async (t) => {
  cloud.script({
    path: '/ocr',
    behaviour: json({
      pages: [{ index: 0, markdown: '# A' }],
      model: 'mistral-ocr-latest',
      usage_info: { pages_processed: 3, doc_size_bytes: 9 },
    }),
  })
  const body = { model: '@mistral/mistral-ocr-latest', document: { type: 'document_url', document_url: 'https://files.example/a.pdf' } }
  const entry = bed.nextLog()
  const answer = await fetch(`${bed.origin}/v1/ocr`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  t.like(await answer.json(), { pages: [{ markdown: '# A' }] })
  t.deepEqual(cloud.requests[0]?.json, { ...body, model: 'mistral-ocr-latest' })
  t.deepEqual((await entry).record.cost?.charges[0]?.counts, { page: 3 })
})
