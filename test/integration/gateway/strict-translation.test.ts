import test from 'ava'
import OpenAI from 'openai'
import { json, sse } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

const [strictKey, lockedKey] = ['gh-test-key-that-drops-nothing-00000', 'gh-test-key-that-must-drop-nothing-0']
let claude: Emulator
let bed: GatewayBed

test.before(async () => {
  claude = await startEmulator()
  const defaults = { config: 'strict', configLocked: false, inputGuardrails: [], outputGuardrails: [] }
  bed = await startGateway({
    providers: {
      claude: { provider: 'anthropic', customHost: claude.url, credential: { key: 'sk', fields: {} } },
      gpt: { provider: 'openai', customHost: claude.url, credential: { key: 'sk', fields: {} } },
    },
    configs: {
      again: { strategy: { mode: 'fallback' }, targets: [{ provider: '@claude' }, { provider: '@gpt' }] },
      strict: { strict_translation: true },
      locked: { strict_translation: true, provider: '@claude' },
    },
    keys: { [strictKey]: { defaults }, [lockedKey]: { defaults: { ...defaults, config: 'locked', configLocked: true } } },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await claude?.stop()
})

const ask = (apiKey: string, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey, maxRetries: 0, defaultHeaders: headers }).chat.completions.create({
    model: 'claude-sonnet-4-5',
    max_tokens: 5,
    seed: 1,
    messages: [{ role: 'user', content: 'x' }],
  })
const named = { 'x-service-provider': '@claude' }
const loose = { 'x-service-strict-translation': 'false' }
const answer = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

test.serial(
  'a config is strict for the keys whose default it is; the header goes before it, unless the key may use no other',
  async (t) => {
    claude.script({ behaviour: json(answer) })
    const refused = await t.throwsAsync(ask(strictKey, named), { instanceOf: OpenAI.BadRequestError })
    t.is(refused?.param, 'seed')
    await t.notThrowsAsync(ask(strictKey, { ...named, ...loose }))
    await t.throwsAsync(ask(lockedKey, loose), { instanceOf: OpenAI.BadRequestError })
    await t.notThrowsAsync(ask(workspaceKey, named))
  },
)

test.serial('the log names what was dropped, and has the error of the provider in its own words', async (t) => {
  claude.script({ behaviour: json(answer) })
  const logged = bed.nextLog()
  await ask(workspaceKey, named)
  t.deepEqual((await logged).record.translation, { dropped: ['seed'], providerError: null })
  const failed = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' }, request_id: 'req_own' }
  claude.script({ behaviour: json(failed, 529) })
  const next = bed.nextLog()
  await t.throwsAsync(ask(workspaceKey, named))
  t.deepEqual(JSON.parse((await next).record.translation?.providerError ?? ''), failed)
})

test.serial('the log has the error of a provider within a stream, and that of an attempt before the one that answered', async (t) => {
  const failed = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' }, request_id: 'req_own' }
  const begun = { type: 'message_start', message: { ...answer, stop_reason: null } }
  const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }
  claude.script({ behaviour: sse([begun, start, delta, failed].map((event) => [event.type, event])) })
  const streamed = bed.nextLog()
  const client = new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: named })
  const messages = [{ role: 'user', content: 'x' }] as const
  const stream = await client.chat.completions.create({ model: 'm', messages: [...messages], stream: true })
  await t.throwsAsync(async () => {
    for await (const chunk of stream) t.truthy(chunk)
  })
  t.deepEqual(JSON.parse((await streamed).record.translation?.providerError ?? ''), failed)
  claude.script({ behaviour: json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] }) })
  claude.script({ path: '/messages', behaviour: json(failed, 529) })
  const next = bed.nextLog()
  await ask(workspaceKey, { 'x-service-config': 'again' })
  t.deepEqual(JSON.parse((await next).record.translation?.providerError ?? ''), failed)
})
