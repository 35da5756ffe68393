// A batch is charged when it has ended: once, line by line, to the budgets of the request that began it, for any number of reads.
import test from 'ava'
import { settleBatches } from '../../../src/features/costs/batches.jobs.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { doctor } from './doctor.ts'
import { type Control, startControl, type Tenant } from './setup.ts'
import { videoAnswer, videoAs, videos } from './video-host.ts'

let control: Control
let acme: Tenant
let emulator: Emulator

type Fields = Readonly<Record<string, unknown>>

const withinMs = 15_000
/** The batches of the provider, by id: how they answer, and the lines of their files. */
const batches = new Map<string, { status: string; lines: readonly unknown[]; fileStatus: number; endpoint?: string; more?: Fields }>()

const line = (model: string, usage: Fields): Fields => ({
  custom_id: 'x',
  response: { status_code: 200, body: { object: 'chat.completion', model, choices: [], usage } },
  error: null,
})
const usageOf = (prompt_tokens: number, cached_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  prompt_tokens_details: { cached_tokens },
})

/** The amounts stand beside the lines, worked out by hand from the price list, in pico-US-dollars. */
const answers = [
  // 600 x 1,250,000 + 400 cached at the standard rate of 1,250,000 + 200 x 5,000,000
  { answer: line('gpt-4o-2024-08-06', usageOf(1000, 400, 200)), amount: 2_250_000_000 },
  // Above 272,000: 200,000 x 2,500,000 + 100,000 x 250,000 + 1,000 x 11,250,000
  { answer: line('gpt-5.4', usageOf(300_000, 100_000, 1000)), amount: 536_250_000_000 },
  // 100 x 1,250,000 + 10 x 7,500,000
  { answer: line('gpt-5.4', usageOf(100, 0, 10)), amount: 200_000_000 },
  { answer: { custom_id: 'y', response: { status_code: 400, body: { error: { message: 'no' } } }, error: null }, amount: 0 },
]
const lines = answers.map(({ answer }) => answer)
const total = answers.reduce((sum, { amount }) => sum + amount, 0)

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({ behaviour: ({ method, url }) => answerOf(method, url) })
  await made('/integrations', {
    name: 'p',
    slug: 'account',
    ai_provider_id: 'openai',
    key: 'sk-of-batches',
    configurations: { custom_host: emulator.url },
  })
  await made('/providers', { name: 'p', slug: 'p', integration_id: 'account' })
  await made('/integrations', {
    name: 'c',
    slug: 'claude',
    ai_provider_id: 'anthropic',
    key: 'sk-ant-of-batches',
    configurations: { custom_host: emulator.url },
  })
  await made('/providers', { name: 'c', slug: 'c', integration_id: 'claude' })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

function answerOf(method: string, path: string) {
  if (path.includes('/videos')) return videoAnswer(method, path)
  if (path.includes('/messages/batches')) return messagesAnswer(method, path)
  const id = /batch_\w+/.exec(path)?.[0] ?? ''
  const held = batches.get(id)
  if (method === 'POST') {
    const began = `batch_${batches.size + 1}`
    batches.set(began, { status: 'in_progress', lines, fileStatus: 200 })
    return { status: 200, body: JSON.stringify({ id: began, object: 'batch', status: 'validating', endpoint: '/v1/chat/completions' }) }
  }
  if (held === undefined) return { status: 404, body: '{"error":{"message":"no such batch"}}' }
  if (path.includes('/content')) return { status: held.fileStatus, body: held.lines.map((one) => `${JSON.stringify(one)}\n`).join('') }
  const ended = held.status !== 'in_progress'
  return {
    status: 200,
    body: JSON.stringify({
      id,
      object: 'batch',
      status: held.status,
      endpoint: held.endpoint ?? '/v1/chat/completions',
      output_file_id: ended && held.lines.length > 0 ? `file-${id}` : null,
      usage: ended ? { input_tokens: 301_100, output_tokens: 1210, total_tokens: 302_310 } : null,
      model: 'gpt-5.4',
      ...held.more,
    }),
  }
}

const batchOf = (one: string, status: string) => ({
  id: one,
  type: 'message_batch',
  processing_status: status,
  results_url: status === 'ended' ? 'http://169.254.169.254/latest' : null,
})

