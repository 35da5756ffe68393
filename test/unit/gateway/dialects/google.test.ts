import type { GenerateContentResponse } from '@google/genai'
import test from 'ava'
import type { Frame } from '../../../../src/gateway/dialects/codec.ts'
import { googleCodec } from '../../../../src/gateway/dialects/google/codec.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import type { NeutralEvent } from '../../../../src/gateway/dialects/neutral/events.ts'
import { finishOf } from '../../../../src/gateway/dialects/neutral/finish.ts'
import { emptyRequest } from '../../../../src/gateway/dialects/neutral/request.ts'
import { noUsage } from '../../../../src/gateway/dialects/neutral/token-usage.ts'
import { assertCuts, assertOrder, contextFor, readStream, saidBy, writeStream } from '../../../support/dialects/laws.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

const googleToChat = translator('google', 'openai-chat', { model: 'gpt-4o', contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })
const googleToClaude = translator('google', 'anthropic', { model: 'claude-sonnet-4-5', contents: [{ parts: [{ text: 'hi' }] }] })

const answer = (rest: object): unknown => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Grüße' }] }, finishReason: 'STOP', index: 0, ...rest }],
  usageMetadata: {
    promptTokenCount: 10,
    toolUsePromptTokenCount: 5,
    cachedContentTokenCount: 4,
    candidatesTokenCount: 7,
    thoughtsTokenCount: 3,
    totalTokenCount: 25,
  },
  modelVersion: 'gemini-2.5-flash',
  responseId: 'r1',
})
const context = contextFor('openai-chat')
const read = (json: unknown) => foldEvents(googleCodec.answer.decode(json, context))

test('an answer: thoughts are counted beside the text, sources stand at bytes', (t) => {
  const grounding = {
    groundingMetadata: {
      webSearchQueries: ['a'],
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 2, endIndex: 7 }, groundingChunkIndices: [0] }],
    },
    logprobsResult: {
      chosenCandidates: [{ token: 'G', logProbability: -1 }],
      topCandidates: [{ candidates: [{ token: 'H', logProbability: -2 }] }],
    },
  }
  const { choices, usage, id, model } = read(answer(grounding))
  t.is(`${id ?? ''} ${model ?? ''}`, 'r1 gemini-2.5-flash')
  t.like(usage, { input: 15, cacheRead: 4, output: 10, reasoning: 3, searches: 1 })
  t.like(choices[0]?.blocks[0], {
    text: 'Grüße',
    citations: { 0: { url: 'https://a.example', title: 'A', start: 2, end: 5 } },
    logprobs: { 0: { token: 'G', logprob: -1, top: { 0: { token: 'H' } } } },
  })
})

test('how probable the tokens of a text were is told of the text, also where a call follows in the same frame', (t) => {
  const candidate = {
    index: 0,
    content: { role: 'model', parts: [{ text: 'I look.' }, { functionCall: { name: 'weather', args: {} } }] },
    finishReason: 'STOP',
    logprobsResult: { chosenCandidates: [{ token: 'I look.', logProbability: -0.5 }], topCandidates: [{ candidates: [] }] },
  }
  const [choice] = read({ candidates: [candidate] }).choices
  t.like(choice?.blocks[0], { text: 'I look.', logprobs: { 0: { token: 'I look.', logprob: -0.5 } } })
  t.deepEqual(choice?.blocks[1]?.logprobs, [])
})

const frame = (part: object, token: string): Frame => ({
  name: null,
  data: JSON.stringify({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [part] },
        logprobsResult: { chosenCandidates: [{ token, logProbability: -0.5 }], topCandidates: [{ candidates: [] }] },
      },
    ],
  }),
})

test('how probable the tokens of a call were is not told of the text in the frame before', (t) => {
  const events = readStream(
    googleCodec,
    [frame({ text: 'I look.' }, 'I look.'), frame({ functionCall: { name: 'weather', args: {} } }, 'weather')],
    context,
  )
  t.deepEqual(
    foldEvents(events).choices[0]?.blocks.map(({ logprobs }) => logprobs.map(({ token }) => token)),
    [['I look.'], []],
  )
})

