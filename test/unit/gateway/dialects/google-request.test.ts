import type { Content } from '@google/genai'
import test from 'ava'
import fc from 'fast-check'
import { ApiError } from '../../../../src/lib/errors.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

const user = (content: unknown) => ({ role: 'user', content })
const weather = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}
const call = (id: string, city: string, extra: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: JSON.stringify({ city }) },
  ...extra,
})
const chatToGoogle = translator('openai-chat', 'google', { model: 'gemini-2.5-flash', messages: [user('hi')] })
const googleToChat = translator('google', 'openai-chat', { model: 'gpt-4o', contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })
const claudeToGoogle = translator('anthropic', 'google', { model: 'gemini-3-pro-preview', max_tokens: 100, messages: [user('hi')] })

test('the fields of a chat, as Google names them', (t) => {
  const { body, dropped } = chatToGoogle({
    messages: [{ role: 'system', content: 'a' }, { role: 'developer', content: 'b' }, user('hi')],
    max_completion_tokens: 100,
    stop: 'x',
    temperature: 1.5,
    top_p: 0.5,
    top_k: 3,
    seed: 7,
    frequency_penalty: 1,
    presence_penalty: -1,
    logprobs: true,
    top_logprobs: 2,
    service_tier: 'flex',
    response_format: { type: 'json_object' },
  })
  t.deepEqual(body, {
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    systemInstruction: { parts: [{ text: 'a' }, { text: 'b' }] },
    generationConfig: {
      maxOutputTokens: 100,
      temperature: 1.5,
      topP: 0.5,
      topK: 3,
      stopSequences: ['x'],
      seed: 7,
      frequencyPenalty: 1,
      presencePenalty: -1,
      responseLogprobs: true,
      logprobs: 2,
      responseMimeType: 'application/json',
    },
    serviceTier: 'flex',
  })
  t.deepEqual(dropped, [])
})

const steering: readonly (readonly [body: Body, dropped: readonly string[]])[] = [
  [{ logit_bias: { 5: 1 }, verbosity: 'low', user: 'u' }, ['logit_bias', 'verbosity', 'user']],
  [{ stop: ['a', 'b', 'c', 'd', 'e', 'f'] }, ['stop']],
  [{ seed: 2 ** 40 }, ['seed']],
  [{ tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'grammar' } } }] }, ['tools[0].custom.format']],
  [{ presence_penalty: 2 }, ['presence_penalty']],
  [{ metadata: { a: 'b' } }, ['metadata']],
  [{ service_tier: 'scale' }, ['service_tier']],
  [{ tools: [weather], parallel_tool_calls: false }, ['parallel_tool_calls']],
  [{ tool_choice: 'required' }, ['tool_choice']],
  [{ prediction: {}, unheard_of: 1 }, ['prediction', 'unheard_of']],
  [{ messages: [user('a'), { role: 'system', content: 'later' }, user('b')] }, ['messages[1]']],
]
for (const [body, dropped] of steering)
  test(`what only steers is dropped and named for Google: ${JSON.stringify(body)}`, (t) => {
    t.deepEqual(chatToGoogle(body).dropped, dropped)
    t.is(t.throws(() => chatToGoogle(body, { strict: true }), { instanceOf: ApiError }).param, dropped[0] ?? '')
  })

const meaning: readonly (readonly [body: Body, param: string])[] = [
  [{ n: 2 }, 'n'],
  [{ modalities: ['text', 'audio'] }, 'modalities'],
  [{ messages: [user('a'), { role: 'tool', tool_call_id: 'lost', content: 'x' }] }, 'messages[1]'],
  [{ messages: [user([{ type: 'file', file: { file_id: 'file-1' } }])] }, 'messages[0].content[0]'],
]
for (const [body, param] of meaning)
  test(`what would mean something else is refused by its name for Google: ${JSON.stringify(body)}`, (t) => {
    t.is(t.throws(() => chatToGoogle(body), { instanceOf: ApiError }).param, param)
  })

test("a search on the web that a chat asks for is Google's own", (t) => {
  const { body, dropped } = chatToGoogle({ web_search_options: {} })
  t.deepEqual(body['tools'], [{ googleSearch: {} }])
  t.deepEqual(dropped, [])
})

