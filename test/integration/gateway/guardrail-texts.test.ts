import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RawAnswer, send } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  bed = await startGateway({ providers: { p: { customHost: emulator.url }, a: { provider: 'anthropic', customHost: emulator.url } } })
})
test.after.always(async () => {
  await bed?.stop()
  await emulator?.stop()
})
test.beforeEach(() => emulator.reset())

const say = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] })
const forbids = (rule: string) => ({ 'default.regexMatch': { rule, not: true }, deny: true })

const ask = (path: string, guardrails: object, body: object = say('hello')): Promise<RawAnswer> =>
  send(`${bed.origin}${path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'content-type': 'application/json',
      'x-service-config': JSON.stringify({ provider: path === '/v1/messages' ? '@a' : '@p', ...guardrails }),
    },
    body: JSON.stringify(body),
  })

const audio = { role: 'assistant', content: null, audio: { id: 'a', data: 'QUJD', transcript: 'an emulator' } }
for (const [path, body] of [
  ['/v1/chat/completions', { choices: [{ index: 0, message: audio }] }],
  ['/v1/responses', { output: [{ type: 'custom_tool_call', call_id: 'c', name: 'f', input: 'an emulator' }] }],
  ['/v1/some/path/of/a/provider', { text: 'ok', answer: 'an emulator' }],
] as const)
  test.serial(`denied in every answer alike: ${path} ${JSON.stringify(body).slice(0, 60)}`, async (t) => {
    const behaviour = { status: 200, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    emulator.script({ behaviour })
    t.is((await ask(path, { output_guardrails: [forbids('emulator')] })).status, 446)
    emulator.script({ behaviour })
    t.is((await ask(path, { output_guardrails: [forbids('QUJD')] })).status, 200)
  })

test.serial('texts are replaced wherever they are read', async (t) => {
  const body = {
    ...say([{ type: 'document', title: 'card 1234', source: { type: 'text', data: '5678' } }]),
    functions: [{ name: 'f1234', description: 'as 1234' }],
  }
  const input = [{ 'default.regexReplace': { rule: '\\d{4}', redactText: '#' } }]
  await ask('/v1/messages', { input_guardrails: input }, body)
  const sent = JSON.stringify(body).replace('card 1234', 'card #').replace('5678', '#').replace('as 1234', 'as #')
  t.deepEqual(emulator.requests[0]?.json, JSON.parse(sent))
})

const names = { blockedFunctionNames: ['rm'] }
const tooled: readonly (readonly [refused: object, body: object, status: number])[] = [
  [names, { tools: [{ type: 'custom', custom: { name: 'rm' } }] }, 446],
  [names, { tools: [{ type: 'function', name: 'ls', function: { name: 'rm' } }] }, 446],
  [names, { tools: [{ name: 'ls', input_schema: { name: 'rm' }, input_examples: [{ name: 'rm' }] }] }, 200],
  [names, { tools: [{ functionDeclarations: [{ name: 'ls' }, { name: 'rm' }] }] }, 446],
  [names, { tools: { function_declarations: [{ name: 'rm' }] } }, 446],
  [names, { toolConfig: { tools: [{ toolSpec: { name: 'rm' } }] } }, 446],
  [names, { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'rm' }] }] }, 446],
  [names, { functions: [{ name: 'rm' }] }, 446],
  [{ blockedTypes: ['google_search'] }, { tools: [{ functionDeclarations: [], googleSearch: {} }] }, 446],
  [{ blockedTypes: ['googleSearch'] }, { tools: [{ google_search: {} }] }, 446],
  [{ allowedTypes: ['function'] }, { tools: [{ functionDeclarations: [{ name: 'f' }] }] }, 200],
  [{ allowedTypes: ['function'] }, { toolConfig: { tools: [{ toolSpec: { name: 'f' } }, { cachePoint: { type: 'default' } }] } }, 200],
  [{ allowedTypes: ['function'] }, { tools: [{ codeExecution: {} }] }, 446],
]
for (const [tools, body, status] of tooled)
  test.serial(`tools are found: ${JSON.stringify([tools, body])}`, async (t) => {
    const input = [{ 'default.requestParametersCheck': { tools }, deny: true }]
    t.is((await ask('/v1/echo', { input_guardrails: input }, { ...say('x'), ...body })).status, status)
  })

const hi = { role: 'user', content: 'hi' }
const image = { type: 'input_image', image_url: 'https://a.test/b.png' }
const system = { applyToRole: 'system' }
const prefixed: readonly (readonly [path: string, wanted: object, body: object, sent: object])[] = [
  ['/v1/messages', system, { messages: [hi] }, { messages: [hi], system: '> ' }],
  ['/v1/messages', system, { system: 'be', messages: [hi] }, { system: '> be', messages: [hi] }],
  [
    '/v1/messages',
    system,
    { system: [{ type: 'text', text: 'be' }], messages: [hi] },
    { system: [{ type: 'text', text: '> be' }], messages: [hi] },
  ],
  [
    '/v1/messages',
    { ...system, addToExisting: false },
    { system: [{ type: 'text', text: 'be' }], messages: [] },
    {
      system: [
        { type: 'text', text: '> ' },
        { type: 'text', text: 'be' },
      ],
      messages: [],
    },
  ],
  ['/v1/messages', { ...system, onlyIfEmpty: true }, { system: [], messages: [hi] }, { system: '> ', messages: [hi] }],
  ['/v1/messages', { ...system, onlyIfEmpty: true }, { system: 'be', messages: [hi] }, { system: 'be', messages: [hi] }],
  ['/v1/chat/completions', system, { messages: [hi] }, { messages: [{ role: 'system', content: '> ' }, hi] }],
  [
    '/v1/chat/completions',
    system,
    { messages: [{ role: 'developer', content: 'be' }, hi] },
    { messages: [{ role: 'developer', content: '> be' }, hi] },
  ],
  ['/v1/chat/completions', { applyToRole: 'user' }, { messages: [hi] }, { messages: [{ role: 'user', content: '> hi' }] }],
  ['/v1/responses', system, { input: 'hi' }, { input: 'hi', instructions: '> ' }],
  ['/v1/responses', system, { instructions: 'be', input: [hi] }, { instructions: '> be', input: [hi] }],
  ['/v1/responses', system, { input: [{ role: 'system', content: 'be' }, hi] }, { input: [{ role: 'system', content: '> be' }, hi] }],
  ['/v1/responses', {}, { input: 'hi' }, { input: '> hi' }],
  ['/v1/responses', {}, { input: [hi] }, { input: [{ role: 'user', content: '> hi' }] }],
  [
    '/v1/responses',
    {},
    { input: [{ role: 'user', content: [image] }] },
    { input: [{ role: 'user', content: [{ type: 'input_text', text: '> ' }, image] }] },
  ],
  ['/v1/responses', { applyToRole: 'assistant' }, { input: 'hi' }, { input: [hi, { role: 'assistant', content: '> ' }] }],
]
for (const [path, wanted, body, sent] of prefixed)
  test.serial(`a prefix is added: ${path} ${JSON.stringify([wanted, body])}`, async (t) => {
    await ask(path, { input_guardrails: [{ 'default.addPrefix': { prefix: '> ', ...wanted } }] }, { model: 'm', ...body })
    t.deepEqual(emulator.requests[0]?.json, { model: 'm', ...sent })
  })
