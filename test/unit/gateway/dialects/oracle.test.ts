import test from 'ava'
import { oracleCodec } from '../../../../src/gateway/dialects/oracle/codec.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import { contextFor } from '../../../support/dialects/laws.ts'
import { refusalOfOracle } from '../../../support/dialects/strict-oracle.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

/** Oracle's Generative AI: the format of a model among its three, its place, and its steering fields. */
const settings = { oracle_tenancy: 'ocid1.tenancy.oc1..t', oracle_compartment_id: '', oracle_serving_mode: 'ON_DEMAND' }
const hello = [{ role: 'user', content: 'Hello' }]
const fromChat = translator('openai-chat', 'oracle', { model: 'meta.llama-3.3-70b-instruct', messages: hello })
const write = (fields: Body, more: Readonly<Record<string, string>> = {}, model?: string) =>
  fromChat(fields, {
    traits: { settings: { ...settings, ...more }, reasoningField: 'reasoning_content' },
    ...(model !== undefined && { model }),
  })
const refusal = (json: Body) =>
  refusalOfOracle({
    url: '/20231130/actions/chat',
    json,
    headers: { authorization: 'Signature keyId="ocid1.tenancy.oc1..t/u/f"' },
  } as never)
const tool = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }
const other = { type: 'function', function: { name: 'time' } }

test("a compartment, an endpoint of one's own and a mode that a provider is stored with stand in each request", (t) => {
  const onDemand = { servingType: 'ON_DEMAND', modelId: 'meta.llama-3.3-70b-instruct' }
  t.like(write({}).body, { compartmentId: 'ocid1.tenancy.oc1..t', servingMode: onDemand })
  t.like(write({}, { oracle_compartment_id: 'ocid1.compartment.oc1..c' }).body, { compartmentId: 'ocid1.compartment.oc1..c' })
  const endpoint = 'ocid1.generativeaiendpoint.oc1.eu-frankfurt-1.e'
  t.deepEqual(write({}, {}, endpoint).body['servingMode'], { servingType: 'DEDICATED', endpointId: endpoint })
  t.like(write({}, { oracle_serving_mode: 'DEDICATED' }).body, { servingMode: { endpointId: 'meta.llama-3.3-70b-instruct' } })
})

test('what steers a chat has its own names, and what is not there is named', (t) => {
  const { body, dropped } = write({
    max_tokens: 50,
    n: 2,
    seed: 7,
    top_k: 5,
    stop: ['x'],
    logprobs: true,
    top_logprobs: 3,
    service_tier: 'flex',
    reasoning_effort: 'xhigh',
    verbosity: 'low',
    user: 'u',
    tools: [tool, other],
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'time' } }] } },
  })
  t.is(refusal(body), null)
  t.like(body['chatRequest'], {
    maxTokens: 50,
    numGenerations: 2,
    seed: 7,
    topK: 5,
    stop: ['x'],
    logProbs: 3,
    reasoningEffort: 'HIGH',
    verbosity: 'LOW',
    tools: { length: 2 },
    toolChoice: { type: 'FUNCTION', name: 'time' },
  })
  t.deepEqual(dropped, ['user', 'reasoning_effort', 'service_tier'])
})

test('models of Cohere that see or think take its second version', (t) => {
  const { body } = write(
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'sun' },
      ],
      tools: [tool],
      tool_choice: 'required',
      reasoning_effort: 'low',
      max_tokens: 4000,
      stream: true,
    },
    {},
    'cohere.command-a-reasoning',
  )
  t.is(refusal(body), null)
  t.like(body['chatRequest'], {
    apiFormat: 'COHEREV2',
    messages: {
      0: { role: 'SYSTEM', content: [{ type: 'TEXT', text: 'Be brief.' }] },
      1: { content: { 1: { type: 'IMAGE_URL', imageUrl: { url: 'data:image/png;base64,AA==' } } } },
      2: { toolPlan: 'I look.', toolCalls: [{ id: 'c1', type: 'FUNCTION' }] },
      3: { role: 'TOOL', toolCallId: 'c1' },
    },
    toolsChoice: 'REQUIRED',
    thinking: { type: 'ENABLED', tokenBudget: 1024 },
    isStream: true,
  })
})

