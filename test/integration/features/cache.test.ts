import test from 'ava'
import { trimAnswers } from '../../../src/features/cache/cache.jobs.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant
let other: Tenant
/** The origin of another process on the same database. */
let beside: string

const maxAnswerKb = 64

test.before(async () => {
  ;[control, emulator] = await Promise.all([
    startControl({}, { RESPONSE_CACHE_MAX_ANSWER_IN_KB: String(maxAnswerKb), RESPONSE_CACHE_STORED_IN_MB: '1' }),
    startEmulator(),
  ])
  beside = await control.openBeside()
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
  for (const { adminKey } of [acme, other])
    for (const slug of ['one', 'two']) {
      const account = { name: slug, slug, ai_provider_id: 'openai', key: `sk-${slug}`, configurations: { custom_host: emulator.url } }
      const { status, text } = await control.call(adminKey, 'POST', '/integrations', { ...account, default_provider_slug: slug })
      if (status !== 200) throw new Error(text)
      const shared = await control.call(adminKey, 'PUT', `/integrations/${slug}/workspaces`, {
        global_workspace_access: { enabled: true },
        create_default_provider: true,
      })
      if (shared.status !== 200) throw new Error(shared.text)
    }
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

interface Ask {
  readonly key?: string
  readonly origin?: string
  readonly path?: string
  readonly config?: object | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

const cached = { provider: '@one', cache: { mode: 'simple' } }
const question = (text: string, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content: text }], ...more })

