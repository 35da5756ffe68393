import test from 'ava'
import OpenAI from 'openai'
import { json, sse, strictly } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Lists in streams of chat completions, as OpenAI's own client puts a message together of them. */
let claude: Emulator
let gemini: Emulator
let gpt: Emulator
let bed: GatewayBed

test.before(async () => {
  ;[claude, gemini, gpt] = await Promise.all([startEmulator(), startEmulator(), startEmulator()])
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: {
      claude: { provider: 'anthropic', customHost: claude.url, credential },
      gpt: { provider: 'groq', customHost: gpt.url, credential },
      gemini: { provider: 'google', customHost: gemini.origin, credential },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await Promise.all([claude?.stop(), gemini?.stop(), gpt?.stop()])
})

const clientOf = (provider: string) =>
  new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: { 'x-service-provider': provider } })
const message = (content: readonly object[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 7 },
})
const source = (url: string) => ({ type: 'web_search_result_location', url, title: url, cited_text: 'x', encrypted_index: 'i' })
const streamed = [
  { type: 'message_start', message: { ...message([]), stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig-1' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'sealed-1' } },
  { type: 'content_block_stop', index: 1 },
  ...[2, 3].flatMap((index) => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '', citations: [] } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text: `Fact ${index}. ` } },
    { type: 'content_block_delta', index, delta: { type: 'citations_delta', citation: source(`https://fact.example/${index}`) } },
    { type: 'content_block_stop', index },
  ]),
  { type: 'content_block_start', index: 4, content_block: { type: 'tool_use', id: 'toolu_1', name: 'time', input: {} } },
  { type: 'content_block_stop', index: 4 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
].map((event) => [event.type, event] as const)

test.serial('signed reasoning and sources come in one list each, and the reasoning goes back whole', async (t) => {
  claude.script({
    behaviour: (received) =>
      strictly('anthropic', received, received.json['stream'] === true ? sse(streamed) : json(message([{ type: 'text', text: 'Noon.' }]))),
  })
  const client = clientOf('@claude')
  const asked = {
    model: 'claude-sonnet-4-5',
    max_completion_tokens: 4000,
    reasoning_effort: 'low' as const,
    tools: [{ type: 'function' as const, function: { name: 'time' } }],
  }
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Time?' }]
  const lists: string[] = []
  const runner = client.chat.completions.stream({ ...asked, messages }).on('chunk', ({ choices: [choice] }) => {
    lists.push(...Object.keys(choice?.delta ?? {}).filter((name) => name === 'thinking_blocks' || name === 'annotations'))
  })
  const [choice] = (await runner.finalChatCompletion()).choices
  if (choice === undefined) throw new Error('no choice')
  t.deepEqual(lists, ['thinking_blocks', 'annotations'])
  t.like(choice.message, {
    content: 'Fact 2. Fact 3. ',
    annotations: { 0: { url_citation: { url: 'https://fact.example/2' } }, 1: { url_citation: { url: 'https://fact.example/3' } } },
  })
  await client.chat.completions.create({
    ...asked,
    messages: [...messages, choice.message, { role: 'tool', tool_call_id: 'toolu_1', content: 'noon' }],
  })
  t.like(claude.requests[1]?.json, {
    messages: {
      1: {
        content: {
          0: { type: 'thinking', thinking: 'hm', signature: 'sig-1' },
          1: { type: 'redacted_thinking', data: 'sealed-1' },
        },
      },
    },
  })
})

/** A stream of Gemini's with pictures of so many characters between words. */
const drawn = (pictures: readonly string[]) =>
  pictures.flatMap((data, index) => {
    const parts = [{ text: `Picture ${index}. ` }, { inlineData: { mimeType: 'image/png', data } }]
    const finish = index === pictures.length - 1 ? { finishReason: 'STOP' } : {}
    return parts.map(
      (part, at) => [null, { candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...(at === 1 && finish) }] }] as const,
    )
  })

