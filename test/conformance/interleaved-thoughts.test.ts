import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { json, sse } from '../support/dialects/strict.ts'
import { addressAt, type Product, startProduct } from './product.ts'

/** Thoughts between a model's texts come back to it in their places, in every format of its client. */
let product: Product
test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())
test.beforeEach(() => product.emulator.reset())

type Block = Readonly<Record<string, unknown>>
const thought = (name: string): Block => ({
  type: 'thinking',
  thinking: `Thought ${name}.`,
  signature: Buffer.from(name).toString('base64'),
})
const sealed = (name: string): Block => ({ type: 'redacted_thinking', data: Buffer.from(`sealed ${name}`).toString('base64') })
const said = (text: string): Block => ({ type: 'text', text })
const call = (id: string): Block => ({ type: 'tool_use', id, name: 'look', input: { at: id } })

const answers: Readonly<Record<string, readonly Block[]>> = {
  'thoughts before all': [thought('A'), said('One.'), call('toolu_1')],
  'thoughts behind a text': [thought('A'), said('One.'), thought('B'), call('toolu_1')],
  'thoughts between two texts': [thought('A'), said('One ☀.'), thought('B'), said('Two.'), thought('C'), call('toolu_1')],
  'two thoughts in one place': [said('One.'), thought('A'), sealed('B'), said('Two.'), call('toolu_1')],
  'thoughts between two calls': [thought('A'), call('toolu_1'), thought('B'), call('toolu_2')],
  'thoughts everywhere': [thought('A'), said('One.'), thought('B'), call('toolu_1'), sealed('C'), call('toolu_2')],
}

const message = (content: readonly Block[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 9 },
})
const empty: Readonly<Record<string, Block>> = {
  thinking: { type: 'thinking', thinking: '', signature: '' },
  text: said(''),
}
function piecesOf(block: Block): readonly Block[] {
  if (block['type'] === 'thinking')
    return [
      { type: 'thinking_delta', thinking: block['thinking'] },
      { type: 'signature_delta', signature: block['signature'] },
    ]
  if (block['type'] === 'text') return Array.from(String(block['text']), (text) => ({ type: 'text_delta', text }))
  return block['type'] === 'tool_use' ? [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }] : []
}
const eventsOf = (content: readonly Block[]) => [
  { type: 'message_start', message: { ...message([]), stop_reason: null } },
  ...content.flatMap((block, index) => [
    {
      type: 'content_block_start',
      index,
      content_block: empty[String(block['type'])] ?? (block['type'] === 'tool_use' ? { ...block, input: {} } : block),
    },
    ...piecesOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
]

/** Claude's own turn as it gets it back, without parts that show no order. */
function heard(): readonly unknown[] {
  const body = product.emulator.requests.at(-1)?.json as
    | { readonly messages: readonly { role: string; content: readonly Block[] }[] }
    | undefined
  const content = body?.messages.find(({ role }) => role === 'assistant')?.content ?? []
  return content.map(({ type, thinking, data, text, id }) => [type, thinking ?? data ?? text ?? id])
}
const told = (content: readonly Block[]) => content.map(({ type, thinking, data, text, id }) => [type, thinking ?? data ?? text ?? id])

const addressFor = (client: 'openai-chat' | 'openai-responses' | 'anthropic' | 'google') =>
  addressAt(product.bed, { client, provider: 'anthropic', name: 'tools' }, true)
const parameters = { type: 'object', properties: { at: { type: 'string' } } }

async function chat(stream: boolean): Promise<void> {
  const { origin, key, headers, model } = addressFor('openai-chat')
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const ask: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    model,
    reasoning_effort: 'high',
    messages: [{ role: 'user', content: 'Look.' }],
    tools: [{ type: 'function', function: { name: 'look', parameters } }],
  }
  const answer = stream
    ? await client.chat.completions.stream({ ...ask, stream: true }).finalChatCompletion()
    : await client.chat.completions.create(ask)
  const own = answer.choices[0]?.message
  if (own === undefined) throw new Error('no message')
  const results = (own.tool_calls ?? []).map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'seen' }))
  await client.chat.completions.create({ ...ask, messages: [...ask.messages, own, ...results] })
}