/** Anthropic's batches of messages: the answers are below the batch, not at the address in its answer. */
function messagesAnswer(method: string, path: string) {
  const id = /msgbatch_\w+/.exec(path)?.[0] ?? ''
  const held = batches.get(id)
  if (method === 'POST') {
    const began = `msgbatch_${batches.size + 1}`
    batches.set(began, { status: 'in_progress', lines: [], fileStatus: 200 })
    return { status: 200, body: JSON.stringify(batchOf(began, 'in_progress')) }
  }
  if (held === undefined) return { status: 404, body: '{"type":"error","error":{"type":"not_found_error","message":"no"}}' }
  if (path.endsWith('/results')) return { status: held.fileStatus, body: held.lines.map((one) => `${JSON.stringify(one)}\n`).join('') }
  return { status: 200, body: JSON.stringify({ ...batchOf(id, held.status), ...held.more }) }
}

async function made(path: string, body: object): Promise<Fields> {
  const response = await control.call(path.startsWith('/api-keys') ? acme.adminKey : acme.workspaceKey, 'POST', path, body)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

const budget = (more: object) => ({ type: 'cost', credit_limit: 1, on_unpriced: 'allow', ...more })

async function keyWith(usage_limits: object): Promise<string> {
  const { key } = await made('/api-keys/workspace/service', {
    name: 'spender',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write'],
    usage_limits,
  })
  return String(key)
}

const ask = (key: string, path: string, body?: object, provider = '@p') =>
  send(`${control.origin}/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-service-api-key': key, 'x-service-provider': provider, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const asked = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }

type Beginning = readonly [path: string, body: object, provider: string]

/** Begins a batch, and waits until it is noted. */
async function begin(key: string, [path, body, provider]: Beginning = ['/batches', asked, '@p']): Promise<string> {
  const { status, text } = await ask(key, path, body, provider)
  if (status !== 200) throw new Error(text)
  const { id } = JSON.parse(text) as { id: string }
  await eventually(async () => (await rowOf(id)) !== undefined, withinMs, `${id} to be noted`)
  return id
}

interface Noted {
  readonly id: string
  readonly state: string
  readonly fault: string | null
}

const rowOf = async (batch: string): Promise<Noted | undefined> =>
  (await control.sql.query<Noted>('SELECT id, state, fault FROM provider_batches WHERE batch_id = $1', [batch])).rows[0]

/** Looks at all batches that wait, whenever they were to be looked at. */
async function look(): Promise<void> {
  await control.sql.query(`UPDATE provider_batches SET next_look_at = 'epoch'`)
  await settleBatches.run(control.started.deps)
}

const end = (
  id: string,
  told: Partial<{ status: string; lines: readonly unknown[]; fileStatus: number; endpoint: string; more: Fields }> = {},
) => batches.set(id, { status: 'completed', lines, fileStatus: 200, ...told })

async function costOf(batch: string): Promise<Fields & { readonly adjustments: readonly Fields[] }> {
  const row = await rowOf(batch)
  const { body } = await control.call(acme.workspaceKey, 'GET', `/logs/${row?.id}/cost`)
  return body as Fields & { adjustments: Fields[] }
}

test.serial(
  'a batch is charged when it has ended, once, each answer by its model, its length and its cache (#38341, #39861, #9077)',
  async (t) => {
    const key = await keyWith(budget({}))
    const id = await begin(key)
    await look()
    t.like(await rowOf(id), { state: 'open', fault: null })
    t.like(await costOf(id), { state: 'unpriced', cost_pico_usd: null, total_pico_usd: null, adjustments: [] }, 'it runs')
    end(id)
    await look()
    await look()
    t.like(await rowOf(id), { state: 'settled' })
    const { adjustments, total_pico_usd } = await costOf(id)
    t.is(total_pico_usd, String(total))
    t.is(adjustments.length, 1)
    t.like(adjustments[0], { state: 'priced', delta_pico_usd: String(total), reason: `Batch ${id}: completed, 3 answers.` })
    const told = adjustments[0]?.['lines'] as { dimension: string; count: number; rate_pico_usd: string; note: string }[]
    t.like(
      told.find(({ note, dimension }) => note.startsWith('gpt-4o') && dimension === 'cache_read'),
      { count: 400, rate_pico_usd: '1250000' },
    )
    t.is(told.filter(({ note }) => note.startsWith('gpt-5.4')).length, 5, 'the long prompt and the short one have lines of their own')
  },
)

const said = (model: string, usage: Fields): Fields => ({
  custom_id: 'x',
  result: { type: 'succeeded', message: { type: 'message', model, content: [], usage: { ...usage, service_tier: 'batch' } } },
})
const params = { model: 'claude-sonnet-4-5', max_tokens: 500, messages: [{ role: 'user', content: 'a' }] }
const batchOfMessages: Beginning = ['/messages/batches', { requests: [{ custom_id: 'x', params }] }, '@c']

test.serial('a batch of messages at Anthropic is charged in the same way, its cache at half the price too', async (t) => {
  const key = await keyWith(budget({}))
  const id = await begin(key, batchOfMessages)
  await look()
  t.like(await rowOf(id), { state: 'open', fault: null })
  end(id, {
    status: 'ended',
    lines: [
      // 1,000 x 1,500,000 + 10,000 cached x 150,000 + 200 x 7,500,000
      said('claude-sonnet-4-5-20250929', { input_tokens: 1000, cache_read_input_tokens: 10_000, output_tokens: 200 }),
      // 100 x 500,000 + 10 x 2,500,000
      said('claude-haiku-4-5-20251001', { input_tokens: 100, output_tokens: 10 }),
      { custom_id: 'y', result: { type: 'errored', error: { type: 'error', error: { type: 'invalid_request_error' } } } },
      { custom_id: 'z', result: { type: 'expired' } },
    ],
  })
  await look()
  await look()
  t.like(await rowOf(id), { state: 'settled' })
  const { adjustments, total_pico_usd } = await costOf(id)
  t.is(total_pico_usd, String(4_500_000_000 + 75_000_000))
  t.deepEqual(
    adjustments.map(({ reason }) => reason),
    [`Batch ${id}: ended, 2 answers.`],
  )
  const [archived, failed] = [await begin(key, batchOfMessages), await begin(key, batchOfMessages)]
  end(archived, { status: 'ended', more: { results_url: null } })
  end(failed, { status: 'ended', more: { results_url: null, request_counts: { succeeded: 0, errored: 1 } } })
  await look()
  t.regex((await rowOf(archived))?.fault ?? '', /keeps the answers of the batch where Gatehouse cannot read them/)
  t.like(await costOf(failed), { total_pico_usd: '0' })
  const refused = await ask(await keyWith(budget({ on_unpriced: 'deny' })), ...batchOfMessages)
  t.is(refused.status, 412)
})

const item = (type: string, id: string, more: object = {}) => ({ type, id, status: 'completed', ...more })
const searched = {
  object: 'response',
  model: 'gpt-5-2025-08-07',
  output: [
    item('web_search_call', 'ws_1', { action: { type: 'search', query: 'a' } }),
    item('web_search_call', 'ws_2', { action: { type: 'open_page', url: 'https://a' } }),
    item('web_search_call', 'ws_3', { action: { type: 'search', query: 'the "usage": {"input_tokens": 9}' } }),
    item('file_search_call', 'fs_1', { queries: ['a'] }),
  ],
  usage: {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 400 },
    output_tokens: 100,
    total_tokens: 1100,
  },
}
const bodyLine = (body: object): Fields => ({ custom_id: 'x', response: { status_code: 200, body }, error: null })
const ran = (model: string, input_tokens: number, output_tokens: number) => ({ type: 'message', model, input_tokens, output_tokens })

/** Answers whose cost no count of tokens decides alone, with the amounts of each worked out by hand from the price list. */
const charged: Readonly<
  Record<
    string,
    { endpoint?: string; lines: readonly unknown[]; amount: string; state?: string; by?: Beginning; models?: readonly string[] }
  >
> = {
  // 600 x 625,000 + 400 x 62,500 + 100 x 5,000,000, two searches of $0.01 that no batch makes cheaper, and one among files of $0.0025
  'searches of a response in the web and among files': {
    endpoint: '/v1/responses',
    lines: [bodyLine(searched)],
    amount: '23400000000',
  },
  // 100 x 1,250,000 + 10 x 5,000,000 + $0.025
  'the fee of a chat model that always searches': {
    lines: [line('gpt-4o-search-preview-2025-03-11', usageOf(100, 0, 10))],
    amount: '25175000000',
  },
  // 40 x 5,000,000 + 10 x 2,500,000 + 1,000 x 20,000,000
  'pictures, by the kinds of their tokens': {
    endpoint: '/v1/images/generations',
    lines: [
      bodyLine({
        created: 1,
        model: 'gpt-image-1',
        data: [{ b64_json: 'x' }],
        usage: { input_tokens: 50, input_tokens_details: { text_tokens: 10, image_tokens: 40 }, output_tokens: 1000, total_tokens: 1050 },
      }),
    ],
    amount: '20225000000',
  },
  'what a provider judges for nothing': {
    endpoint: '/v1/moderations',
    lines: [bodyLine({ id: 'modr-1', model: 'omni-moderation-latest', results: [] })],
    amount: '0',
  },
  // 100 x 1,250,000: the answer without usage had a cost too, which is unknown
  'an answer that tells no usage beside one that does': {
    lines: [line('gpt-4o', usageOf(100, 0, 0)), bodyLine({ object: 'chat.completion', model: 'gpt-4o', choices: [] })],
    amount: '125000000',
    state: 'partly_priced',
  },
  // 100 x 1,500,000 + 7 x 7,500,000 by Sonnet, 10 x 2,500,000 + 20 x 12,500,000 by Opus, and a search of $0.01; the blocked run is free
  'an answer of Claude that several models made (PR #39294)': {
    by: batchOfMessages,
    lines: [
      said('claude-opus-4-6', {
        input_tokens: 10,
        output_tokens: 20,
        server_tool_use: { web_search_requests: 1 },
        iterations: [ran('claude-sonnet-4-5', 100, 7), ran('claude-sonnet-4-5', 900, 0), ran('claude-opus-4-6', 10, 20)],
      }),
    ],
    amount: '10477500000',
    models: ['by claude-sonnet-4-5'],
  },
  // 100 x 2,500,000 x 1.1 + 10 x 12,500,000 x 1.1
  'a place that Claude names in its usage': {
    by: batchOfMessages,
    lines: [said('claude-opus-4-6', { input_tokens: 100, output_tokens: 10, inference_geo: 'us' })],
    amount: '412500000',
  },
}

for (const [name, { by, lines: told, endpoint, amount, state = 'priced', models = [] }] of Object.entries(charged))
  test.serial(`an answer in a batch is charged as one that came at once: ${name}`, async (t) => {
    const id = await begin(await keyWith(budget({})), by)
    end(id, { lines: told, ...(endpoint !== undefined && { endpoint }), ...(by !== undefined && { status: 'ended' }) })
    await look()
    const row = await rowOf(id)
    t.like(row, { state: 'settled', fault: null })
    const { adjustments, total_pico_usd } = await costOf(id)
    t.is(total_pico_usd, amount)
    t.is(adjustments[0]?.['state'], state)
    const notes = JSON.stringify(adjustments[0]?.['lines'])
    for (const model of models) t.true(notes.includes(model), notes)
  })

test.serial('what a batch cost counts against the budget of its key, and the doctor agrees', async (t) => {
  const key = await keyWith(budget({}))
  const id = await begin(key)
  end(id)
  await look()
  const row = await rowOf(id)
  const granted = async () => {
    const { rows } = await control.sql.query<{ granted: Record<string, number> }>(
      `SELECT granted FROM limit_counters WHERE owner_id = (SELECT api_key_id FROM logs WHERE id = $1)`,
      [row?.id],
    )
    return Object.values(rows[0]?.granted ?? {})
  }
  await eventually(async () => (await granted())[0] === total / 1000, withinMs, 'the budget to have what was spent, and nothing leased')
  t.deepEqual(await granted(), [total / 1000])
  t.deepEqual((await doctor(control)).differences, [])
})

test.serial('a batch of a budget that is used up is refused, and one whose budget wants to know the cost before', async (t) => {
  const key = await keyWith(budget({ credit_limit: 1 }))
  const [first, second] = [await begin(key), await begin(key)]
  end(first)
  end(second)
  await look()
  await eventually(async () => (await ask(key, '/batches', asked)).status === 412, withinMs, 'two batches to use the dollar up')
  const refused = await ask(await keyWith(budget({ on_unpriced: 'deny' })), '/batches', asked)
  t.is(refused.status, 412)
  t.regex(refused.text, /The cost of a batch, a training, a video or a realtime session is known only when it has ended.*on_unpriced/)
  t.like(JSON.parse(refused.text), { error: { reason: 'unpriced_job' } })
})

test.serial(
  'reading costs nothing: a batch that tells its usage, its file, a response that was made before (PR #37050, PR #32307)',
  async (t) => {
    const key = await keyWith(budget({}))
    const id = await begin(key)
    end(id)
    for (const path of [`/batches/${id}`, `/batches/${id}`, `/files/file-${id}/content`]) t.is((await ask(key, path)).status, 200)
    let logs: readonly Fields[] = []
    await eventually(async () => {
      const { body } = await control.call(acme.workspaceKey, 'GET', '/logs?page_size=3')
      logs = body['data'] as Fields[]
      return logs.filter((log) => log['request_method'] === 'GET' || String(log['request_url']).includes(id)).length === 3
    }, withinMs)
    t.deepEqual(
      logs.map((log) => log['cost']),
      [0, 0, 0],
    )
  },
)

const faults: Readonly<Record<string, { told: Parameters<typeof end>[1]; fault: RegExp }>> = {
  'a file that is not there': { told: { fileStatus: 404 }, fault: /answers 404 for the file of answers/ },
  'a file with a line that is no answer': {
    told: { lines: [...lines, 'half an answer'] },
    fault: /1 lines of the file of answers cannot be read/,
  },
  'a model without a price': { told: { lines: [line('nobody-knows', usageOf(1, 0, 1))] }, fault: /No price is known/ },
  'a model without a price beside others': {
    told: { lines: [...lines, line('nobody-knows', usageOf(1, 0, 1))] },
    fault: /No price is known/,
  },
  'a store of the customer that has the answers': {
    told: {
      lines: [],
      more: {
        output_file_id: null,
        request_counts: { total: 3, completed: 3, failed: 0 },
        output_blob: 'https://ours.blob.example/answers',
      },
    },
    fault: /keeps the answers of the batch where Gatehouse cannot read them/,
  },
  'a cancelled batch with answers that stand nowhere': {
    told: { status: 'cancelled', lines: [], more: { request_counts: { total: 3, completed: 1, failed: 0 } } },
    fault: /keeps the answers of the batch where Gatehouse cannot read them/,
  },
  'a file without the answers of its count': { told: { lines: [{ custom_id: 'x' }] }, fault: /fewer than the count of its provider/ },
  'a file with fewer answers than are counted': {
    told: { lines: lines.slice(2), more: { request_counts: { total: 4, completed: 3, failed: 1 } } },
    fault: /fewer than the count of its provider/,
  },
  'an answer without usage to an endpoint that is not told': {
    told: { endpoint: '', lines: [bodyLine({ model: 'gpt-4o', choices: [] })] },
    fault: /or they have no usage/,
  },
  'an answer without usage': { told: { lines: [bodyLine({ model: 'gpt-4o', choices: [] })] }, fault: /or they have no usage/ },
}

for (const [name, { told, fault }] of Object.entries(faults))
  test.serial(`${name} is told, and the batch is charged when it is there`, async (t) => {
    const id = await begin(await keyWith(budget({})))
    end(id, told)
    await look()
    const row = await rowOf(id)
    t.is(row?.state, 'open')
    t.regex(row?.fault ?? '', fault)
    t.deepEqual((await costOf(id)).adjustments, [])
    end(id)
    await look()
    t.is((await costOf(id))['total_pico_usd'], String(total))
  })

test.serial('a batch that was cancelled is charged for the answers that it has, and one without any for nothing', async (t) => {
  const key = await keyWith(budget({}))
  const [some, none] = [await begin(key), await begin(key)]
  end(some, { status: 'cancelled', lines: lines.slice(2) })
  end(none, { status: 'failed', lines: [] })
  await look()
  t.is((await costOf(some))['total_pico_usd'], '200000000')
  t.is((await rowOf(none))?.state, 'settled')
  t.like(await costOf(none), { total_pico_usd: '0', adjustments: [{ state: 'not_charged', delta_pico_usd: '0', lines: [] }] })
  await eventually(async () => (await doctor(control)).differences.length === 0, withinMs)
})

test.serial('two processes that read the same answers at the same time charge once', async (t) => {
  const id = await begin(await keyWith(budget({})))
  end(id)
  const [path, body] = [`/file-${id}/content`, lines.map((one) => `${JSON.stringify(one)}\n`).join('')]
  const stop = emulator.script({ path, behaviour: { status: 200, delayMs: 1000, body } })
  const looks: Promise<void>[] = []
  for (const which of ['first', 'second']) {
    await control.sql.query(`UPDATE provider_batches SET next_look_at = 'epoch' WHERE batch_id = $1`, [id])
    const arrived = emulator.next(path)
    looks.push(settleBatches.run(control.started.deps))
    await arrived
    t.like(await rowOf(id), { state: 'open' }, `the ${which} has asked for the answers, and nobody is done`)
  }
  await Promise.all(looks)
  stop()
  const { adjustments, total_pico_usd } = await costOf(id)
  t.deepEqual([adjustments.length, total_pico_usd], [1, String(total)])
})

test.serial('a batch that never ends is given up after ten days, whatever its provider answers, and not before', async (t) => {
  const id = await begin(await keyWith(budget({})))
  for (const [age, state, fault] of [
    ['9 days', 'open', null],
    ['11 days', 'lost', 'The provider has not ended it within 10 days.'],
  ] as const) {
    await control.sql.query(`UPDATE provider_batches SET begun_at = now() - $2::interval WHERE batch_id = $1`, [id, age])
    await look()
    t.like(await rowOf(id), { state, fault })
  }
})

test.serial('a batch whose provider is gone is given up after ten days', async (t) => {
  const id = await begin(await keyWith(budget({})))
  batches.delete(id)
  await look()
  t.is((await rowOf(id))?.state, 'open')
  await control.sql.query(`UPDATE provider_batches SET begun_at = now() - interval '11 days' WHERE batch_id = $1`, [id])
  await look()
  t.like(await rowOf(id), { state: 'lost', fault: 'The provider answers 404 for the batch.' })
})

const filmed = { model: 'sora-2-pro', prompt: 'a cat', seconds: '4' }

// sora-2-pro: $0.30 a second, $0.50 in the high sizes; the answer has the length.
for (const [name, told, amount, path] of [
  ['eight seconds, whatever was asked', { status: 'completed' }, '2400000000000', '/videos'],
  ['a high size', { status: 'completed', size: '1792x1024' }, '4000000000000', '/videos'],
  ['a part of a second', { status: 'completed', model: 'sora-2', seconds: 1.5 }, '150000000000', '/videos'],
  ['a video that is made of another', { status: 'completed', seconds: '4' }, '1200000000000', '/videos/video_0/remix'],
] as const)
  test.serial(`a video is charged when it is made, once: ${name}`, async (t) => {
    const key = await keyWith(budget({ credit_limit: 10 }))
    const id = await begin(key, [path, filmed, '@p'])
    await look()
    t.like(await rowOf(id), { state: 'open', fault: null })
    t.deepEqual((await costOf(id)).adjustments, [], 'it is being made')
    videos.set(id, videoAs(id, told))
    t.is((await ask(key, `/videos/${id}`)).status, 200, 'to read it costs nothing')
    await look()
    await look()
    t.like(await rowOf(id), { state: 'settled' })
    const { adjustments, total_pico_usd } = await costOf(id)
    t.is(total_pico_usd, amount)
    t.deepEqual(
      adjustments.map(({ reason }) => reason),
      [`Video ${id}: completed.`],
    )
  })

test.serial(
  'a video that failed costs nothing, one of an unknown length waits, and a budget that wants to know before refuses',
  async (t) => {
    const key = await keyWith(budget({ credit_limit: 10 }))
    const [failed, unknown] = [await begin(key, ['/videos', filmed, '@p']), await begin(key, ['/videos', filmed, '@p'])]
    videos.set(failed, videoAs(failed, { status: 'failed', error: { code: 'moderation_blocked' } }))
    videos.set(unknown, videoAs(unknown, { status: 'completed', seconds: null }))
    await look()
    t.is((await rowOf(failed))?.state, 'settled')
    t.like(await costOf(failed), { total_pico_usd: '0', adjustments: [{ state: 'not_charged', delta_pico_usd: '0', lines: [] }] })
    t.like(await rowOf(unknown), { state: 'open', fault: 'The provider does not state the length of the video, or its size.' })
    const before = videos.size
    const refused = await ask(await keyWith(budget({ on_unpriced: 'deny' })), '/videos', filmed)
    t.like({ ...refused, body: JSON.parse(refused.text) as Fields }, { status: 412, body: { error: { reason: 'unpriced_job' } } })
    t.is(videos.size, before, 'the provider was not asked')
  },
)

test.serial('videos use a budget up: the next one is refused', async (t) => {
  const key = await keyWith(budget({ credit_limit: 2 }))
  const id = await begin(key, ['/videos', filmed, '@p'])
  videos.set(id, videoAs(id, { status: 'completed' }))
  await look()
  await eventually(async () => (await ask(key, '/videos', filmed)).status === 412, withinMs, 'eight seconds to use two dollars up')
  t.pass()
})