const finishes: readonly (readonly [candidate: object, reason: string])[] = [
  [{}, 'stop'],
  [{ finishReason: 'MAX_TOKENS' }, 'length'],
  [{ finishReason: 'SAFETY' }, 'content-filter'],
  [{ finishReason: 'RECITATION' }, 'content-filter'],
  [{ finishReason: 'MALFORMED_FUNCTION_CALL' }, 'other'],
  [{ finishReason: 'OF_A_LATER_DAY' }, 'other'],
  [{ content: { parts: [{ functionCall: { name: 'f' } }] } }, 'tool-calls'],
]
for (const [candidate, reason] of finishes)
  test(`Google ends ${JSON.stringify(candidate)}: ${reason}`, (t) => {
    t.is(read(answer(candidate)).choices[0]?.finish?.reason ?? '', reason)
  })

test('litellm#21744: a call that the model could not write is an error when nothing else came; a blocked prompt is a refusal', (t) => {
  const failed = read(answer({ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'bad call' }))
  t.like(failed.error, { status: 502, message: 'MALFORMED_FUNCTION_CALL: bad call' })
  const blocked = read({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 3 } })
  t.like(blocked.choices[0]?.finish, { reason: 'content-filter', raw: 'PROHIBITED_CONTENT' })
  t.deepEqual(
    googleCodec.answer.decode({ surprise: true }, context).filter(({ type }) => type === 'end'),
    [],
  )
})

const frames = (...chunks: readonly object[]): readonly Frame[] => chunks.map((chunk) => ({ name: null, data: JSON.stringify(chunk) }))
const chunk = (parts: readonly object[], rest: object = {}) => ({ candidates: [{ content: { parts, role: 'model' }, index: 0, ...rest }] })

test('litellm#21041, #31634, #2195: a stream with STOP in every frame, thoughts, a call and its signature, and an end without content', (t) => {
  const whole = frames(
    chunk([{ text: 'hm', thought: true }], { finishReason: 'STOP' }),
    chunk([{ text: '', thought: true, thoughtSignature: 's1' }], { finishReason: 'STOP' }),
    chunk([{ text: 'a' }, { text: 'b' }], { finishReason: 'STOP' }),
    chunk([{ functionCall: { name: 'f' }, thoughtSignature: 's2' }], { finishReason: 'STOP' }),
    { candidates: [{ finishReason: 'STOP', index: 0 }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 } },
  )
  const events = readStream(googleCodec, whole, context)
  assertOrder(events)
  const { choices, usage } = foldEvents(events)
  t.like(choices[0], {
    finish: { reason: 'tool-calls' },
    blocks: {
      0: { text: 'hm', end: { signature: { origin: 'google', value: 's1' } } },
      1: { text: 'ab' },
      2: { text: '{}', end: { signature: { value: 's2' } }, block: { name: 'f' } },
    },
  })
  t.like(usage, { input: 1, output: 2 })
})

test("a stream of Google that is cut never ends whole; an error in it has the provider's words", (t) => {
  assertCuts(
    googleCodec,
    frames(chunk([{ text: 'a' }]), chunk([{ text: 'b' }]), chunk([{ text: 'c' }], { finishReason: 'STOP' })),
    context,
    3,
  )
  const error = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }
  const events = readStream(googleCodec, frames(chunk([{ text: 'a' }]), error, chunk([{ text: 'b' }])), context)
  t.like(events.at(-1), { type: 'error', error: { status: 503, message: 'overloaded', type: 'UNAVAILABLE' } })
  t.deepEqual(
    readStream(
      googleCodec,
      [
        { name: null, data: '{' },
        { name: null, data: 'null' },
        { name: null, data: '[]' },
      ],
      context,
    ),
    [],
  )
})

