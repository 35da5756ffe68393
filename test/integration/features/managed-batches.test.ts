// Batches that Gatehouse runs itself, line by line through the pipeline, asked for by OpenAI's own client.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { eventually } from '../../support/eventually.ts'
import { clientOf, ended, lineOf, resultsOf, startBatch, storeProvider, uploadLines } from './managed-setup.ts'
import { workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant
let other: Tenant

const answerTo = (content: string): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, message: { role: 'assistant', content: `to ${content}` }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
})
/** A provider that reports the largest number of tokens that there is. */
const greedy: Behaviour = {
  ...answerTo('greedy'),
  body: JSON.stringify({ object: 'chat.completion', choices: [], usage: { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: 1 } }),
}
const askedOf = (body: Buffer): string => (JSON.parse(body.toString()) as { messages: { content: string }[] }).messages[0]?.content ?? ''
/** How often each text was asked. */
const asked = new Map<string, number>()

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl({}, { BATCH_LINES_AT_ONCE: '4' }), startEmulator()])
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
  for (const tenant of [acme, other]) await storeProvider(control, tenant, emulator.url)
  emulator.script({
    behaviour({ body }) {
      const content = askedOf(body)
      const times = (asked.get(content) ?? 0) + 1
      asked.set(content, times)
      if (content.startsWith('hostile')) return { ...answerTo(content), delayMs: 4000 }
      if (content.startsWith('slow')) return { ...answerTo(content), delayMs: 300 }
      if (content.startsWith('greedy')) return { ...greedy, delayMs: 500 }
      if (content === 'bad')
        return { status: 400, body: '{"error":{"message":"no such thing","code":"bad"}}', headers: { 'content-type': 'application/json' } }
      if (content === 'passing' && times < 3) return { status: times === 1 ? 429 : 503, headers: { 'retry-after-ms': '50' }, body: '{}' }
      return answerTo(content)
    },
  })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const mine = () => clientOf(control.origin, acme.workspaceKey)
const errorOf = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown as { status: number; error: { code: string; param: string; line?: number; errors?: { data: object[] } } },
  )
  return error ?? { status: 200, error: { code: '', param: '' } }
}

test('a batch runs each line by its provider, and its results and errors stand in two files', async (t) => {
  const lines = [lineOf('a', 'one'), lineOf('b', 'bad'), '', lineOf('c', 'passing', { seed: 0.5 }), lineOf('d', 'two', { seed: 1 })]
  const made = await startBatch(mine(), lines, { metadata: { job: 'nightly' } })
  t.regex(made.id, /^batch_gw[0-9a-f]{36}$/)
  t.like(made, { object: 'batch', endpoint: '/v1/chat/completions', completion_window: '24h', metadata: { job: 'nightly' }, errors: null })
  t.is(Number(made.expires_at), made.created_at + 86_400)
  const batch = await ended(mine(), made.id)
  t.like(batch, { status: 'completed', request_counts: { total: 4, completed: 3, failed: 1 } })
  t.deepEqual(Reflect.get(batch, 'usage'), { input_tokens: 30, output_tokens: 15, total_tokens: 45 })
  const [output, errors] = [await resultsOf(mine(), batch.output_file_id), await resultsOf(mine(), batch.error_file_id)]
  t.deepEqual(
    output.map(({ custom_id, response }) => [custom_id, response?.status_code, JSON.stringify(response?.body).includes('to ')]),
    [
      ['a', 200, true],
      ['c', 200, true],
      ['d', 200, true],
    ],
  )
  t.deepEqual(
    errors.map(({ custom_id, response, error }) => [custom_id, response?.status_code, error]),
    [['b', 400, null]],
  )
  t.is(output.find(({ custom_id }) => custom_id === 'c')?.attempts, 3)
  t.is(asked.get('passing'), 3)
  const file = await mine().files.retrieve(String(batch.output_file_id))
  t.is(file.purpose, 'batch_output')
  t.deepEqual(
    (await mine().batches.list()).data.filter(({ id }) => id === batch.id).map(({ status }) => status),
    ['completed'],
  )
  t.is((await control.sql.query('SELECT 1 FROM batch_lines WHERE batch_id = $1', [batch.id])).rows.length, 0)
  // Every request of a line is an exchange with a log, in the trace of its batch.
  await eventually(async () => {
    const { rows } = await control.sql.query('SELECT 1 FROM logs WHERE trace_id = $1', [batch.id])
    return rows.length === 6
  }, 15_000)
})