test('images, files and sounds go as bytes or as addresses, with the type that their first bytes tell', (t) => {
  const content = [
    { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,iVBORw0KGgoAAAA', detail: 'low' } },
    { type: 'image_url', image_url: { url: 'https://example.com/a.webp' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  ]
  const { body } = chatToGoogle({ messages: [user(content)] })
  t.like(body, { generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' } })
  t.deepEqual(body['contents'], [
    {
      role: 'user',
      parts: [
        { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgoAAAA' } },
        { fileData: { mimeType: 'image/webp', fileUri: 'https://example.com/a.webp' } },
        { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0x' } },
        { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
      ],
    },
  ])
  const old = { model: 'gemini-1.5-pro', messages: [user([content[1]])] }
  t.is(t.throws(() => chatToGoogle(old), { instanceOf: ApiError }).param, 'messages[0].content[0]')
})

const round = (extra: object = {}): Body => ({
  tools: [weather],
  messages: [
    user('hi'),
    { role: 'assistant', content: null, tool_calls: [call('call_1', 'Paris', extra), call('call_2', 'Rome')] },
    { role: 'tool', tool_call_id: 'call_2', content: '{"sky":"blue"}' },
    { role: 'tool', tool_call_id: 'call_1', content: 'sun' },
    user('and?'),
  ],
})

test('results stand in the order of their calls, alone in their turn, as objects; Vertex takes no ids', (t) => {
  const { body } = chatToGoogle(round())
  t.deepEqual(body['contents'], [
    { role: 'user', parts: [{ text: 'hi' }] },
    {
      role: 'model',
      parts: [
        { functionCall: { id: 'call_1', name: 'weather', args: { city: 'Paris' } } },
        { functionCall: { id: 'call_2', name: 'weather', args: { city: 'Rome' } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'call_1', name: 'weather', response: { output: 'sun' } } },
        { functionResponse: { id: 'call_2', name: 'weather', response: { sky: 'blue' } } },
      ],
    },
    { role: 'user', parts: [{ text: 'and?' }] },
  ])
  t.false(JSON.stringify(chatToGoogle(round(), { traits: { host: 'vertex' } }).body['contents']).includes('call_1'))
})

const results = (content: unknown, rest: object = {}) => ({
  model: 'gemini-3-pro-preview',
  messages: [
    user('hi'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
    user([{ type: 'tool_result', tool_use_id: 'c', content, ...rest }]),
  ],
})
const written = (body: Body) => (claudeToGoogle(body).body['contents'] as readonly Content[])[2]?.parts

test('litellm#38223: a result with references in it is a text; an error says so; an image goes with its result', (t) => {
  t.like(written(results('{"$ref":"#/a"}'))?.[0], { functionResponse: { response: { output: '{"$ref":"#/a"}' } } })
  t.like(written(results('no', { is_error: true }))?.[0], { functionResponse: { response: { error: 'no' } } })
  const image = [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo' } }]
  const inline = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo' } }
  t.like(written(results(image))?.[0], { functionResponse: { parts: { 0: inline } } })
  t.deepEqual(written({ ...results(image), model: 'gemini-2.5-pro' })?.[1], inline)
})

test('bifrost#1437, #2210, #1142: a call of the current turn bears its signature, or the mark for one that is not known', (t) => {
  const messages = (round()['messages'] as unknown[]).slice(0, 4)
  const asked = { ...round(), messages, model: 'gemini-3-pro-preview' }
  const lost = chatToGoogle(asked)
  t.like(lost.body['contents'], { 1: { parts: { 0: { thoughtSignature: 'skip_thought_signature_validator' } } } })
  t.deepEqual(lost.dropped, ['messages[1] (the reasoning before the call)'])
  t.deepEqual(chatToGoogle({ ...asked, model: 'gemini-2.5-pro' }).dropped, [])
  const extra = { extra_content: { google: { thought_signature: 'abc' } } }
  const kept = chatToGoogle({ ...round(extra), model: 'gemini-3-pro-preview' })
  t.like(kept.body['contents'], { 1: { parts: { 0: { thoughtSignature: 'abc' } } } })
  t.deepEqual(kept.dropped, [])
})

const thought = (model: string, effort: string, max_tokens: number | null = null) => {
  const { body, dropped } = chatToGoogle({ reasoning_effort: effort, max_tokens }, { model })
  return [(body['generationConfig'] as Body | undefined)?.['thinkingConfig'], dropped.length]
}

test('how much a model thinks, as each generation takes it', (t) => {
  t.deepEqual(thought('gemini-2.5-flash', 'none'), [{ thinkingBudget: 0 }, 0])
  t.deepEqual(thought('gemini-2.5-pro', 'none'), [{ thinkingBudget: 128 }, 1])
  t.deepEqual(thought('gemini-2.5-pro', 'medium', 10_000), [{ thinkingBudget: 3000, includeThoughts: true }, 0])
  t.deepEqual(thought('gemini-2.5-flash', 'max'), [{ thinkingBudget: 24_576, includeThoughts: true }, 0])
  t.deepEqual(thought('gemini-3-pro-preview', 'medium'), [{ thinkingLevel: 'HIGH', includeThoughts: true }, 0])
  t.deepEqual(thought('gemini-3-pro-preview', 'none'), [{ thinkingLevel: 'LOW' }, 1])
  t.deepEqual(thought('gemini-3-flash-preview', 'minimal'), [{ thinkingLevel: 'MINIMAL', includeThoughts: true }, 0])
  t.deepEqual(thought('gemini-2.0-flash', 'high'), [undefined, 1])
})

test('vercel#11326: schemas go whole to models that know them, else in the part that they know', (t) => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { city: { type: ['string', 'null'], const: 'Rome' } },
    properties: {
      city: { $ref: '#/$defs/city' },
      size: { oneOf: [{ type: 'integer', exclusiveMinimum: 0 }, { type: 'null' }] },
      code: { enum: [1, 2] },
    },
    additionalProperties: false,
  }
  const { $schema: _version, ...whole } = schema
  const tool = { type: 'function', function: { name: 'f', parameters: schema } }
  t.like(chatToGoogle({ tools: [tool] }).body, { tools: { 0: { functionDeclarations: { 0: { parametersJsonSchema: whole } } } } })
  const { body, dropped } = chatToGoogle({ tools: [tool] }, { model: 'gemini-1.5-pro' })
  t.deepEqual(body['tools'], [
    {
      functionDeclarations: [
        {
          name: 'f',
          parameters: {
            type: 'OBJECT',
            properties: {
              city: { type: 'STRING', format: 'enum', enum: ['Rome'], nullable: true },
              size: { type: 'INTEGER', nullable: true },
              code: { type: 'STRING', format: 'enum', enum: ['1', '2'] },
            },
          },
        },
      ],
    },
  ])
  t.deepEqual(dropped, ['tools[0].parameters.exclusiveMinimum', 'tools[0].parameters.enum', 'tools[0].parameters.additionalProperties'])
  const circle = { type: 'object', properties: { next: { $ref: '#' } } }
  const asked = { tools: [{ type: 'function', function: { name: 'f', parameters: circle } }] }
  t.is(t.throws(() => chatToGoogle(asked, { model: 'gemini-1.5-pro' }), { instanceOf: ApiError }).param, 'tools[0].parameters')
})

test('litellm#18442: a function that takes nothing has no parameters; names that Google refuses are changed and known again', (t) => {
  const tool = { type: 'function', function: { name: '1st', parameters: { type: 'object', properties: {} } } }
  const { body, memory } = chatToGoogle({ tools: [tool], tool_choice: { type: 'function', function: { name: '1st' } } })
  const [{ functionDeclarations }] = body['tools'] as [{ functionDeclarations: readonly Body[] }]
  t.deepEqual(Object.keys(functionDeclarations[0] ?? {}), ['name'])
  const name = String(functionDeclarations[0]?.['name'])
  t.is(memory.toolNames?.get(name), '1st')
  t.deepEqual(body['toolConfig'], { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } })
})

test('a schema for the answer beside tools is a function where the model cannot have both', (t) => {
  const response_format = { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'array' } } }
  const both = chatToGoogle({ tools: [weather], response_format })
  t.deepEqual(both.memory.schemaTool, { name: 'final_answer', wrapped: true })
  t.deepEqual(both.body['toolConfig'], { functionCallingConfig: { mode: 'ANY' } })
  t.like(chatToGoogle({ response_format }).body, { generationConfig: { responseJsonSchema: { type: 'array' } } })
  t.is(chatToGoogle({ tools: [weather], response_format }, { model: 'gemini-3-pro-preview' }).memory.schemaTool, null)
})

test("what Google's own client sends, for a chat model: names in both spellings, schemas, results without ids", (t) => {
  const { body, dropped } = googleToChat({
    system_instruction: { parts: [{ text: 'be short' }] },
    contents: [
      { parts: [{ text: 'look' }, { inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo' } }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 1 } } }, { functionCall: { name: 'f', args: {} } }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { output: 'one' } } },
          { functionResponse: { name: 'f', response: { error: 'two' } } },
        ],
      },
    ],
    tools: [
      { functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'NUMBER', nullable: true } } } }] },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    safetySettings: [],
    generation_config: {
      max_output_tokens: 50,
      stopSequences: ['x'],
      topK: 4,
      response_mime_type: 'application/json',
      response_schema: { type: 'ARRAY', items: { type: 'STRING' }, maxItems: '3', propertyOrdering: [] },
    },
  })
  const messages = body['messages'] as readonly (Body & { readonly tool_calls?: readonly { readonly id: string }[] })[]
  const ids = messages[2]?.tool_calls?.map(({ id }) => id) ?? []
  t.is(new Set(ids).size, 2)
  t.deepEqual(messages[0], { role: 'system', content: 'be short' })
  t.deepEqual(messages.slice(3), [
    { role: 'tool', tool_call_id: ids[0], content: 'one' },
    { role: 'tool', tool_call_id: ids[1], content: 'two' },
  ])
  t.like(body, {
    max_tokens: 50,
    stop: ['x'],
    tool_choice: { type: 'function', function: { name: 'f' } },
    tools: { 0: { function: { parameters: { type: 'object', properties: { a: { type: ['number', 'null'] } } } } } },
    response_format: { json_schema: { schema: { properties: { value: { type: 'array', items: { type: 'string' }, maxItems: 3 } } } } },
  })
  t.deepEqual(dropped, ['generationConfig.topK'])
})

const refusedOfGoogle: readonly (readonly [body: Body, param: string])[] = [
  [{ tools: [{ googleSearch: {} }] }, 'tools[0].googleSearch.type'],
  [{ cachedContent: 'cachedContents/1' }, 'cachedContent'],
  [{ continuationToken: 'YWJj' }, 'continuationToken'],
  [{ generationOutputConfig: {} }, 'generationOutputConfig'],
  [{ generationConfig: { responseFormat: [{ text: { mimeType: 'application/json' } }] } }, 'generationConfig.responseFormat'],
  [{ generationConfig: { audioTranscriptionConfig: {} } }, 'generationConfig.audioTranscriptionConfig'],
  [{ generationConfig: { translationConfig: {} } }, 'generationConfig.translationConfig'],
  [{ generationConfig: { responseModalities: ['AUDIO'] } }, 'generationConfig.responseModalities'],
  [{ contents: [{ parts: [{ fileData: { fileUri: 'files/abc', mimeType: 'application/pdf' } }] }] }, 'contents[0].parts[0]'],
  [{ contents: [{ role: 'nobody', parts: [] }] }, 'contents[0].role'],
  [{ contents: [{ parts: [{}] }] }, 'contents[0].parts[0]'],
  [{ contents: [{ parts: [{ functionResponse: { name: 'f', response: {} } }] }] }, 'contents[0].parts[0].functionResponse.name'],
]
for (const [body, param] of refusedOfGoogle)
  test(`what only Google has is refused by its name: ${JSON.stringify(body)}`, (t) => {
    t.is(t.throws(() => googleToChat(body), { instanceOf: ApiError }).param, param)
  })

test('a request that is read and written again says the same', (t) => {
  const parts = fc.oneof(
    fc.record({ text: fc.string({ minLength: 1 }) }),
    fc.constant({ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo' } }),
  )
  const rounds = fc.array(
    fc.record({
      asked: fc.array(parts, { minLength: 1, maxLength: 3 }),
      said: fc.string({ minLength: 1 }),
      args: fc.dictionary(fc.string(), fc.integer()),
    }),
    { minLength: 1, maxLength: 4 },
  )
  const echo = translator('google', 'openai-chat', { model: 'gpt-4o' })
  const back = translator('openai-chat', 'google', { model: 'gemini-2.5-pro' })
  fc.assert(
    fc.property(rounds, (turns) => {
      const contents = turns.flatMap(({ asked, said, args }, index) => [
        { role: 'user', parts: asked },
        { role: 'model', parts: [{ text: said }, { functionCall: { id: `c${index}`, name: 'f', args } }] },
        { role: 'user', parts: [{ functionResponse: { id: `c${index}`, name: 'f', response: { output: said } } }] },
      ])
      t.deepEqual(back(echo({ contents }).body, { model: 'gemini-2.5-pro' }).body['contents'], contents)
    }),
    { numRuns: 100 },
  )
})
