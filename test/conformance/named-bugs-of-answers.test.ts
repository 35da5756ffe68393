import test, { type ExecutionContext } from 'ava'
import { messagesCodec } from '../../src/gateway/dialects/anthropic/codec.ts'
import { converseCodec } from '../../src/gateway/dialects/bedrock/codec.ts'
import type { Codec, Frame, ProviderCodec } from '../../src/gateway/dialects/codec.ts'
import { googleCodec } from '../../src/gateway/dialects/google/codec.ts'
import { foldEvents } from '../../src/gateway/dialects/neutral/answer.ts'
import type { Traits } from '../../src/gateway/dialects/traits.ts'
import { plainTraits } from '../../src/gateway/dialects/traits.ts'
import { chatCodec } from '../../src/gateway/dialects/openai-chat/codec.ts'
import { responsesCodec } from '../../src/gateway/dialects/openai-responses/codec.ts'
import { contextFor, readStream, writeStream } from '../support/dialects/laws.ts'
import { type Body, translator } from '../support/dialects/translated.ts'

/** Faults of others in answers of a provider, and in the parts of them that a client sends back: `named-bugs.test.ts` has the rest. */
const clients = { 'openai-chat': chatCodec, anthropic: messagesCodec, google: googleCodec, 'openai-responses': responsesCodec }
type Client = keyof typeof clients
const reader = (codec: ProviderCodec): Codec => ({ ...chatCodec, ...codec }) as Codec

/** Reads a whole answer of a provider's, as a client of another dialect gets it. */
function whole(from: ProviderCodec, to: Client, answer: Body, traits: Partial<Traits> = {}): Body {
  const context = contextFor(to, { traits: { ...plainTraits, ...traits } })
  return clients[to].answer.encode(foldEvents(from.answer.decode(answer, context)), context) as Body
}

const framesOf = (events: readonly object[]): readonly Frame[] => events.map((data) => ({ name: null, data: JSON.stringify(data) }))

/** Reads a stream of a provider's, as a client of another dialect gets it. */
function streamed(from: ProviderCodec, to: Client, frames: readonly Frame[]): readonly Body[] {
  const context = contextFor(to)
  return writeStream(clients[to], readStream(reader(from), frames, context), context).flatMap(({ data }) =>
    data === null || data === '[DONE]' ? [] : [JSON.parse(data) as Body],
  )
}

const text = (value: unknown) => JSON.stringify(value)
const chunk = (delta: Body, rest: Body = {}): Body => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null }],
  ...rest,
})
const finished: Body = { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const chatAnswer = (message: Body, usage: Body = {}): Body => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi', ...message }, finish_reason: 'stop' }],
  usage,
})
const claudeAnswer = (content: readonly object[], usage: Body = { input_tokens: 1, output_tokens: 1 }): Body => ({
  type: 'message',
  id: 'm',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: 'end_turn',
  usage,
})
const googleAnswer = (parts: readonly object[], rest: Body = {}): Body => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  modelVersion: 'gemini-3-pro',
  ...rest,
})
const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig' }

