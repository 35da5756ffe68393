import test from 'ava'
import OpenAI from 'openai'
import { json, sse, strictly } from '../../support/dialects/strict.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, type Received, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** OpenAI's client completes several texts at once at a provider that has chats alone: each is a chat of its own. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: {
      claude: { provider: 'anthropic', customHost: cloud.url, credential },
      ncompass: { provider: 'ncompass', customHost: cloud.url, credential },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const openai = () => new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 })
const said = ({ json: body }: Received): string => String((body['messages'] as readonly { readonly content: unknown }[])[0]?.content)

const message = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 2 },
})
const streamOf = (text: string) =>
  sse(
    [
      { type: 'message_start', message: { ...message(''), content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...Array.from(text, (letter) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: letter } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ].map((event) => [event.type, event] as const),
  )

/** Answers each prompt with itself in capitals. */
const capitals = (received: Received): Behaviour => {
  const text = said(received).toUpperCase()
  return strictly('anthropic', received, received.json['stream'] === true ? streamOf(text) : json(message(text)))
}
const prompts = ['one', 'two ☀', 'three', 'four', 'five', 'six']

test.serial('the choices come in the order of the prompts, and usage is the sum of all chats', async (t) => {
  cloud.script({ behaviour: capitals })
  const entry = bed.nextLog()
  const answer = await openai().completions.create({ model: '@claude/claude-sonnet-4-5', prompt: prompts, echo: true, max_tokens: 9 })
  t.deepEqual(
    answer.choices.map(({ index, text, finish_reason: reason }) => [index, text, reason]),
    prompts.map((prompt, index) => [index, prompt + prompt.toUpperCase(), 'stop']),
  )
  t.like(answer, { object: 'text_completion', usage: { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 } })
  t.deepEqual(cloud.requests.map((one) => said(one)).toSorted(), prompts.toSorted())
  t.true(cloud.requests.every(({ json: body }) => body['max_tokens'] === 9))
  t.like((await entry).record, { operation: 'complete', status: 200, usage: { inputTokens: 30, outputTokens: 12 } })
})

test.serial('several choices of each prompt stand together', async (t) => {
  cloud.script({
    behaviour: (received) => {
      const choices = [0, 1].map((index) => ({
        index,
        message: { role: 'assistant', content: `${said(received)} ${index}` },
        finish_reason: 'stop',
      }))
      return strictly('openai', received, json({ id: 'c1', object: 'chat.completion', created: 5, model: 'llama', choices }))
    },
  })
  const answer = await openai().completions.create({ model: '@ncompass/llama', prompt: ['a', 'b'], n: 2 })
  t.deepEqual(
    answer.choices.map(({ index, text }) => [index, text]),
    [
      [0, 'a 0'],
      [1, 'a 1'],
      [2, 'b 0'],
      [3, 'b 1'],
    ],
  )
  t.is(answer.usage, undefined)
})

test.serial('streams of several prompts are one, with the choices of each, one usage and one end', async (t) => {
  cloud.script({ behaviour: capitals })
  const entry = bed.nextLog()
  const texts = prompts.map(() => '')
  const ends: number[] = []
  let usages = 0
  const stream = await openai().completions.create({
    model: '@claude/claude-sonnet-4-5',
    prompt: prompts,
    stream: true,
    stream_options: { include_usage: true },
  })
  for await (const { choices, usage } of stream) {
    if (usage !== null && usage !== undefined) {
      usages += 1
      t.like(usage, { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 })
    }
    for (const { index, text, finish_reason: reason } of choices) {
      texts[index] += text
      if (reason !== null) ends.push(index)
    }
  }
  t.deepEqual(
    texts,
    prompts.map((prompt) => prompt.toUpperCase()),
  )
  t.deepEqual(
    ends.toSorted((one, other) => one - other),
    [0, 1, 2, 3, 4, 5],
  )
  t.is(usages, 1)
  t.like((await entry).record, { stream: true, outcome: 'complete', usage: { inputTokens: 30, outputTokens: 12 } })
})

test.serial('the stream ends with its mark once, after all of them', async (t) => {
  cloud.script({ behaviour: capitals })
  const response = await fetch(`${bed.origin}/v1/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: '@claude/claude-sonnet-4-5', prompt: ['a', 'b'], stream: true }),
  })
  const text = await response.text()
  t.is(text.split('[DONE]').length, 2)
  t.true(text.endsWith('data: [DONE]\n\n'))
})

test.serial('the failure of one chat is the answer, and the others are not waited for', async (t) => {
  const overloaded = json({ type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }, 429)
  cloud.script({ behaviour: (received) => (said(received) === 'two' ? overloaded : { hang: 'before-headers' }) })
  const asked = { model: '@claude/claude-sonnet-4-5', prompt: ['one', 'two'] }
  await t.throwsAsync(openai().completions.create(asked), { instanceOf: OpenAI.RateLimitError, message: /slow down/ })
  await t.throwsAsync(openai().completions.create({ ...asked, stream: true }), { instanceOf: OpenAI.RateLimitError, message: /slow down/ })
})

test.serial('a failure within one of several streams, or a cut, ends all of them, and never as a whole one', async (t) => {
  const whole = streamOf('TWO')
  const failing = `${(whole.body ?? '').slice(0, 600)}\n\nevent: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n`
  for (const second of [
    { ...whole, body: failing },
    { ...whole, cutAt: Math.floor((whole.body ?? '').length * 0.7) },
  ]) {
    cloud.reset()
    cloud.script({ behaviour: (received) => (said(received) === 'two' ? second : capitals(received)) })
    const stream = await openai().completions.create({ model: '@claude/claude-sonnet-4-5', prompt: ['one', 'two'], stream: true })
    await t.throwsAsync(async () => {
      for await (const _ of stream);
    })
  }
})

test.serial('a caller that leaves ends all chats', async (t) => {
  cloud.script({ behaviour: { hang: 'before-headers' } })
  const leaving = new AbortController()
  const arrival = cloud.next()
  const closed = cloud.onClose()
  const asking = openai().completions.create({ model: '@claude/claude-sonnet-4-5', prompt: ['one', 'two'] }, { signal: leaving.signal })
  await arrival
  leaving.abort()
  await t.throwsAsync(asking)
  t.false((await (await closed).closed).complete)
})