async function pictured(pictures: readonly string[]) {
  gemini.script({ behaviour: sse(drawn(pictures)) })
  const lists: string[][] = []
  const asked = { model: 'gemini-2.5-flash-image', messages: [{ role: 'user' as const, content: 'Draw.' }] }
  const runner = clientOf('@gemini')
    .chat.completions.stream(asked)
    .on('chunk', ({ choices: [choice] }) => {
      const { images } = (choice?.delta ?? {}) as { images?: readonly { image_url: { url: string } }[] }
      if (images !== undefined) lists.push(images.map(({ image_url: { url } }) => url))
    })
  const { message: told } = (await runner.finalChatCompletion()).choices[0] ?? {}
  return { lists, told }
}

test.serial('several pictures come in one list, between whose words nothing is lost', async (t) => {
  const urls = ['aaaa', 'bbbb', 'cccc'].map((data) => `data:image/png;base64,${data}`)
  const { lists, told } = await pictured(['aaaa', 'bbbb', 'cccc'])
  t.deepEqual(lists, [urls])
  t.like(told, {
    content: 'Picture 0. Picture 1. Picture 2. ',
    images: Object.fromEntries(urls.map((url, at) => [at, { type: 'image_url', image_url: { url } }])),
  })
})

test.serial('pictures longer than are held come as they are made, and none is lost on the way', async (t) => {
  const half = 'A'.repeat(9 * 1024 * 1024)
  const { lists } = await pictured([half, half, 'bbbb'])
  t.deepEqual(
    lists.map((list) => list.map((url) => url.length > 100)),
    [[true, true], [false]],
  )
})

/** Gemini's call with its signature, which it demands back. */
const called = {
  candidates: [
    {
      content: { role: 'model', parts: [{ functionCall: { name: 'time', args: {} }, thoughtSignature: 'c2lnLTE=' }] },
      finishReason: 'STOP',
      index: 0,
    },
  ],
}

for (const stream of [false, true])
  test.serial(`the signature of a call goes back by the old form of functions too, ${stream ? 'as a stream' : 'whole'}`, async (t) => {
    gemini.script({ behaviour: stream ? sse([[null, called]]) : json(called) })
    const client = clientOf('@gemini')
    const asked = { model: 'gemini-3-pro', functions: [{ name: 'time', parameters: { type: 'object' } }] }
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Time?' }]
    const call: Record<string, unknown> = {}
    if (stream)
      for await (const { choices } of await client.chat.completions.create({ ...asked, messages, stream })) {
        t.is(choices[0]?.delta.tool_calls, undefined)
        for (const [name, value] of Object.entries(choices[0]?.delta.function_call ?? {}))
          call[name] = typeof value === 'string' && typeof call[name] === 'string' ? call[name] + value : value
      }
    else Object.assign(call, (await client.chat.completions.create({ ...asked, messages })).choices[0]?.message.function_call)
    t.like(call, { name: 'time', arguments: '{}', extra_content: { google: { thought_signature: 'c2lnLTE=' } } })
    const assistant = { role: 'assistant' as const, content: null, function_call: call as { name: string; arguments: string } }
    gemini.script({ behaviour: json(called) })
    const again = [...messages, assistant, { role: 'function' as const, name: 'time', content: 'noon' }]
    await client.chat.completions.create({ ...asked, messages: again })
    t.like(gemini.requests.at(-1)?.json, {
      contents: { 1: { parts: { 0: { functionCall: { name: 'time' }, thoughtSignature: 'c2lnLTE=' } } } },
    })
    await clientOf('@gpt').chat.completions.create({ ...asked, messages: again })
    t.false(gpt.requests.at(-1)?.body.includes('thought_signature'))
    t.like(gpt.requests.at(-1)?.json, { messages: { 1: { function_call: { name: 'time', arguments: '{}' } } } })
  })
