import { readFileSync } from 'node:fs'
import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import { readMultipliers } from '../../../src/gateway/prices/multipliers.ts'
import { customEntry } from '../../../src/gateway/prices/terms.ts'
import { type Charged, charges, hello } from '../../support/charges.ts'
import { feeCharges } from '../../support/fee-charges.ts'
import { foreignCharges } from '../../support/foreign-charges.ts'
import { kindCharges } from '../../support/kind-charges.ts'
import { oddCharges } from '../../support/odd-charges.ts'
import { pathCharges } from '../../support/path-charges.ts'
import { placeCharges } from '../../support/place-charges.ts'
import { promptCharges } from '../../support/prompt-charges.ts'
import { silentCharges } from '../../support/silent-charges.ts'
import { taskCharges } from '../../support/task-charges.ts'
import { toolCharges } from '../../support/tool-charges.ts'
import { oracleCredential } from '../../support/dialects/oracle-credential.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'
import { eventually } from '../../support/eventually.ts'

let emulator: Emulator
let bed: GatewayBed

/** The providers of the table, each answered by the emulator. */
const sellers = [
  'openai',
  'anthropic',
  'google',
  'vertex-ai',
  'deepseek',
  'x-ai',
  'cohere',
  'bedrock',
  'openrouter',
  'azure-openai',
  'groq',
  'voyage',
  'perplexity-ai',
  'deepinfra',
  'moonshot',
  'replicate',
  'mistral-ai',
  'huggingface',
  'jina',
  'nomic',
  'stability-ai',
  'deepgram',
  'elevenlabs',
  'azure-ai',
]