async function ask({ key = acme.workspaceKey, origin = control.origin, path = '/chat/completions', ...given }: Ask) {
  const { config = cached, headers = {}, body = question('hello') } = given
  const response = await fetch(`${origin}/v1${path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key,
      'content-type': 'application/json',
      ...(config !== null && { 'x-service-config': JSON.stringify(config) }),
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return {
    text,
    status: response.status,
    cache: response.headers.get('x-service-cache-status'),
    cacheKey: response.headers.get('x-service-cache-key'),
    type: response.headers.get('content-type'),
    id: response.headers.get('x-service-request-id') ?? '',
  }
}

const calls = (text: string) => emulator.requests.filter(({ body }) => body.includes(`"content":${JSON.stringify(text)}`)).length

test('an equal request gets the same answer again, from memory and in another process', async (t) => {
  const body = question('again', { temperature: 0, top_p: 1 })
  const first = await ask({ body })
  t.deepEqual([first.status, first.cache], [200, 'MISS'])
  const turned = { top_p: 1, temperature: 0, messages: body.messages, model: 'm' }
  const second = await ask({ body: turned })
  t.deepEqual([second.status, second.cache, second.text, second.type], [200, 'HIT', first.text, first.type])
  t.is(second.cacheKey, first.cacheKey)
  await eventually(async () => (await stored(first.cacheKey)) === 1, 2000, 'the answer to be stored')
  const third = await ask({ body, origin: beside })
  t.deepEqual([third.cache, third.text], ['HIT', first.text])
  t.is(calls('again'), 1)
  t.is((await ask({ body, config: { provider: '@one' } })).cache, 'DISABLED')
})

const stored = async (key: string | null) => (await control.sql.query('SELECT FROM cached_answers WHERE key = $1', [key])).rowCount

test('a stream is given again as a stream, event by event', async (t) => {
  const body = question('streamed', { stream: true, stream_options: { include_usage: true } })
  const first = await ask({ body })
  const second = await ask({ body })
  t.deepEqual([second.cache, second.text, second.type], ['HIT', first.text, first.type])
  t.regex(second.text, /data: \[DONE\]/)
  t.is((await ask({ body: question('streamed') })).cache, 'MISS')
})

test('a refresh asks the provider, and its answer is given from then on', async (t) => {
  const body = question('refreshed')
  await ask({ body })
  const refresh = { headers: { 'x-service-cache-force-refresh': 'True' }, body }
  t.is((await ask(refresh)).cache, 'REFRESH')
  t.is((await ask({ body })).cache, 'HIT')
  t.is(calls('refreshed'), 2)
})

test('answers are given again for as long as each request says', async (t) => {
  const body = question('aged')
  const { cacheKey } = await ask({ body, config: { ...cached, cache: { mode: 'simple', max_age: 86_400 } } })
  await eventually(async () => (await stored(cacheKey)) === 1, 2000, 'the answer to be stored')
  await control.sql.query(`UPDATE cached_answers SET created_at = created_at - interval '1 hour' WHERE key = $1`, [cacheKey])
  const aged = (max_age: number) => ask({ body, origin: beside, config: { ...cached, cache: { mode: 'simple', max_age } } })
  t.is((await aged(60)).cache, 'MISS')
})

const unlike: readonly (readonly [what: string, more: () => Ask])[] = [
  ['another workspace', () => ({ key: acme.sideKey })],
  ['another organisation', () => ({ key: other.workspaceKey })],
  ['another credential', () => ({ config: { ...cached, provider: '@two' } })],
  ['another namespace', () => ({ headers: { 'x-service-cache-namespace': 'spring' } })],
  ['a header that steers the provider', () => ({ headers: { 'openai-beta': 'assistants=v2' } })],
  ['another word', () => ({ body: question('Shared') })],
  ['a parameter more', () => ({ body: question('shared', { seed: 1 }) })],
  ['a parameter of the config', () => ({ config: { ...cached, override_params: { seed: 2 } } })],
  ['another query', () => ({ path: '/chat/completions?api-version=2' })],
]

for (const [what, more] of unlike)
  test(`never shared: ${what}`, async (t) => {
    const body = question('shared')
    await ask({ body })
    t.is((await ask({ body })).cache, 'HIT')
    t.is((await ask({ body, ...more() })).cache, 'MISS')
  })

/** Sends a body byte for byte; returns the cache's status. */
const send = async (body: string) => {
  const headers = {
    'x-service-api-key': acme.workspaceKey,
    'content-type': 'application/json',
    'x-service-config': JSON.stringify(cached),
  }
  const response = await fetch(`${control.origin}/v1/chat/completions`, { method: 'POST', headers, body })
  await response.text()
  return response.headers.get('x-service-cache-status')
}

test('never shared: bodies that only some providers read alike', async (t) => {
  const messages = '"messages":[{"role":"user","content":"read twice"}]'
  t.is(await send(`{"model":"b",${messages}}`), 'MISS')
  t.is(await send(`{"model":"a","model":"b",${messages}}`), 'MISS')
  t.is(await send(`{"model":"b","model":"b",${messages}}`), 'MISS')
  t.is(await send(`{"model":"b","seed":9007199254740993,${messages}}`), 'MISS')
  t.is(await send(`{"model":"b","seed":9007199254740992,${messages}}`), 'MISS')
  t.is(await send(`{ "model" : "b", ${messages} }`), 'HIT')
})

test('what tells of the client, and not of the request, is no reason to ask again', async (t) => {
  const body = question('retold')
  await ask({
    body,
    headers: { 'user-agent': 'one', 'x-stainless-retry-count': '0', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
  })
  t.is((await ask({ body, headers: { 'user-agent': 'two', 'x-stainless-retry-count': '1' } })).cache, 'HIT')
})

/** Behaviours by the model, and whether a stream is asked for. */
const notKept: readonly (readonly [what: string, behaviour: string | object, stream: boolean])[] = [
  ['an error', { status: 500 }, false],
  ['a refusal', { status: 429 }, false],
  ['an answer that broke off', { cutAt: 20 }, false],
  ['a stream that broke off', { frames: 8, cutAt: 200 }, true],
  [
    'a stream without its end',
    { body: 'data: {"choices":[{"delta":{"content":"hel"}}]}\n\n', headers: { 'content-type': 'text/event-stream' } },
    true,
  ],
  [
    'a stream that ends in an error',
    { body: 'data: {"error":{"message":"overloaded"}}\n\ndata: [DONE]\n\n', headers: { 'content-type': 'text/event-stream' } },
    true,
  ],
  ['an error that calls itself a success', { body: '{"error":{"message":"no"}}', headers: { 'content-type': 'application/json' } }, false],
  ['an answer that is too large', { size: maxAnswerKb * 1024 + 1 }, false],
  ['nothing', { answer: 'empty' }, false],
]

for (const [what, behaviour, stream] of notKept)
  test(`never kept: ${what}`, async (t) => {
    const path = new RegExp(`\\?${encodeURIComponent(what)}$`)
    emulator.script({ path, behaviour: behaviour as object })
    const request = { path: `/chat/completions?${encodeURIComponent(what)}`, body: question(what, { stream }) }
    const [first, second] = [await ask(request).catch(() => null), await ask(request).catch(() => null)]
    for (const answer of [first, second]) if (answer !== null) t.not(answer.cache, 'HIT')
    t.is(calls(what), 2)
  })

test('equal requests at the same time ask the provider once', async (t) => {
  const path = '/chat/completions?at-once'
  emulator.script({ path: /at-once/, behaviour: { delayMs: 300 } })
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask({ path, body: question('at once') })))
  t.is(new Set(answers.map(({ text }) => text)).size, 1)
  t.is(answers.filter(({ cache }) => cache === 'HIT').length, 11)
  t.is(calls('at once'), 1)
})

test('those who wait for an answer that is not kept ask for their own', async (t) => {
  const path = '/chat/completions?failing'
  emulator.script({ path: /failing/, times: 1, behaviour: { delayMs: 200, status: 500 } })
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask({ path, body: question('failing at once') })))
  t.deepEqual(
    answers.map(({ status }) => status).toSorted((one, two) => one - two),
    [200, 200, 200, 200, 500],
  )
})

test('a client that leaves keeps nobody waiting', async (t) => {
  const path = '/chat/completions?leaving'
  emulator.script({ path: /leaving/, times: 1, behaviour: { hang: 'before-headers' } })
  const arrived = emulator.next(/leaving/)
  const controller = new AbortController()
  const left = fetch(`${control.origin}/v1${path}`, {
    method: 'POST',
    signal: controller.signal,
    headers: { 'x-service-api-key': acme.workspaceKey, 'content-type': 'application/json', 'x-service-config': JSON.stringify(cached) },
    body: JSON.stringify(question('leaving')),
  })
  await arrived
  const waiting = ask({ path, body: question('leaving') })
  controller.abort()
  await t.throwsAsync(left)
  t.is((await waiting).status, 200)
})

test('guardrails judge an answer that is given again too', async (t) => {
  const body = question('judged')
  const { text } = await ask({ body })
  t.regex(text, /"content"/)
  const deny = { deny: true, checks: [{ id: 'default.characterCount', parameters: { minCharacters: 100_000 } }] }
  const guarded = { ...cached, after_request_hooks: [{ type: 'guardrail', id: 'g', ...deny }] }
  const first = await ask({ body, config: guarded })
  t.is(first.status, 446, first.text)
})

const operations: readonly (readonly [path: string, body: object, status: string])[] = [
  ['/embeddings', { model: 'm', input: 'kept' }, 'HIT'],
  ['/completions', { model: 'm', prompt: 'kept' }, 'HIT'],
  ['/responses', { model: 'm', input: 'kept' }, 'HIT'],
  ['/responses', { model: 'm', input: 'kept', previous_response_id: 'resp_1' }, 'DISABLED'],
  ['/responses', { model: 'm', input: 'kept', background: true }, 'DISABLED'],
  ['/fine_tuning/jobs', { model: 'm', training_file: 'kept', suffix: 's', method: { type: 'supervised' } }, 'DISABLED'],
]

for (const [path, body, status] of operations)
  test(`${path} with ${Object.keys(body).join(', ')}: ${status}`, async (t) => {
    await ask({ path, body })
    const { cache, text } = await ask({ path, body })
    t.is(cache, status, text)
  })

test('the log says that an answer was given again, and that it cost no tokens', async (t) => {
  const body = question('logged')
  const first = await ask({ body })
  const { id } = await ask({ body })
  const read = () => control.call(acme.workspaceKey, 'GET', `/logs/${id}`)
  await eventually(async () => (await read()).status === 200, 10_000, 'the log')
  const { rows } = await control.sql.query('SELECT cache_status, usage_source, last_used_option, cached_log_id FROM logs WHERE id = $1', [
    id,
  ])
  t.deepEqual(rows, [{ cache_status: 'HIT', usage_source: 'cache', last_used_option: 'config', cached_log_id: first.id }])
})

const purges: readonly (readonly [what: string, query: (key: string | null) => string])[] = [
  ['its key', (key) => `?key=${key}`],
  ['its namespace', () => '?namespace=season'],
  ['its workspace', () => '?workspace_id=main'],
  ['nothing, which is all', () => ''],
]

for (const [what, query] of purges)
  test.serial(`a purge by ${what} counts in every process within a second`, async (t) => {
    const body = question(`purged by ${what}`)
    const headers = { 'x-service-cache-namespace': 'season' }
    const { cacheKey } = await ask({ body, headers })
    await eventually(async () => (await stored(cacheKey)) === 1, 2000, 'the answer to be stored')
    t.is((await ask({ body, headers, origin: beside })).cache, 'HIT')
    const { status, body: answer, text } = await control.call(acme.workspaceKey, 'DELETE', `/cache${query(cacheKey)}`)
    t.is(status, 200, text)
    t.true(Number(answer['deleted']) >= 1)
    for (const origin of [control.origin, beside]) {
      const refreshed = async () => (await ask({ body, headers, origin })).cache !== 'HIT'
      const before = calls(`purged by ${what}`)
      await eventually(async () => (await refreshed()) || calls(`purged by ${what}`) > before, 1000, 'the purge')
      await control.call(acme.workspaceKey, 'DELETE', `/cache?namespace=season`)
      await control.refresh()
    }
  })

test.serial('a purge reaches no other workspace and no other organisation', async (t) => {
  const body = question('stays')
  await ask({ body, key: other.workspaceKey })
  await ask({ body, key: acme.sideKey })
  t.is((await control.call(acme.workspaceKey, 'DELETE', '/cache')).status, 200)
  t.is((await ask({ body, key: other.workspaceKey })).cache, 'HIT')
  await eventually(async () => (await ask({ body, key: acme.sideKey })).cache === 'HIT', 2000, 'the other workspace')
  t.is((await control.call(acme.workspaceKey, 'DELETE', '/cache?workspace_id=side')).status, 403)
  t.is((await control.call(acme.workspaceKey, 'DELETE', '/cache?key=short')).status, 400)
  t.is((await control.call(acme.workspaceKey, 'DELETE', '/cache?namespace=%00')).status, 400)
})

test.serial('an answer to a request that began before a purge is not kept', async (t) => {
  const path = '/chat/completions?overtaken'
  emulator.script({ path: /overtaken/, behaviour: { delayMs: 400 } })
  const arrived = emulator.next(/overtaken/)
  const under = ask({ path, body: question('overtaken') })
  await arrived
  await control.call(acme.workspaceKey, 'DELETE', '/cache')
  await control.refresh()
  t.is((await under).cache, 'MISS')
  t.is((await ask({ path, body: question('overtaken') })).cache, 'MISS')
})

test.serial(
  'an organisation keeps so much in the database: the oldest answers give way, and no other organisation is touched',
  async (t) => {
    const filler = (organisationId: string, size: number) =>
      control.sql.query(
        `INSERT INTO cached_answers (key, organisation_id, namespace, created_at, expires_at, answer)
       SELECT 'filler ' || n, $1, 'filler', now() - n * interval '1 minute', now() + interval '1 minute', convert_to(repeat('x', $2), 'UTF8')
         FROM generate_series(1, 8) n`,
        [organisationId, size],
      )
    await control.sql.query('SELECT ensure_answer_partition(now() + interval $$1 minute$$)')
    await control.sql.query('DELETE FROM cached_answers')
    await filler(acme.organisationId, 200_000)
    await control.sql.query(`UPDATE cached_answers SET key = 'acme ' || key`)
    await filler(other.organisationId, 100_000)
    await trimAnswers.run(control.started.deps)
    const left = async (organisationId: string) =>
      (await control.sql.query('SELECT key FROM cached_answers WHERE organisation_id = $1 ORDER BY key', [organisationId])).rows.map(
        ({ key }) => key,
      )
    t.deepEqual(await left(acme.organisationId), ['acme filler 1', 'acme filler 2', 'acme filler 3', 'acme filler 4', 'acme filler 5'])
    t.is((await left(other.organisationId)).length, 8)
    const metrics = await (await fetch(`${control.origin}/metrics`)).text()
    t.regex(metrics, /gateway_cached_answers_stored_bytes 1800000/)
    t.regex(metrics, /gateway_cached_answers_fullest_ratio 0\.9/)
  },
)

test.serial('answers are sealed in the database', async (t) => {
  const canary = 'canary-of-a-cached-answer'
  emulator.script({
    path: /canary/,
    behaviour: {
      body: `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"${canary}"}}]}`,
      headers: { 'content-type': 'application/json' },
    },
  })
  const { cacheKey, text } = await ask({
    path: '/chat/completions?canary',
    body: question('sealed'),
    headers: { 'x-service-debug': 'false' },
  })
  t.true(text.includes(canary))
  await eventually(async () => (await stored(cacheKey)) === 1, 2000, 'the answer to be stored')
  t.false((await control.dump()).includes(canary))
})

const wrong: readonly (readonly [what: string, ask: Ask, status: number])[] = [
  ['a mode that there is not', { config: { ...cached, cache: { mode: 'clever' } } }, 400],
  ['an age below a minute', { config: { ...cached, cache: { mode: 'simple', max_age: 59 } } }, 400],
  ['a namespace without end', { headers: { 'x-service-cache-namespace': 'x'.repeat(256) } }, 400],
]

for (const [what, given, status] of wrong)
  test(`refused: ${what}`, async (t) => {
    const answer = await ask(given)
    t.is(answer.status, status, answer.text)
  })

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] ?? (from[0] as T)

/** An answer without a choice is none, and is not kept. */
const answered = { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'yes' } }] }

/** Requests of all callers that could be mistaken for each other, in an order that no two runs share. */
test.serial('nobody is ever given what another asked for', async (t) => {
  const [keys, providers, words] = [
    [acme.workspaceKey, acme.sideKey, other.workspaceKey],
    ['@one', '@two'],
    ['red', 'green', 'blue'],
  ]
  const seen = new Map<string, string>()
  let hits = 0
  emulator.script({
    path: /property/,
    behaviour: ({ headers, body }) => ({ body: JSON.stringify({ ...answered, by: headers.authorization, body: body.toString() }) }),
  })
  for (let round = 0; round < 300; round += 1) {
    const [key, provider, word, namespace] = [pick(keys), pick(providers), pick(words), pick(['', 'a', 'b'])]
    const mine = JSON.stringify([key, provider, word, namespace])
    const headers = { 'x-service-cache-namespace': namespace, ...(namespace === '' && {}) }
    const answer = await ask({
      key,
      path: '/chat/completions?property',
      headers,
      origin: pick([control.origin, beside]),
      config: { ...cached, provider },
      body: question(word, { user: mine }),
    })
    t.true(answer.text.includes(`sk-${provider.slice(1)}`), answer.text)
    t.true(answer.text.includes(JSON.stringify(JSON.stringify(mine)).slice(1, -1)), answer.text)
    if (answer.cache === 'HIT') t.is(seen.get(mine), answer.cacheKey ?? '')
    hits += answer.cache === 'HIT' ? 1 : 0
    seen.set(mine, answer.cacheKey ?? '')
  }
  t.is(new Set(seen.values()).size, seen.size)
  t.true(hits > 100, `${hits} hits`)
})
