import anyTest, { type TestFn } from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { dimensions } from '../../support/emulator/word-vector.ts'
import { eventually } from '../../support/eventually.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

export type Place = 'memory' | 'pgvector'

interface Ask {
  readonly key?: string
  readonly origin?: string
  readonly path?: string
  readonly provider?: string
  readonly cache?: object
  readonly config?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Everything that a test of the semantic cache needs: two processes on one database, two organisations with two credentials each. */
export interface SemanticBed {
  readonly control: Control
  readonly emulator: Emulator
  /** The origin of another process on the same database. */
  readonly beside: string
  readonly acme: Tenant
  readonly other: Tenant
  readonly ask: (given: Ask) => Promise<{
    readonly status: number
    readonly text: string
    readonly cache: string | null
    readonly key: string | null
    readonly id: string
    readonly type: string | null
  }>
  stop(): Promise<void>
}

export const test: TestFn = anyTest
export const say = (text: string, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content: text }], ...more })

export const settings = {
  SEMANTIC_CACHE_EMBEDDING_PROVIDER: '@vectors',
  SEMANTIC_CACHE_SIMILARITY_THRESHOLD: '0.9',
  SEMANTIC_CACHE_EMBEDDING_TIMEOUT: '500ms',
  SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: String(dimensions),
}

export async function startSemanticBed(env: Readonly<Record<string, string>> = {}): Promise<SemanticBed> {
  const [control, emulator] = await Promise.all([startControl({}, { ...settings, ...env }), startEmulator()])
  const beside = await control.openBeside()
  const [acme, other] = [
    await createTenantWithProviders(control, emulator, 'acme'),
    await createTenantWithProviders(control, emulator, 'other'),
  ]
  return {
    control,
    emulator,
    beside,
    acme,
    other,
    ask: async ({ key = acme.workspaceKey, origin = control.origin, path = '/chat/completions', ...given }) => {
      const { provider = '@one', cache = {}, headers = {}, body = say('hello') } = given
      const config = { provider, cache: { mode: 'semantic', ...cache }, ...given.config }
      const response = await fetch(`${origin}/v1${path}`, {
        method: 'POST',
        headers: { 'x-service-api-key': key, 'content-type': 'application/json', 'x-service-config': JSON.stringify(config), ...headers },
        body: JSON.stringify(body),
      })
      const header = (name: string) => response.headers.get(name)
      return {
        status: response.status,
        text: await response.text(),
        cache: header('x-service-cache-status'),
        key: header('x-service-cache-key'),
        id: header('x-service-request-id') ?? '',
        type: header('content-type'),
      }
    },
    async stop() {
      await control.close()
      await emulator.stop()
    },
  }
}

async function createTenantWithProviders(control: Control, { url }: Emulator, name: string): Promise<Tenant> {
  const tenant = await control.createTenant(name)
  for (const slug of ['one', 'two', 'vectors']) await addProvider(control, tenant, { slug, key: `sk-${name}-${slug}`, url })
  return tenant
}

interface Account {
  readonly slug: string
  readonly key: string
  readonly url: string
}

async function addProvider(control: Control, { adminKey }: Tenant, { slug, key, url }: Account): Promise<void> {
  const account = { name: slug, slug, ai_provider_id: 'openai', key, configurations: { custom_host: url } }
  const made = await control.call(adminKey, 'POST', '/integrations', { ...account, default_provider_slug: slug })
  const shared = await control.call(adminKey, 'PUT', `/integrations/${slug}/workspaces`, {
    global_workspace_access: { enabled: true },
    create_default_provider: true,
  })
  if (made.status !== 200 || shared.status !== 200) throw new Error(made.text + shared.text)
}

/** Two texts of one meaning, for an emulator whose vectors ignore order. */
const asked = (topic: string) => `why is ${topic} blue`
const askedAgain = (topic: string) => `${topic} is blue why`