test.before(async () => {
  emulator = await startEmulator()
  const custom = {
    multipliers: readMultipliers({ multiplier: { default: 0.5, cache_read_input_token: 2 } }),
    models: new Map([
      ['house', { entry: customEntry({ input: 1.5, output: 6 }), base: null }],
      ['dep-1', { entry: null, base: 'gpt-4o' }],
    ]),
    skipsCost: false,
  }
  const given = sellers.map((provider) => [provider, { provider, customHost: emulator.url }] as const)
  bed = await startGateway({
    providers: {
      ...Object.fromEntries(given),
      'bedrock-priority': {
        provider: 'bedrock',
        customHost: emulator.url,
        customHeaders: { 'x-amzn-bedrock-service-tier': 'priority' },
      },
      oracle: { provider: 'oracle', customHost: emulator.origin, credential: oracleCredential() },
      'workers-ai': {
        provider: 'workers-ai',
        customHost: emulator.origin,
        credential: { key: 'k', fields: { workers_ai_account_id: 'account' } },
      },
      'vertex-project': {
        provider: 'vertex-ai',
        customHost: emulator.origin,
        credential: { key: 'ya29.token', fields: { vertex_project_id: 'project' } },
      },
      ollama: { provider: 'ollama', customHost: emulator.url, prices: { ...custom, multipliers: null } },
      custom: { provider: 'azure-openai', customHost: emulator.url, prices: custom },
      plain: { provider: 'azure-openai', customHost: emulator.url, prices: { ...custom, multipliers: null } },
      'ptu-vertex': { provider: 'vertex-ai', customHost: emulator.url, prices: { multipliers: null, models: new Map(), skipsCost: true } },
      ptu: { provider: 'azure-openai', customHost: emulator.url, prices: { multipliers: null, models: new Map(), skipsCost: true } },
    },
    prices: createPriceLists({ layers: [], builtIn: openBuiltIn() }),
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

for (const [traffic, skips, state] of [
  ['PROVISIONED_THROUGHPUT', true, 'not_charged'],
  ['ON_DEMAND', true, 'priced'],
  [undefined, true, 'priced'],
  ['PROVISIONED_THROUGHPUT', false, 'priced'],
] as const)
  test.serial(`a config that leaves out provisioned throughput: ${skips}, and an answer that says ${traffic}: ${state}`, async (t) => {
    const usageMetadata = { promptTokenCount: 100, totalTokenCount: 100, ...(traffic !== undefined && { trafficType: traffic }) }
    emulator.script({ behaviour: { status: 200, body: JSON.stringify({ modelVersion: 'gemini-2.5-flash', usageMetadata }) } })
    const path = '/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:generateContent'
    const config = { provider: '@vertex-ai', ...(skips && { vertex_skip_ptu_cost_attribution: true }) }
    const { status, text } = await send(`${bed.origin}${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-config': JSON.stringify(config) },
      body: JSON.stringify({ contents: [] }),
    })
    t.is(status, 200, text)
    const cost = bed.logged.at(-1)?.record.cost
    t.is(cost?.state, state)
    t.is(cost?.charges[0]?.skipped, state === 'not_charged')
  })

/** Returns a caller's body, with its type. */
async function sentOf({ model, body = {}, form }: Charged): Promise<{ readonly body: string | Buffer; readonly type: string }> {
  if (form === undefined) return { body: JSON.stringify({ model, ...body }), type: 'application/json' }
  const data = new FormData()
  data.set('model', model)
  for (const [field, value] of Object.entries(form)) data.set(field, value.includes('.') ? new File(['ID3-the-sound'], value) : value)
  const written = new Response(data)
  return { body: Buffer.from(await written.arrayBuffer()), type: written.headers.get('content-type') ?? '' }
}

for (const [name, charged] of [
  charges,
  oddCharges,
  kindCharges,
  feeCharges,
  foreignCharges,
  taskCharges,
  silentCharges,
  toolCharges,
  promptCharges,
  placeCharges,
  pathCharges,
].flatMap(Object.entries<Charged>)) {
  const { provider, path = '/v1/chat/completions', answer, answerType = 'text/plain', status = 200, cutAt, ...wanted } = charged
  test.serial(`a charge: ${name}`, async (t) => {
    const isStream = typeof answer === 'string' && answer.startsWith('data:')
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    const contentType = isStream ? 'text/event-stream' : typeof answer === 'string' ? answerType : 'application/json'
    emulator.script({ behaviour: { status, headers: { 'content-type': contentType }, body: text, ...(cutAt !== undefined && { cutAt }) } })
    const { body, type } = await sentOf(charged)
    await send(`${bed.origin}${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'content-type': type, 'x-service-provider': `@${provider}` },
      body,
    })
    const cost = bed.logged.at(-1)?.record.cost
    const { state = 'priced', amount, lines } = wanted
    t.is(cost?.state, state)
    if (amount !== 'any') t.is(cost?.amount, amount)
    if (lines !== undefined) t.deepEqual(Object.fromEntries((cost?.lines ?? []).map(({ dimension, count }) => [dimension, count])), lines)
    t.is(
      String((cost?.lines ?? []).reduce((sum, line) => sum + BigInt(line.amount), 0n)),
      cost?.state === 'not_charged' ? '0' : (cost?.amount ?? '0'),
    )
  })
}

const decoys = ['name="model"\r\n\r\ngpt-4o-mini-transcribe\r\n', 'filename="x"\r\n\r\nRIFF'].join('\r\n')

test.serial('a recording is charged by the file and the model that the provider reads, whatever other parts hold', async (t) => {
  emulator.script({ behaviour: { status: 200, headers: { 'content-type': 'text/plain' }, body: 'just words' } })
  const recording = readFileSync('test/corpus/recordings/tone.wav')
  recording.writeUInt32LE(0xffffffff, 28)
  const ask = async (...parts: readonly (readonly [name: string, value: string | Blob])[]) => {
    const form = new FormData()
    for (const [name, value] of parts) form.append(name, value)
    const headers = { 'x-service-api-key': workspaceKey, 'x-service-provider': '@openai' }
    return fetch(`${bed.origin}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
  }
  const before = bed.logged.length
  const sent = await ask(
    ['prompt', decoys],
    ['decoy', new File([recording.subarray(0, 200)], 'a.wav')],
    ['model', 'whisper-1'],
    ['file', new File([recording], 'tone.wav')],
  )
  t.is(await sent.text(), 'just words')
  await eventually(() => bed.logged.length > before, 2000)
  // 1,250 ms x 100,000 a millisecond, although the head says that a second has four gigabytes
  t.like(bed.logged.at(-1)?.record.cost, { state: 'estimated', amount: '125000000' })
  const recorded = ['file', new File([recording], 'tone.wav')] as const
  for (const name of ['url', 'file_url', 'file_id', 'source_url', 'cloud_storage_url']) {
    const fetched = await ask(['model', 'whisper-1'], recorded, [name, 'https://a.example/a-long-film.mp4'])
    t.is(await fetched.text(), 'just words')
    t.is(bed.logged.at(-1)?.record.cost?.state, 'unpriced', `${name}: the provider may read that one, whose length is unknown`)
  }
  const twice = await ask(['model', 'whisper-1'], ['file', new File([recording], 'tone.wav')], ['model', 'gpt-4o-transcribe'])
  t.is(twice.status, 400, await twice.text())
})

test.serial('of several prompts the one whose answer tells no usage has no price, and the others have', async (t) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, cost: { total_cost: 0.00605 } }
  emulator.script({
    behaviour: ({ body }) => ({ body: JSON.stringify({ model: 'sonar', choices, ...(body.includes('one') && { usage }) }) }),
  })
  await send(`${bed.origin}/v1/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': '@perplexity-ai' },
    body: JSON.stringify({ model: 'sonar', prompt: ['one', 'two'] }),
  })
  t.like(bed.logged.at(-1)?.record.cost, { state: 'partly_priced', amount: '6050000000' })
})

const counted = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
const streamError = { error: { message: 'no', type: 'server_error', code: 503 }, usage: counted }

// 100 x 2,500,000 + 10 x 10,000,000 for each of three
for (const [name, behaviour] of Object.entries({
  'an error': { status: 503, body: JSON.stringify({ error: { message: 'no' }, usage: counted }) },
  'a stream that begins with an error': {
    headers: { 'content-type': 'text/event-stream' },
    body: `data: ${JSON.stringify(streamError)}\n\n`,
  },
}))
  test.serial(`an attempt that failed costs what its provider tells of it, once, whoever answers later: ${name}`, async (t) => {
    emulator.script({ behaviour: { body: JSON.stringify({ model: 'gpt-4o-2024-08-06', choices: [], usage: counted }) } })
    emulator.script({ times: 2, behaviour })
    const target = { provider: '@openai', retry: { attempts: 1, on_status_codes: [503] } }
    const config = { strategy: { mode: 'fallback' }, targets: [target, { provider: '@openai' }] }
    const { status, text } = await send(`${bed.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-config': JSON.stringify(config) },
      body: JSON.stringify({ model: 'gpt-4o-2024-08-06', messages: hello }),
    })
    t.is(status, 200, text)
    const { cost, attempts } = bed.logged.at(-1)?.record ?? {}
    t.like(cost, { state: 'priced', amount: String(3 * 350_000_000) })
    t.deepEqual(
      cost?.lines.map(({ attempt, dimension }) => [attempt, dimension]),
      [0, 1, 2].flatMap((attempt) => [
        [attempt, 'input'],
        [attempt, 'output'],
      ]),
    )
    t.deepEqual(
      attempts?.map(({ status: answered, usage }) => [answered, usage?.totalTokens]),
      [
        [503, 110],
        [503, 110],
        [200, 110],
      ],
    )
  })

test.serial('a caller who leaves before the answer is charged for the prompt and an answer, as the provider does', async (t) => {
  emulator.script({ behaviour: { hang: 'before-headers' } })
  const arrived = emulator.next('/v1/chat/completions')
  const stop = new AbortController()
  const call = fetch(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': '@openai' },
    body: JSON.stringify({ model: 'gpt-4o', messages: hello }),
    signal: stop.signal,
  })
  await arrived
  const before = bed.logged.length
  stop.abort()
  await t.throwsAsync(call)
  await eventually(() => bed.logged.length > before, 2000)
  const { cost, outcome, usageSource } = bed.logged.at(-1)?.record ?? {}
  t.is(outcome, 'client_closed')
  // 8 x 2,500,000 + 1,024 x 10,000,000
  t.like(cost, { state: 'estimated', amount: '10260000000' })
  t.is(usageSource, 'estimate', 'the log tells that the provider did not count')
})

for (const [named, model] of [
  ['x-service-provider', 'whisper-1'],
  ['its model', '@openai/whisper-1'],
] as const)
  test.serial(
    `a transcription as bare text is estimated by the length of its recording, the provider named by ${named} (aisix#868)`,
    async (t) => {
      emulator.script({ behaviour: { status: 200, headers: { 'content-type': 'text/plain' }, body: 'just words' } })
      const form = new FormData()
      form.set('model', model)
      form.set('response_format', 'text')
      form.set('file', new Blob([readFileSync('test/corpus/recordings/tone.wav')]), 'tone.wav')
      const before = bed.logged.length
      const answer = await fetch(`${bed.origin}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { 'x-service-api-key': workspaceKey, ...(!model.startsWith('@') && { 'x-service-provider': '@openai' }) },
        body: form,
      })
      t.is(await answer.text(), 'just words')
      await eventually(() => bed.logged.length > before, 2000)
      // 1,250 ms x 100,000 a millisecond
      t.like(bed.logged.at(-1)?.record.cost, {
        state: 'estimated',
        amount: '125000000',
        lines: [{ dimension: 'input_audio_second', count: 1250 }],
      })
    },
  )