test('answers of the second version are read, whole and in pieces; the end of a stream repeats them', (t) => {
  const context = { ...contextFor('oracle'), model: 'cohere.command-a-reasoning' }
  const message = {
    role: 'ASSISTANT',
    content: [
      { type: 'THINKING', thinking: 'Hm.' },
      { type: 'TEXT', text: 'Sun.' },
    ],
    toolCalls: [{ id: 'c1', type: 'FUNCTION', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
  }
  const usage = { promptTokens: 5, completionTokens: 3, totalTokens: 8 }
  const end = { apiFormat: 'COHEREV2', message, finishReason: 'TOOL_CALL', usage }
  const whole = foldEvents(oracleCodec.answer.decode({ modelId: 'm', chatResponse: { id: 'r', ...end } }, context))
  const decoder = oracleCodec.stream.decoder(context)
  const pieces = [
    { message: { content: [{ type: 'THINKING', thinking: 'Hm.' }] } },
    { message: { content: [{ type: 'TEXT', text: 'Sun.' }] } },
    end,
  ].flatMap((event) => decoder.frame({ name: null, data: JSON.stringify(event) }))
  const streamed = foldEvents([...pieces, ...decoder.end()])
  for (const { choices, usage: told } of [whole, streamed]) {
    t.like(choices[0], {
      blocks: {
        0: { block: { kind: 'reasoning' }, text: 'Hm.' },
        1: { block: { kind: 'text' }, text: 'Sun.' },
        2: { block: { kind: 'tool-call', id: 'c1', name: 'weather' }, text: '{"city":"Paris"}' },
      },
      finish: { reason: 'tool-calls' },
    })
    t.like(told, { input: 5, output: 3 })
  }
})

test("a model of Cohere's first version reads the rest of a schema in a description, and the caller is told", (t) => {
  const parameters = {
    type: 'object',
    properties: { unit: { type: 'string', enum: ['C', 'F'], description: 'The unit.' } },
    required: ['unit'],
  }
  const { body, dropped } = write(
    { tools: [{ type: 'function', function: { name: 'weather', description: 'Tells it.', parameters } }], tool_choice: 'required' },
    {},
    'cohere.command-r-plus-08-2024',
  )
  t.is(refusal(body), null)
  t.like(body['chatRequest'], {
    tools: [
      {
        name: 'weather',
        parameterDefinitions: { unit: { type: 'str', description: 'The unit. JSON Schema: {"enum":["C","F"]}', isRequired: true } },
      },
    ],
  })
  t.deepEqual(dropped, ['tool_choice', 'tools[0].parameters.properties.unit (told in its description)'])
})

test("fields of Oracle's own stand in the chat, and none of them says what was checked", (t) => {
  const { body } = write({ provider_options: { oracle: { isEcho: true } } })
  t.like(body['chatRequest'], { isEcho: true, messages: { length: 1 } })
  t.throws(() => write({ provider_options: { oracle: { chatHistory: [] } } }), {
    message: /provider_options\.oracle\.chatHistory cannot be given/,
  })
})

test('an error in a stream, and one that a model ends with, are errors', (t) => {
  const context = { ...contextFor('oracle'), model: 'cohere.command-r-08-2024' }
  const fails = [
    { code: '429', message: 'too many' },
    { text: '', finishReason: 'ERROR_TOXIC', errorMessage: 'toxic' },
  ]
  for (const event of fails)
    t.is(
      oracleCodec.stream
        .decoder(context)
        .frame({ name: null, data: JSON.stringify(event) })
        .at(-1)?.type,
      'error',
    )
  const generic = oracleCodec.stream.decoder({ ...context, model: 'xai.grok-4' })
  t.is(generic.frame({ name: null, data: '{"code":"500","message":"broken"}' }).at(-1)?.type, 'error')
  t.deepEqual(generic.end(), [])
})