async function responses(stream: boolean): Promise<void> {
  const { origin, key, headers, model } = addressFor('openai-responses')
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const ask = {
    model,
    store: false,
    include: ['reasoning.encrypted_content' as const],
    reasoning: { effort: 'high' as const },
    tools: [{ type: 'function' as const, name: 'look', parameters, strict: null }],
  }
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Look.' }]
  const answer = stream
    ? await client.responses.stream({ ...ask, input }).finalResponse()
    : await client.responses.create({ ...ask, input })
  const results = answer.output.flatMap((item) =>
    item.type === 'function_call' ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'seen' }] : [],
  )
  await client.responses.create({ ...ask, input: [...input, ...(answer.output as OpenAI.Responses.ResponseInput), ...results] })
}

async function google(stream: boolean): Promise<void> {
  const { origin, key, headers, model } = addressFor('google')
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: origin, headers } })
  const config = {
    thinkingConfig: { thinkingBudget: 2048 },
    tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: parameters }] }],
  }
  const talk = client.chats.create({ model, config })
  if (stream) for await (const _ of await talk.sendMessageStream({ message: 'Look.' }));
  else await talk.sendMessage({ message: 'Look.' })
  const calls = talk.getHistory().flatMap(({ parts = [] }) => parts.flatMap(({ functionCall }) => functionCall ?? []))
  await talk.sendMessage({
    message: calls.map(({ id, name }) => ({ functionResponse: { ...(id && { id }), name: name ?? '', response: { output: 'seen' } } })),
  })
}

async function messages(stream: boolean): Promise<void> {
  const { origin, key, headers, model } = addressFor('anthropic')
  const client = new Anthropic({ baseURL: origin, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const ask: Anthropic.MessageCreateParamsNonStreaming = {
    model,
    max_tokens: 4000,
    thinking: { type: 'enabled', budget_tokens: 2048 },
    messages: [{ role: 'user', content: 'Look.' }],
    tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
  }
  const { content } = stream ? await client.messages.stream(ask).finalMessage() : await client.messages.create(ask)
  const results = content.flatMap((block) =>
    block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'seen' }] : [],
  )
  await client.messages.create({ ...ask, messages: [...ask.messages, { role: 'assistant', content }, { role: 'user', content: results }] })
}

for (const [name, talk] of Object.entries({ chat, responses, google, messages }))
  for (const [title, content] of Object.entries(answers))
    for (const stream of [false, true])
      test.serial(`${name}, ${stream ? 'streamed' : 'whole'}: ${title}`, async (t) => {
        product.emulator.script({
          behaviour: (received) =>
            received.json['stream'] === true ? sse(eventsOf(content).map((event) => [event.type, event])) : json(message(content)),
        })
        await talk(stream)
        t.deepEqual(heard(), told(content))
      })

test.serial('a place that is none is a 400 that names it, and one behind the text is its end', async (t) => {
  const { origin, key, headers, model } = addressFor('openai-chat')
  product.emulator.script({ behaviour: json(message([said('Done.')])) })
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const ask = (after: unknown) =>
    client.chat.completions.create({
      model,
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: 'One.',
          thinking_blocks: [{ ...thought('A'), after }],
          tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        } as unknown as OpenAI.ChatCompletionMessageParam,
        { role: 'tool', tool_call_id: 'toolu_1', content: 'seen' },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters } }],
      reasoning_effort: 'high',
    })
  const error: Error & { status?: number } = await t.throwsAsync(ask({ text: 'three' }))
  t.is(error.status, 400)
  t.regex(error.message, /messages\[1\]\.thinking_blocks\[0\]\.after\.text/)
  await ask({ text: 1000, calls: 0 })
  t.deepEqual(heard(), told([said('One.'), thought('A'), call('toolu_1')]))
  await ask({ text: 0, calls: 7 })
  t.deepEqual(heard(), told([said('One.'), call('toolu_1'), thought('A')]))
})