test.serial('lines of a tenant that hang leave places to another, and those that wait for one never begin after a cancel', async (t) => {
  const theirs = clientOf(control.origin, other.workspaceKey)
  const texts = Array.from({ length: 12 }, (_, at) => `hostile ${at}`)
  const hostile = await startBatch(
    theirs,
    texts.map((text, at) => lineOf(`n${at}`, text)),
  )
  await eventually(() => asked.has('hostile 2'), 15_000, 'the lines that hang')
  const batch = await ended(mine(), (await startBatch(mine(), [lineOf('a', 'beside one'), lineOf('b', 'beside two')])).id)
  t.like(batch, { status: 'completed', request_counts: { completed: 2 } })
  t.like(await theirs.batches.cancel(hostile.id), { status: 'cancelling', request_counts: { completed: 0 } })
  const cancelled = await ended(theirs, hostile.id)
  t.is(texts.filter((text) => asked.has(text)).length, 3)
  t.is((await resultsOf(theirs, cancelled.output_file_id)).length, 3)
})

test('a provider that reports any number of tokens does not keep its batch from ending', async (t) => {
  const made = await startBatch(
    mine(),
    Array.from({ length: 3 }, (_, at) => lineOf(`n${at}`, `greedy ${at}`)),
  )
  await control.sql.query('UPDATE batches SET input_tokens = $2 WHERE id = $1', [made.id, '9223372036854775807'])
  const batch = await ended(mine(), made.id)
  t.is(batch.request_counts?.completed, 3)
  t.is(Reflect.get(batch, 'usage')?.input_tokens, Number.MAX_SAFE_INTEGER)
})

test('texts of lines and results are sealed at rest, also while the batch runs', async (t) => {
  const made = await startBatch(mine(), [lineOf('a', 'slow canary-of-a-line')], { metadata: { note: 'canary-of-metadata' } })
  t.false(/canary-of-(?:a-line|metadata)/.test(await tables()))
  await ended(mine(), made.id)
  t.false(/canary-of-(?:a-line|metadata)/.test(await tables()))
})
async function tables(): Promise<string> {
  const parts: string[] = []
  for (const table of ['files', 'file_pieces', 'batches', 'batch_lines']) {
    const { rows } = await control.sql.query<Record<string, unknown>>(`SELECT * FROM ${table}`)
    for (const row of rows)
      parts.push(...Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value))))
  }
  return parts.join('\n')
}

const good = lineOf('a', 'never')
const faults: readonly (readonly [string, readonly unknown[], readonly object[]])[] = [
  ['no JSON', [good, '{"custom_id":'], [{ line: 2, code: 'invalid_json_line' }]],
  ['no object', ['[1]'], [{ line: 1, code: 'invalid_json_line' }]],
  ['nothing in it', ['', ' '], [{ line: 1, code: 'empty_file' }]],
  ['nothing in very many lines', ['\n'.repeat(200_001)], [{ line: 200_001, code: 'too_many_lines' }]],
  ['no custom_id', [{ ...good, custom_id: undefined }], [{ line: 1, code: 'missing_required_parameter', param: 'custom_id' }]],
  ['custom_id twice', [good, good], [{ line: 2, code: 'duplicate_custom_id', param: 'custom_id' }]],
  ['another method', [{ ...good, method: 'GET' }], [{ line: 1, code: 'invalid_value', param: 'method' }]],
  ['another endpoint', [{ ...good, url: '/v1/embeddings' }], [{ line: 1, code: 'invalid_value', param: 'url' }]],
  ['no body', [{ ...good, body: 'x' }], [{ line: 1, code: 'invalid_value', param: 'body' }]],
  ['a stream', [lineOf('a', 'x', { stream: true })], [{ line: 1, code: 'invalid_value', param: 'body.stream' }]],
  ['a model that is no text', [lineOf('a', 'x', { model: 1 })], [{ line: 1, code: 'invalid_value', param: 'body.model' }]],
  ['a value beyond its bound', [lineOf('a', 'x', { temperature: 3 })], [{ line: 1, code: 'too_big', param: 'body.temperature' }]],
  [
    'several at once, behind blank lines',
    ['', { ...good, method: 'PUT', url: 1 }, good, '{'],
    [
      { line: 2, code: 'invalid_value', param: 'method' },
      { line: 2, code: 'invalid_value', param: 'url' },
      { line: 4, code: 'invalid_json_line', param: null },
    ],
  ],
]
for (const [what, lines, wanted] of faults)
  test(`a file is refused when its batch is made, with all faults: ${what}`, async (t) => {
    const { status, error } = await errorOf(startBatch(mine(), lines))
    t.is(status, 400)
    t.is(error.param, 'input_file_id')
    const data = error.errors?.data ?? []
    t.is(data.length, wanted.length, JSON.stringify(data))
    for (const [at, fault] of wanted.entries()) t.like(data[at] ?? {}, fault)
    t.false(asked.has('never'))
  })