const unlike: readonly (readonly [what: string, more: (bed: SemanticBed, again: string) => Ask])[] = [
  ['another workspace', ({ acme }) => ({ key: acme.sideKey })],
  ['another organisation', ({ other }) => ({ key: other.workspaceKey })],
  ['another credential', () => ({ provider: '@two' })],
  ['another namespace', () => ({ headers: { 'x-service-cache-namespace': 'spring' } })],
  ['a header that steers the provider', () => ({ headers: { 'openai-beta': 'assistants=v2' } })],
  ['another model', (_, again) => ({ body: say(again, { model: 'n' }) })],
  ['a parameter more', (_, again) => ({ body: say(again, { seed: 1 }) })],
  ['a stream', (_, again) => ({ body: say(again, { stream: true }) })],
  ['a system prompt', (_, again) => ({ body: { model: 'm', messages: [{ role: 'system', content: 's' }, ...say(again).messages] } })],
  [
    'a conversation before it',
    (_, again) => ({ body: { model: 'm', messages: [...say('a').messages, { role: 'assistant', content: 'b' }, ...say(again).messages] } }),
  ],
  ['another number', (_, again) => ({ body: say(`${again} 13`) })],
  ['another meaning', () => ({ body: say('How long does a train take from one end of the country to the other') })],
]

/** A request in Anthropic's format. */
const message = (text: string) => ({
  model: 'm',
  max_tokens: 9,
  system: 's',
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
})

/** Never compared, for any caller. */
const exact: readonly (readonly [what: string, body: (text: string) => object, include: string | null])[] = [
  ['tools', (text) => say(text, { tools: [{ type: 'function', function: { name: 'f' } }] }), 'tools'],
  [
    'an image',
    (text) => ({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'image_url', image_url: { url: 'data:,' } },
          ],
        },
      ],
    }),
    'media',
  ],
  ['a high temperature', (text) => say(text, { temperature: 1.5 }), null],
  ['a text without end', (text) => say(`${text} ${'word '.repeat(2000)}`), null],
]