const rows: readonly (readonly [name: string, check: (t: ExecutionContext) => void])[] = [
  [
    '4: litellm#26916, reasoning is no visible text in Responses',
    (t) => {
      const { output } = whole(messagesCodec, 'openai-responses', claudeAnswer([thinking, { type: 'text', text: 'yes' }]))
      const [first, second] = output as readonly Body[]
      t.is(first?.['type'], 'reasoning')
      t.false(text(second).includes('hm'))
    },
  ],
  [
    '5: litellm#29518, #29600, reasoning_content reaches clients of Messages, whole and streamed',
    (t) => {
      t.true(text(whole(chatCodec, 'anthropic', chatAnswer({ reasoning_content: 'hm' }))).includes('"thinking":"hm"'))
      const events = streamed(chatCodec, 'anthropic', framesOf([chunk({ reasoning_content: 'hm' }), chunk({ content: 'a' }), finished]))
      t.true(text(events).includes('"thinking_delta","thinking":"hm"'))
    },
  ],
  [
    '6: litellm#25322, the signature of Gemini may stand on a thought or behind the text',
    (t) => {
      for (const parts of [
        [{ text: 'hm', thought: true, thoughtSignature: 'c2ln' }, { text: 'a' }],
        [
          { text: 'hm', thought: true },
          { text: 'a', thoughtSignature: 'c2ln' },
        ],
        [{ text: 'a' }, { text: '', thoughtSignature: 'c2ln' }],
      ])
        t.true(text(whole(googleCodec, 'anthropic', googleAnswer(parts))).includes('c2ln'), text(parts))
    },
  ],
  [
    '7: litellm#16895, a client of chat that gives a call back as it came gives its signature back; one that rebuilds it is not refused',
    (t) => {
      const answer = whole(googleCodec, 'openai-chat', googleAnswer([{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }]))
      const [choice] = answer['choices'] as readonly { message: { tool_calls: readonly Body[] } }[]
      const [call] = choice?.message.tool_calls ?? []
      const rebuilt = { id: call?.['id'], type: 'function', function: { name: 'f', arguments: '{}' } }
      for (const { given, signature } of [
        { given: call, signature: 'c2ln' },
        // Signatures in ids would be too long for providers that the conversation moves on to; Google documents a mark for calls without one.
        { given: rebuilt, signature: 'skip_thought_signature_validator' },
      ]) {
        const { body } = translator('openai-chat', 'google', { model: 'gemini-3-pro' })({
          tools: [{ type: 'function', function: { name: 'f' } }],
          messages: [
            { role: 'user', content: 'hi' },
            { role: 'assistant', content: null, tool_calls: [given] },
            { role: 'tool', tool_call_id: call?.['id'], content: 'x' },
          ],
        })
        t.true(text(body).includes(`"thoughtSignature":"${signature}"`), text(body))
      }
    },
  ],
  [
    '10: bifrost#2093, #3802, reasoning goes back to Kimi and DeepSeek in the field that they read; 14: vercel#14739, #12049',
    (t) => {
      const turns = {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: [thinking, { type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'x' }] },
        ],
        tools: [{ name: 'f', input_schema: { type: 'object' } }],
      }
      const { body } = translator('anthropic', 'openai-chat', { model: 'deepseek-v4', max_tokens: 100 })(turns, {
        traits: { reasoningField: 'reasoning_content' },
      })
      t.true(text(body).includes('"reasoning_content":"hm"'), text(body))
    },
  ],
  [
    '24: vercel#15317, the id that Gemini gave a call comes back to it; vercel#17902, Vertex knows none',
    (t) => {
      const answer = whole(googleCodec, 'openai-chat', googleAnswer([{ functionCall: { id: 'fc-1', name: 'f', args: {} } }]))
      t.true(text(answer).includes('"id":"fc-1"'))
      const turns = {
        tools: [{ type: 'function', function: { name: 'f' } }],
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: null, tool_calls: [{ id: 'fc-1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'fc-1', content: 'x' },
        ],
      }
      const translate = translator('openai-chat', 'google', { model: 'gemini-2.5-pro' })
      t.is(text(translate(turns).body).split('"fc-1"').length, 3)
      t.false(text(translate(turns, { traits: { host: 'vertex' } }).body).includes('fc-1'))
    },
  ],
  [
    '54: portkey#1206, #1072, whatever a provider writes into a stream, its translation throws nothing',
    (t) => {
      const odd = [
        null,
        1,
        'x',
        [],
        {},
        { choices: 1 },
        { choices: [null] },
        { candidates: [{ content: 5 }] },
        { type: 'content_block_delta' },
      ]
      const frames: readonly Frame[] = [...odd.map((data) => ({ name: null, data: JSON.stringify(data) })), { name: 'x', data: '{"a":' }]
      for (const codec of [chatCodec, messagesCodec, googleCodec, responsesCodec, converseCodec])
        for (const to of ['openai-chat', 'anthropic', 'google', 'openai-responses'] as const) t.notThrows(() => streamed(codec, to, frames))
    },
  ],
  [
    '9: bifrost#7357, a part may hold an image and a signature',
    (t) => {
      const parts = [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' }, thoughtSignature: 'c2ln' }]
      for (const to of ['openai-chat', 'anthropic'] as const) {
        const answer = text(whole(googleCodec, to, googleAnswer(parts)))
        t.true(answer.includes('iVBORw0KGgo='), answer)
        const events = text(streamed(googleCodec, to, framesOf([googleAnswer(parts)])))
        t.true(events.includes('iVBORw0KGgo='), events)
      }
    },
  ],
  [
    '13: vercel#13972, what is signed is kept, without a text too',
    (t) => {
      const { body } = translator('anthropic', 'bedrock', { model: 'anthropic.claude-sonnet-4-5-20250929-v1:0', max_tokens: 4000 })({
        messages: [
          { role: 'user', content: 'hi' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: '', signature: 'sig' },
              { type: 'text', text: 'a' },
            ],
          },
          { role: 'user', content: 'b' },
        ],
      })
      t.true(text(body).includes('sig'), text(body))
    },
  ],
  [
    '26: vercel#17769, a name that no tool can have goes back as one that it can',
    (t) => {
      const bad = 'default_api.look up!'
      const { body } = translator('openai-chat', 'anthropic', { model: 'claude-sonnet-4-5' })({
        tools: [{ type: 'function', function: { name: 'f' } }],
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: bad, arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
        ],
      })
      const messages = body['messages'] as readonly { content: readonly Body[] }[]
      t.regex(String(messages[1]?.content[0]?.['name']), /^[\w-]{1,128}$/)
    },
  ],
  [
    '40: bifrost#4746, #4970, counts of the cache are there in streams, and writes are no reads',
    (t) => {
      const usage = { input_tokens: 1, cache_read_input_tokens: 7, cache_creation_input_tokens: 5, output_tokens: 2 }
      const events = streamed(
        messagesCodec,
        'openai-chat',
        framesOf([
          { type: 'message_start', message: { id: 'm', model: 'm', usage } },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
          { type: 'message_stop' },
        ]),
      )
      const last = events.find((event) => event['usage'] !== undefined && event['usage'] !== null)
      t.like(last, { usage: { prompt_tokens: 13, prompt_tokens_details: { cached_tokens: 7 } } })
    },
  ],
  [
    '44: envoy#2184, an answer that was cut short or failed tells its usage',
    (t) => {
      for (const status of ['incomplete', 'failed']) {
        const response = {
          id: 'r',
          object: 'response',
          created_at: 1,
          model: 'm',
          status,
          output: [],
          incomplete_details: { reason: 'max_output_tokens' },
          error: status === 'failed' ? { code: 'server_error', message: 'no' } : null,
          usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
        }
        const { usage } = foldEvents(
          readStream(responsesCodec, framesOf([{ type: `response.${status}`, response }]), contextFor('openai-chat')),
        )
        t.like(usage, { input: 3, output: 4 }, status)
      }
    },
  ],
  [
    '45: vercel#11536, #12425, #12485, #18614, no count is below zero, whatever stands beside what',
    (t) => {
      for (const usage of [
        { prompt_tokens: 5, completion_tokens: 2, total_tokens: 107, completion_tokens_details: { reasoning_tokens: 100 } },
        { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, prompt_tokens_details: { cached_tokens: 9 } },
      ]) {
        const answer = whole(chatCodec, 'anthropic', chatAnswer({}, usage))
        for (const count of Object.values(answer['usage'] as Body)) if (typeof count === 'number') t.true(count >= 0, text(answer['usage']))
      }
    },
  ],
  [
    '49: bifrost#7032, images that a model made reach clients of chat',
    (t) => {
      const image = [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }]
      t.true(text(whole(googleCodec, 'openai-chat', googleAnswer(image))).includes('iVBORw0KGgo='))
    },
  ],
  [
    '51: vercel#17230, an error in a stream keeps its words; vercel#13256, #11671, so does one under status 200',
    (t) => {
      const error = { type: 'overloaded_error', message: 'Overloaded' }
      t.true(text(streamed(messagesCodec, 'openai-chat', framesOf([{ type: 'error', error }]))).includes('Overloaded'))
      const inChat = { error: { message: 'no capacity', type: 'server_error', code: 'busy' } }
      t.true(text(streamed(chatCodec, 'anthropic', framesOf([inChat]))).includes('no capacity'))
      t.is(foldEvents(chatCodec.answer.decode(inChat, contextFor('anthropic'))).error?.message, 'no capacity')
    },
  ],
  [
    '55: litellm#21744, a call that the model could not write is no empty stop',
    (t) => {
      const { error } = foldEvents(
        googleCodec.answer.decode({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }, contextFor('openai-chat')),
      )
      t.truthy(error)
    },
  ],
  [
    '65: envoy#2157, an answer without its output is an error, and ends nothing',
    (t) => {
      const answer = foldEvents(converseCodec.answer.decode({ usage: { inputTokens: 1, outputTokens: 0 } }, contextFor('openai-chat')))
      t.true(answer.error !== null || answer.choices.every(({ finish }) => finish === null))
    },
  ],
]

for (const [name, check] of rows) test(name, (t) => check(t))