test('no more than a hundred faults are listed', async (t) => {
  const { error } = await errorOf(
    startBatch(
      mine(),
      Array.from({ length: 500 }, () => 'x'),
    ),
  )
  t.is(error.errors?.data.length, 100)
})

test('fields of a batch are checked', async (t) => {
  const { id } = await uploadLines(mine(), [good])
  const create = (more: object) =>
    errorOf(mine().batches.create({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h', ...more } as never))
  for (const [param, more] of [
    ['endpoint', { endpoint: '/v1/audio/speech' }],
    ['completion_window', { completion_window: 'soon' }],
    ['completion_window', { completion_window: '169h' }],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) }],
    ['output_expires_after.seconds', { output_expires_after: { anchor: 'created_at', seconds: 5 } }],
  ] as const) {
    const { status, error } = await create(more)
    t.deepEqual([status, error.param], [400, param])
  }
  const foreign = clientOf(control.origin, 'sk-of-a-provider', { 'x-service-api-key': acme.workspaceKey })
  const refused = await errorOf(foreign.batches.create({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' }))
  t.deepEqual([refused.status, refused.error.param], [400, 'authorization'])
})

test('no other tenant reads, lists or cancels a batch', async (t) => {
  const { id } = await startBatch(mine(), [lineOf('a', 'mine')])
  for (const key of [other.workspaceKey, acme.sideKey]) {
    const client = clientOf(control.origin, key)
    t.is((await errorOf(client.batches.retrieve(id))).status, 404)
    t.is((await errorOf(client.batches.cancel(id))).status, 404)
    t.false((await client.batches.list()).data.some((one) => one.id === id))
  }
  const { output_file_id: output } = await ended(mine(), id)
  t.is((await errorOf(clientOf(control.origin, other.workspaceKey).files.content(String(output)))).status, 404)
})

const plain = (id: string, text: string) => lineOf(id, text, { model: 'gpt-4o-mini' })

const keepsNone: readonly (readonly [what: string, headers: Readonly<Record<string, string>>, param: string])[] = [
  ['a key in a config', { 'x-service-config': '{"provider":"openai","api_key":"sk-of-the-request"}' }, 'x-service-config'],
  [
    'a key in a target of a config',
    {
      'x-service-config':
        '{"strategy":{"mode":"fallback"},"targets":[{"provider":"@p"},{"provider":"openai","api_key":"sk-of-the-request"}]}',
    },
    'x-service-config',
  ],
  [
    'the credential of a check in a config',
    {
      'x-service-config':
        '{"provider":"@p","input_guardrails":[{"default.webhook":{"webhookURL":"https://h.example/x","headers":{"authorization":"Bearer sk-of-the-request"}}}]}',
    },
    'x-service-config',
  ],
  [
    'a secret of a cloud',
    { 'x-service-provider': 'bedrock', 'x-service-aws-secret-access-key': 'sk-of-the-request', 'x-service-aws-access-key-id': 'AK' },
    'x-service-aws-secret-access-key',
  ],
]

for (const [what, headers, param] of keepsNone)
  test(`a batch keeps no credential of a request: ${what}`, async (t) => {
    const client = clientOf(control.origin, acme.workspaceKey, { 'x-service-job-mode': 'managed', ...headers })
    const refused = await errorOf(startBatch(client, [plain('a', 'fine')]))
    t.deepEqual([refused.status, refused.error.param], [400, param])
    t.notRegex(JSON.stringify(refused.error), /sk-of-the-request/)
  })

test('a guardrail that denies stops the line, and no other; a config and its provider hold for lines', async (t) => {
  const checks = [{ id: 'default.regexMatch', parameters: { rule: 'forbidden', not: true } }]
  const made = await control.call(acme.workspaceKey, 'POST', '/guardrails', {
    name: 'g',
    checks,
    actions: { onFail: 'block', message: 'No.' },
  })
  const guardrail = String(made.body['slug'])
  const config = JSON.stringify({ provider: '@p', input_guardrails: [guardrail] })
  const client = clientOf(control.origin, acme.workspaceKey, { 'x-service-config': config, 'x-service-job-mode': 'managed' })
  const batch = await ended(client, (await startBatch(client, [plain('a', 'fine'), plain('b', 'forbidden words')])).id)
  t.like(batch.request_counts, { completed: 1, failed: 1 })
  const [denied] = await resultsOf(client, batch.error_file_id)
  t.like(denied, { custom_id: 'b', response: { status_code: 446 } })
  t.false(asked.has('forbidden words'))
})

test('a batch that is cancelled midway ends the lines on their way, begins no other, and keeps what it has', async (t) => {
  const texts = Array.from({ length: 40 }, (_, at) => `slow ${at}`)
  const { id } = await startBatch(
    mine(),
    texts.map((text, at) => lineOf(`n${at}`, text)),
  )
  await eventually(() => (asked.get('slow 3') ?? 0) > 0, 15_000, 'the first lines')
  t.is((await mine().batches.cancel(id)).status, 'cancelling')
  const batch = await ended(mine(), id)
  t.is(batch.status, 'cancelled')
  const [output, errors] = [await resultsOf(mine(), batch.output_file_id), await resultsOf(mine(), batch.error_file_id)]
  t.true(output.length >= 4 && output.length < 40)
  t.is(output.length + errors.length, 40)
  t.is(new Set([...output, ...errors].map(({ custom_id }) => custom_id)).size, 40)
  t.true(errors.every(({ error }) => error?.code === 'batch_cancelled'))
  t.is(texts.filter((text) => asked.has(text)).length, output.length)
  t.is((await errorOf(mine().batches.cancel(id))).status, 409)
})

test('a batch whose window is over ends with what it has', async (t) => {
  const { id } = await startBatch(
    mine(),
    Array.from({ length: 30 }, (_, at) => lineOf(`n${at}`, `slow late ${at}`)),
  )
  await eventually(() => asked.has('slow late 2'), 15_000)
  await control.sql.query('UPDATE batches SET expires_at = now() WHERE id = $1', [id])
  const batch = await ended(mine(), id)
  t.is(batch.status, 'expired')
  const errors = await resultsOf(mine(), batch.error_file_id)
  t.true(errors.length > 0 && errors.every(({ error }) => error?.code === 'batch_expired'))
  t.is((await resultsOf(mine(), batch.output_file_id)).length + errors.length, 30)
})

test('lines of a key that was revoked meanwhile fail, and say so', async (t) => {
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: workspaceScopes })
  const { id } = await startBatch(
    clientOf(control.origin, key),
    Array.from({ length: 30 }, (_, at) => lineOf(`n${at}`, `slow revoked ${at}`)),
  )
  await eventually(() => asked.has('slow revoked 2'), 15_000)
  await control.sql.query(`UPDATE api_keys SET status = 'archived' WHERE id = (SELECT api_key_id FROM batches WHERE id = $1)`, [id])
  const batch = await ended(mine(), id)
  t.is(batch.status, 'completed')
  const errors = await resultsOf(mine(), batch.error_file_id)
  t.true(errors.length > 0)
  for (const { response } of errors) {
    t.is(response?.status_code, 401)
    t.regex(JSON.stringify(response?.body), /was revoked/)
  }
})

test('the input of a batch that runs stays, and may be deleted afterwards', async (t) => {
  const batch = await startBatch(mine(), [lineOf('a', 'slow to delete')])
  t.is((await errorOf(mine().files.delete(batch.input_file_id))).status, 409)
  await ended(mine(), batch.id)
  t.true((await mine().files.delete(batch.input_file_id)).deleted)
})