test("a wrong key is 401; an error in Google's words bears a status that its clients know", (t) => {
  const body = { error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } }
  t.is(googleCodec.error.decode(400, body).status, 401)
  t.is(googleCodec.error.decode(429, [{ error: { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED' } }]).message, 'slow')
  const written = googleCodec.error.encode({ status: 529, message: 'busy', type: null, code: null, param: null }, 'r')
  t.deepEqual(written, { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } })
})

const shown = contextFor('google', {
  request: { ...emptyRequest('google'), reasoning: { effort: null, budget: null, enabled: null, show: true } },
})
const thinking: readonly NeutralEvent[] = [
  { type: 'start', id: 'msg_1', model: 'claude', created: null },
  { type: 'block-start', choice: 0, block: { kind: 'reasoning' } },
  { type: 'delta', choice: 0, text: 'hm' },
  { type: 'block-end', choice: 0, end: { signature: { origin: 'anthropic', value: 'sig' }, redacted: false } },
  { type: 'block-start', choice: 0, block: { kind: 'text' } },
  { type: 'delta', choice: 0, text: 'Let me see.' },
  { type: 'block-end', choice: 0, end: { signature: null, redacted: false } },
  { type: 'block-start', choice: 0, block: { kind: 'tool-call', id: 'toolu_1', name: 'f', custom: false } },
  { type: 'delta', choice: 0, text: '{"a":' },
  { type: 'delta', choice: 0, text: '1}' },
  { type: 'block-end', choice: 0, end: { signature: null, redacted: false } },
  { type: 'usage', usage: { ...noUsage, input: 5, output: 9, reasoning: 4 }, tier: null },
  { type: 'finish', choice: 0, finish: finishOf('tool-calls', 'tool_use') },
  { type: 'end' },
]

test("vercel#13060: what Claude thought comes back through Google's client, also when it drops thoughts", (t) => {
  for (const seen of [shown, contextFor('google')]) {
    const json = googleCodec.answer.encode(foldEvents(thinking), seen) as GenerateContentResponse
    const content = json.candidates?.[0]?.content
    t.regex(content?.parts?.at(-1)?.thoughtSignature ?? '', /^[A-Za-z0-9+/=]+$/)
    const contents = [
      { role: 'user', parts: [{ text: 'hi' }] },
      content,
      { role: 'user', parts: [{ functionResponse: { id: 'toolu_1', name: 'f', response: { output: 'x' } } }] },
    ]
    for (const kept of [content?.parts, content?.parts?.filter(({ thought }) => thought !== true)]) {
      const { body, dropped } = googleToClaude({ contents: contents.with(1, { role: 'model', parts: kept ?? [] }) })
      t.deepEqual((body['messages'] as readonly Body[])[1]?.['content'], [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
      ])
      t.deepEqual(
        dropped.filter((name) => name.startsWith('contents')),
        [],
      )
    }
  }
})

test("a stream for Google's client: calls whole, the finish with the counts at the end", (t) => {
  const written = writeStream(googleCodec, thinking, shown).map(({ data }) => JSON.parse(data ?? '') as GenerateContentResponse)
  t.deepEqual(
    written.map(({ candidates }) => candidates?.[0]?.content?.parts?.map((part) => part.text ?? part.functionCall?.args)),
    [['hm'], ['Let me see.'], [{ a: 1 }], ['']],
  )
  t.like(written.at(-1), {
    candidates: { 0: { finishReason: 'STOP' } },
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5, thoughtsTokenCount: 4, totalTokenCount: 14 },
    modelVersion: 'claude',
    responseId: 'msg_1',
  })
})

test('a word of a list comes without quotes', (t) => {
  const { request } = googleToChat({
    generationConfig: { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a', 'b'] } },
  })
  const seen = contextFor('google', { request })
  const events: readonly NeutralEvent[] = [
    { type: 'block-start', choice: 0, block: { kind: 'text' } },
    { type: 'delta', choice: 0, text: '{"value":' },
    { type: 'delta', choice: 0, text: '"b"}' },
    { type: 'block-end', choice: 0, end: { signature: null, redacted: false } },
    { type: 'finish', choice: 0, finish: finishOf('stop') },
    { type: 'end' },
  ]
  t.like(googleCodec.answer.encode(foldEvents(events), seen), { candidates: { 0: { content: { parts: { 0: { text: 'b' } } } } } })
  t.is(
    (JSON.parse(writeStream(googleCodec, events, seen)[0]?.data ?? '') as GenerateContentResponse).candidates?.[0]?.content?.parts?.[0]
      ?.text,
    'b',
  )
})

test("an answer in Google's form that is read again says the same, whole and as a stream", (t) => {
  const signed: NeutralEvent = { type: 'block-end', choice: 0, end: { signature: { origin: 'google', value: 'c2ln' }, redacted: false } }
  const own = thinking.map((event) => (event.type === 'block-end' && event.end.signature !== null ? signed : event))
  const expected = saidBy(foldEvents(own))
  const whole: unknown = JSON.parse(JSON.stringify(googleCodec.answer.encode(foldEvents(own), shown)))
  t.deepEqual(saidBy(foldEvents(googleCodec.answer.decode(whole, shown))), expected)
  t.deepEqual(saidBy(foldEvents(readStream(googleCodec, writeStream(googleCodec, own, shown), shown))), expected)
})