/** The tests that hold wherever vectors are. */
export function declareSemanticTests(place: Place, bed: () => SemanticBed): void {
  const settled = async (key: string | null) => {
    if (place === 'memory') return
    const { control } = bed()
    await eventually(
      async () => (await control.sql.query('SELECT FROM answer_vectors WHERE key = $1', [key])).rowCount === 1,
      5000,
      'the vector',
    )
  }

  const untilKept = async (asking: () => ReturnType<SemanticBed['ask']>) => {
    let answer = await asking()
    await eventually(
      async () => {
        answer = await asking()
        return answer.cache === 'HIT'
      },
      5000,
      'the answer to be kept',
    )
    await settled(answer.key)
    return answer
  }

  test.serial('a text of the same meaning gets the answer of the first, and the log says whose it was', async (t) => {
    const { ask, control, emulator } = bed()
    const first = await ask({ body: say(asked('first')) })
    t.deepEqual([first.status, first.cache], [200, 'SEMANTIC MISS'], first.text)
    await settled(first.key)
    const second = await ask({ body: say(askedAgain('first')) })
    t.deepEqual([second.cache, second.text, second.key], ['SEMANTIC HIT', first.text, first.key])
    t.is((await ask({ body: say(asked('first')) })).cache, 'HIT')
    t.is(emulator.requests.filter(({ url, body }) => url.includes('/chat/') && body.includes('is first blue')).length, 1)
    const read = () => control.sql.query('SELECT cache_status, usage_source, cached_log_id FROM logs WHERE id = $1', [second.id])
    await eventually(async () => (await read()).rowCount === 1, 10_000, 'the log')
    t.deepEqual((await read()).rows, [{ cache_status: 'SEMANTIC HIT', usage_source: 'cache', cached_log_id: first.id }])
  })

  test.serial('the embedding is a call of its own in the log, in the trace of the request', async (t) => {
    const { ask, control } = bed()
    const { status } = await ask({
      body: say(asked('trace')),
      headers: { 'x-service-trace-id': `trace-${place}`, 'x-service-metadata': '{"team":"ärzte"}' },
    })
    t.is(status, 200)
    const read = async () =>
      (
        await control.sql.query(
          `SELECT span_name, status, metadata, api_key_id, cost_state, cost_pico > 0 AS costs FROM logs WHERE trace_id = $1 ORDER BY span_name NULLS LAST`,
          [`trace-${place}`],
        )
      ).rows
    await eventually(async () => (await read()).length === 2, 10_000, 'both logs')
    const [embedding, answered] = await read()
    t.like(embedding, { span_name: 'semantic-cache', status: 200, metadata: { team: 'ärzte' } })
    t.like(embedding, { cost_state: 'priced', costs: true, api_key_id: answered?.api_key_id }, 'it costs the key that asks')
  })

  test.serial('a stream is given again as a stream', async (t) => {
    const { ask } = bed()
    const first = await ask({ body: say(asked('poem'), { stream: true }) })
    await settled(first.key)
    const second = await ask({ body: say(askedAgain('poem'), { stream: true }) })
    t.deepEqual([second.cache, second.text, second.type], ['SEMANTIC HIT', first.text, first.type])
    t.regex(second.text, /data: \[DONE\]/)
  })

  test.serial("Anthropic's messages are compared too", async (t) => {
    const { ask } = bed()
    const path = '/messages'
    const first = await ask({ path, body: message(asked('message')) })
    t.is(first.cache, 'SEMANTIC MISS', first.text)
    await settled(first.key)
    t.is((await ask({ path, body: message(askedAgain('message')) })).cache, 'SEMANTIC HIT')
  })

  for (const [what, more] of unlike)
    test.serial(`never shared: ${what}`, async (t) => {
      const { ask } = bed()
      const again = askedAgain(what)
      const first = await ask({ body: say(asked(what)) })
      await settled(first.key)
      const answer = await ask({ body: say(again), ...more(bed(), again) })
      t.is(answer.cache, 'SEMANTIC MISS', answer.text)
      t.is((await ask({ body: say(again) })).cache, 'SEMANTIC HIT')
    })

  for (const [what, body, include] of exact)
    test.serial(`compared only where a config asks for it: ${what}`, async (t) => {
      const { ask } = bed()
      const [one, two] = [body(asked(what)), body(askedAgain(what))]
      t.is((await ask({ body: one })).cache, 'MISS')
      t.is((await ask({ body: two })).cache, 'MISS')
      t.is((await ask({ body: one })).cache, 'HIT')
      const cache = include === null ? { max_temperature: 2 } : { include: [include] }
      if (what === 'a text without end') return
      const [asks, asksAgain] = [body(askedAgain(`${what} then`)), body(asked(`${what} then`))]
      const first = await ask({ body: asks, cache })
      t.is(first.cache, 'SEMANTIC MISS')
      await settled(first.key)
      t.is((await ask({ body: asksAgain, cache })).cache, 'SEMANTIC HIT')
    })

  test.serial('the threshold of a config counts', async (t) => {
    const { ask } = bed()
    const first = await ask({ body: say('the quick brown fox jumps over the lazy dog') })
    await settled(first.key)
    const body = say('the quick brown fox jumps over the lazy cat')
    t.is(
      (await ask({ body, cache: { similarity_threshold: 0.99 }, headers: { 'x-service-cache-force-refresh': 'false' } })).cache,
      'SEMANTIC MISS',
    )
    t.is(
      (await ask({ body: say('the quick brown fox jumps over the lazy pig'), cache: { similarity_threshold: 0.7 } })).cache,
      'SEMANTIC HIT',
    )
  })

  test.serial('guardrails judge an answer that is given again to another text', async (t) => {
    const { ask } = bed()
    const first = await ask({ body: say(asked('judge')) })
    await settled(first.key)
    const checks = [{ id: 'default.characterCount', parameters: { minCharacters: 100_000 } }]
    const config = { after_request_hooks: [{ type: 'guardrail', id: 'g', deny: true, checks }] }
    t.is((await ask({ body: say(askedAgain('judge')), config })).status, 446)
    const words = [{ id: 'default.contains', parameters: { words: ['again'], operator: 'none' } }]
    const before = { before_request_hooks: [{ type: 'guardrail', id: 'g', deny: true, checks: words }] }
    t.is((await ask({ body: say(`${askedAgain('judge')} again`), config: before })).status, 446)
  })

  test.serial('equal requests at the same time ask for one embedding and one answer', async (t) => {
    const { ask, emulator } = bed()
    emulator.script({ path: /at-once/, behaviour: { delayMs: 200 } })
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask({ path: '/chat/completions?at-once', body: say('all at once') })))
    t.deepEqual(
      [answers.filter(({ cache }) => cache === 'HIT').length, answers.filter(({ cache }) => cache === 'SEMANTIC MISS').length],
      [5, 1],
    )
    t.is(emulator.requests.filter(({ url, body }) => url.includes('/embeddings') && body.includes('all at once')).length, 1)
  })

  const purges: readonly (readonly [what: string, query: (key: string | null) => string])[] = [
    ['its key', (key) => `?key=${key}`],
    ['its namespace', () => '?namespace=season'],
    ['its workspace', () => '?workspace_id=main'],
  ]
  for (const [what, query] of purges)
    test.serial(`a purge by ${what} counts for similar texts in every process soon`, async (t) => {
      const { ask, control, beside } = bed()
      const headers = { 'x-service-cache-namespace': 'season' }
      const topic = `purge by ${what}`
      for (const origin of [control.origin, beside]) {
        // A process that receives the purge only now keeps no answer to a request that is under way.
        const first = await untilKept(() => ask({ body: say(asked(`${topic} ${origin === beside}`)), headers, origin }))
        const { status } = await control.call(bed().acme.workspaceKey, 'DELETE', `/cache${query(first.key)}`)
        t.is(status, 200)
        await control.refresh()
        // The other process receives it by itself: at once, or a little later on a busy machine.
        const again = () => ask({ body: say(askedAgain(`${topic} ${origin === beside}`)), headers, origin, cache: { max_age: 60 } })
        await eventually(async () => (await again()).cache === 'SEMANTIC MISS', 10_000, 'the purge')
      }
    })

  test.serial('an embedding that fails, is slow or makes no sense is a miss, and delays nobody after that', async (t) => {
    const { ask, control, emulator } = bed()
    const failing: readonly (readonly [what: string, behaviour: object])[] = [
      ['slow', { hang: 'before-headers' }],
      ['failed', { status: 500 }],
      ['odd', { body: '{"data":[]}', headers: { 'content-type': 'application/json' } }],
    ]
    for (const [what, behaviour] of failing) {
      const { workspaceKey: key } = await createTenantWithProviders(control, emulator, `${what}-embeddings`)
      const embeddings = () => emulator.requests.filter(({ url, body }) => url.includes('/embeddings') && body.includes(what)).length
      const undo = emulator.script({ path: /embeddings/, behaviour })
      const [first, second] = [await ask({ key, body: say(`${what} one`) }), await ask({ key, body: say(`${what} two`) })]
      undo()
      t.deepEqual([first.status, first.cache, second.cache, embeddings()], [200, 'MISS', 'MISS', 1], what)
      t.is((await ask({ key, body: say(`${what} one`) })).cache, 'HIT')
    }
    const metrics = await (await fetch(`${control.origin}/metrics`)).text()
    for (const outcome of ['ok', 'slow', 'failed', 'resting'])
      t.regex(metrics, new RegExp(`gateway_cache_embeddings_total\\{outcome="${outcome}"\\} [1-9]`))
    t.notRegex(metrics, /gateway_requests_total\{route="embed"/)
    t.regex(metrics, new RegExp(`gateway_semantic_index_info\\{place="${place}"\\} 1`))
  })

  test.serial('nobody is ever given what another asked for', async (t) => {
    const { ask, control, emulator, acme, other, beside } = bed()
    emulator.script({
      path: /property/,
      // An answer without a choice is none, and is not kept.
      behaviour: ({ headers, body }) => ({
        body: JSON.stringify({ choices: [{ index: 0, message: { content: 'yes' } }], by: headers.authorization, body: body.toString() }),
      }),
    })
    const deny = { input_guardrails: [{ 'default.contains': { words: ['secret'], operator: 'none' }, deny: true }] }
    for (let round = 0; round < 150; round += 1) {
      const [tenant, key] = pick([
        ['acme', acme.workspaceKey],
        ['acme', acme.sideKey],
        ['other', other.workspaceKey],
      ] as const)
      const [provider, namespace, topic, guarded] = [
        pick(['one', 'two']),
        pick(['', 'a']),
        pick(['tide', 'foam', 'salt']),
        pick([true, false]),
      ]
      const text = `${pick([asked, askedAgain])(topic)}${pick(['', ' secret'])}`
      const answer = await ask({
        key,
        path: '/chat/completions?property',
        origin: pick([control.origin, beside]),
        provider: `@${provider}`,
        ...(guarded && { config: deny }),
        headers: namespace === '' ? {} : { 'x-service-cache-namespace': namespace },
        body: say(text),
      })
      if (guarded && text.includes('secret')) t.is(answer.status, 446)
      else t.true(answer.text.includes(`sk-${tenant}-${provider}`) && answer.text.includes(topic), answer.text)
    }
    const hits = `SELECT l.cache_status, l.workspace_id = c.workspace_id AND l.organisation_id = c.organisation_id AS own
      FROM logs l JOIN logs c ON c.id = l.cached_log_id`
    await eventually(
      async () => (await control.sql.query(`${hits} WHERE l.cache_status = 'SEMANTIC HIT'`)).rows.length > 0,
      10_000,
      'the logs',
    )
    t.deepEqual(
      (await control.sql.query(`${hits} WHERE NOT (l.workspace_id = c.workspace_id AND l.organisation_id = c.organisation_id)`)).rows,
      [],
    )
  })
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] ?? (from[0] as T)
