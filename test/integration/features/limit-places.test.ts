// The places of limits and their subjects: those of every owner, and every key that a condition of a policy may name.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

let control: Control
let acme: Tenant
let beside: string
let emulator: Emulator
let key: { readonly id: string; readonly secret: string }
let prompt: string
const withinMs = 15_000

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const answer = { model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage }

async function done(method: string, path: string, body: Fields, caller = acme.adminKey): Promise<Fields> {
  const response = await control.call(caller, method, path, body)
  if (response.status !== 200) throw new Error(`${path}: ${response.text}`)
  return response.body
}
const made = (path: string, body: Fields, caller?: string) => done('POST', path, body, caller)

const account = (slug: string) => ({
  name: slug,
  slug,
  ai_provider_id: 'openai',
  key: 'sk',
  configurations: { custom_host: emulator.url },
})

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  beside = await control.openBeside()
  emulator.script({ behaviour: { status: 200, body: JSON.stringify(answer) } })
  const limited = await made('/api-keys/workspace/service', {
    name: 'k',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write', 'prompts.render'],
  })
  key = { id: String(limited['id']), secret: String(limited['key']) }
  await made('/integrations', account('plain'), acme.workspaceKey)
  await made('/configs', { name: 'c', slug: 'routed', config: { provider: '@plain' }, workspace_id: acme.workspaceId })
  const { body } = await control.call(acme.workspaceKey, 'GET', '/collections?page_size=1')
  const [folder] = body['data'] as { id: string }[]
  const template = { name: 'Greeting', collection_id: folder?.id, string: '[{"role":"user","content":"hi"}]', parameters: {} }
  prompt = String((await made('/prompts', { ...template, virtual_key: 'plain', model: 'gpt-4o' }, acme.workspaceKey))['slug'])
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

interface Ask {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly fields?: Fields
  readonly secret?: string
  readonly origin?: string
}

const ask = ({ path = '/chat/completions', headers = { 'x-service-provider': '@plain' }, fields = {}, secret, origin }: Ask = {}) =>
  send(`${origin ?? control.origin}/v1${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': secret ?? key.secret, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5, ...fields }),
  })

const byConfig: Ask = { headers: { 'x-service-config': 'routed' } }
const byPrompt = (): Ask => ({ path: `/prompts/${prompt}/completions`, headers: {}, fields: { variables: {} } })
const embedding: Ask = { path: '/embeddings', fields: { input: 'hi' } }
const mini: Ask = { fields: { model: 'gpt-4o-mini' } }
const direct = (): Ask => ({
  headers: { 'x-service-provider': 'openai', 'x-service-custom-host': emulator.url, authorization: 'Bearer sk' },
})

/** A client of Google's names the model in its path. */
const google = (verb = 'generateContent', { fields = {}, secret }: { fields?: Fields; secret?: string } = {}): Ask => ({
  path: `beta/models/gemini-2.5-pro:${verb}`,
  headers: { 'x-service-provider': 'google', 'x-service-custom-host': emulator.origin, authorization: 'Bearer sk' },
  fields: {
    model: undefined,
    messages: undefined,
    max_tokens: undefined,
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    ...fields,
  },
  ...(secret !== undefined && { secret }),
})

/** By the key of a condition: a value, a request that it fits, and one that it does not; null: it fits every request of the workspace. */
const conditions: Readonly<Record<string, () => readonly [value: string, fits: Ask, fitsNot: Ask | null]>> = {
  api_key: () => [key.id, {}, { secret: acme.workspaceKey }],
  workspace_id: () => [acme.workspaceId, {}, null],
  'workspace_id by its slug': () => ['main', {}, null],
  organisation_id: () => [acme.organisationId, {}, null],
  virtual_key: () => ['plain', {}, direct()],
  provider: () => ['openai', direct(), null],
  'provider that is stored': () => ['@plain', {}, direct()],
  config: () => ['routed', byConfig, {}],
  prompt: () => [prompt, byPrompt(), {}],
  model: () => ['gpt-4o', {}, mini],
  'model of a provider': () => ['@plain/gpt-4o', {}, direct()],
  'model by pattern': () => ['@plain/*', mini, direct()],
  'metadata.team': () => ['red', { headers: { 'x-service-provider': '@plain', 'x-service-metadata': '{"team":"red"}' } }, {}],
  endpoint_type: () => ['chatComplete', {}, embedding],
  'endpoint_type of Google’s clients': () => ['chatComplete', google(), embedding],
  'model of Google’s clients': () => ['gemini-2.5-pro', google(), {}],
}

for (const [name, given] of Object.entries(conditions))
  test.serial(`a policy with a condition on ${name} counts the requests that meet it, by that key, and no others`, async (t) => {
    const [word = ''] = name.split(' ')
    const [value, fits, fitsNot] = given()
    const policy = { workspace_id: acme.workspaceId, conditions: [{ key: word, value }], group_by: [{ key: word }] }
    const { id } = await made('/policies/rate-limits', { ...policy, type: 'requests', unit: 'rpd', value: 0 })
    await control.refresh()
    const refused = await ask(fits)
    t.is(refused.status, 429, refused.text)
    t.true(refused.text.includes(` for ${word}:`), refused.text)
    if (fitsNot !== null) t.is((await ask(fitsNot)).status, 200)
    t.is((await ask({ secret: acme.sideKey, ...direct() })).status, 200, 'another workspace')
    await done('DELETE', `/policies/rate-limits/${String(id)}`, {})
    await control.refresh()
    t.is((await ask(fits)).status, 200)
  })

interface Owner {
  readonly words: string
  /** A request that goes by it. */
  readonly by: Ask
  /** Sets its limits, or starts its budget again. */
  readonly set: (fields: Fields) => Promise<Fields>
  /** Reads its budget. */
  readonly budget: () => Promise<unknown>
  /** True if its limits are lists of one. */
  readonly listed: boolean
}

const provider = (slug: string): Ask => ({ headers: { 'x-service-provider': `@${slug}` } })
const read = async (path: string): Promise<Fields> => (await control.call(acme.workspaceKey, 'GET', path)).body

/** Sets the access of the workspace to the integration. */
const access = (fields: Fields) =>
  done('PUT', '/integrations/shared/workspaces', { workspaces: [{ id: 'main', enabled: true, ...fields }] })

const owners: Readonly<Record<string, () => Promise<Owner>>> = {
  'a provider': async () => {
    await made('/integrations', account('of-provider'), acme.workspaceKey)
    await made('/providers', { name: 'p', slug: 'limited-p', integration_id: 'of-provider' }, acme.workspaceKey)
    return {
      words: 'of the provider',
      by: provider('limited-p'),
      set: (fields) => done('PUT', '/providers/limited-p', fields, acme.workspaceKey),
      budget: async () => (await read('/providers/limited-p'))['usage_limits'],
      listed: false,
    }
  },
  'a virtual key': async () => {
    const fields = { name: 'v', provider: 'openai', key: 'sk', configurations: { custom_host: emulator.url } }
    const { data } = await made('/virtual-keys', fields, acme.workspaceKey)
    const { slug } = data as { slug: string }
    return {
      words: 'of the provider',
      by: provider(slug),
      set: (limits) => done('PUT', `/virtual-keys/${slug}`, limits, acme.workspaceKey),
      budget: async () => (await read(`/virtual-keys/${slug}`))['usage_limits'],
      listed: false,
    }
  },
  'a workspace': () =>
    Promise.resolve({
      words: 'of the workspace',
      by: {},
      set: (fields) => done('PUT', '/admin/workspaces/main', fields),
      budget: async () => ((await control.call(acme.adminKey, 'GET', '/admin/workspaces/main')).body['usage_limits'] as unknown[])[0],
      listed: true,
    }),
  'a workspace with an integration': async () => {
    await made('/integrations', { ...account('shared'), create_default_provider: false })
    await access({ create_default_provider: true, default_provider_slug: 'limited-i' })
    return {
      words: 'of the workspace with this integration',
      by: provider('limited-i'),
      set: access,
      budget: async () => {
        const { body } = await control.call(acme.adminKey, 'GET', '/integrations/shared/workspaces')
        const [grant] = body['workspaces'] as { usage_limits: unknown[] }[]
        return grant?.usage_limits[0]
      },
      listed: true,
    }
  },
}

for (const [name, make] of Object.entries(owners))
  test.serial(`limits of ${name} hold over two processes, and open when they are raised, taken away or started again`, async (t) => {
    const { words, by, set, budget, listed } = await make()
    const processes = [control.origin, beside]
    const status = async (origin?: string) => (await ask({ ...by, ...(origin !== undefined && { origin }) })).status
    const everywhere = (wanted: number) =>
      eventually(async () => (await Promise.all(processes.map(status))).every((one) => one === wanted), withinMs, `${wanted} everywhere`)
    /** Asks until so many have passed, in one process after the other; no more pass. */
    const passing = async (count: number, refusal: number) => {
      let passed = 0
      let asked = 0
      await eventually(async () => {
        if ((await status(processes[asked++ % 2])) === 200) passed += 1
        return passed >= count
      }, withinMs)
      t.deepEqual(await Promise.all([...processes, ...processes].map(status)), [refusal, refusal, refusal, refusal])
    }

    await set({ rate_limits: [{ type: 'requests', unit: 'rph', value: 3 }] })
    await control.refresh()
    await passing(3, 429)
    t.regex((await ask(by)).text, new RegExp(`3 requests per hour ${words}\\.`))
    await set({ rate_limits: [] })
    await everywhere(200)

    const limits = (credit: number) => {
      const one = { type: 'requests', credit_limit: credit }
      return { usage_limits: listed ? [one] : one }
    }
    await set(limits(1000))
    await eventually(async () => (await status()) === 200 && (await status(beside)) === 200, withinMs)
    await set({ ...limits(4), reset_usage: true })
    await control.refresh()
    await passing(4, 412)
    t.regex((await ask(by)).text, new RegExp(`exhausted: 4 requests ${words}\\.`))
    await eventually(async () => JSON.stringify(await budget()).includes('"current_usage":4'), withinMs)
    await set(limits(1000))
    await everywhere(200)
    await set(limits(5))
    await everywhere(412)
    await set({ ...limits(5), reset_usage: true })
    await eventually(async () => (await status(beside)) === 200, withinMs)
    await set({ usage_limits: listed ? [] : null })
    await everywhere(200)
  })

async function keyUnder(usage_limits: Fields): Promise<string> {
  const scopes = ['completions.write']
  return String((await made('/api-keys/workspace/service', { name: 'w', workspace_id: acme.workspaceId, scopes, usage_limits }))['key'])
}

/** One answer of a model cannot be as long as a request may allow: many answers can. */
const answersOf = (most: number): number => (most > 1000 ? 100 : 1)

/** By the kind of path: a request whose answer costs, with the field that may set its length. */
const working: Readonly<Record<string, (secret: string, most: number) => Ask>> = {
  'a client of Google’s': (secret, most) =>
    google('generateContent', { secret, fields: { generationConfig: { maxOutputTokens: most, candidateCount: answersOf(most) } } }),
  'a stream of a client of Google’s': (secret, most) =>
    google('streamGenerateContent?alt=sse', {
      secret,
      fields: { generationConfig: { maxOutputTokens: most, candidateCount: answersOf(most) } },
    }),
  'a path that ends as one of ours': (secret, most) => ({
    ...direct(),
    secret,
    path: '/openai/v1/chat/completions',
    fields: { max_tokens: most, n: answersOf(most) },
  }),
  'the path of a deployment': (secret, most) => ({
    ...direct(),
    secret,
    path: '/deployments/gpt-4o/chat/completions',
    fields: { model: undefined, max_tokens: most, n: answersOf(most) },
  }),
  'a path that nobody knows': (secret, most) => ({
    ...direct(),
    secret,
    path: '/experimental/talk',
    fields: { max_tokens: most, n: answersOf(most) },
  }),
}

for (const [name, asking] of Object.entries(working))
  test.serial(`a budget in money or in tokens is asked before a provider is, on ${name}`, async (t) => {
    for (const limits of [{ credit_limit: 1 }, { type: 'tokens', credit_limit: 100_000 }]) {
      const secret = await keyUnder(limits)
      const before = emulator.requests.length
      const refused = await ask(asking(secret, 20_000_000))
      t.is(refused.status, 412, refused.text)
      t.regex(refused.text, /do not cover this request/)
      t.is(emulator.requests.length, before, 'the provider was not asked')
      t.is((await ask(asking(secret, 10))).status, 200)
      await control.sql.query(
        `UPDATE limit_counters SET granted = (SELECT jsonb_object_agg(k, 2e9::bigint) FROM jsonb_object_keys(granted) k) WHERE owner_kind = 'api-key'`,
      )
      await eventually(async () => (await ask(asking(secret, 10))).status === 412, withinMs, 'to be used up')
    }
  })

test.serial(
  'on a path of a provider a model without a price is refused under a budget in money, and what names none passes one that allows it until it is used up',
  async (t) => {
    const fields = { name: 'u', workspace_id: acme.workspaceId, scopes: ['completions.write'], usage_limits: { credit_limit: 1 } }
    const secret = String((await made('/api-keys/workspace/service', fields))['key'])
    const unpriced = await ask({ ...direct(), secret, path: '/experimental/talk', fields: { model: 'nobody-prices-this' } })
    t.is(unpriced.status, 412)
    t.like(JSON.parse(unpriced.text), { error: { reason: 'unpriced_model' } })
    const nameless = { ...direct(), path: '/dreams', fields: { model: undefined } }
    t.like(JSON.parse((await ask({ ...nameless, secret })).text), { error: { reason: 'unpriced_work' } })
    const allowing = { ...fields, usage_limits: { credit_limit: 1, on_unpriced: 'allow' } }
    const lenient = { ...nameless, secret: String((await made('/api-keys/workspace/service', allowing))['key']) }
    t.is((await ask(lenient)).status, 200)
    await control.sql.query(
      `UPDATE limit_counters SET granted = (SELECT jsonb_object_agg(k, 2e9::bigint) FROM jsonb_object_keys(granted) k) WHERE owner_kind = 'api-key'`,
    )
    await eventually(async () => (await ask(lenient)).status === 412, withinMs)
    t.is((await ask({ ...google('countTokens', { secret }) })).status, 200, 'a count of tokens costs nothing')
  },
)

test.serial('a refusal tells small amounts of money with all their digits', async (t) => {
  const policy = {
    workspace_id: acme.workspaceId,
    conditions: [{ key: 'metadata.team', value: 'tiny' }],
    group_by: [{ key: 'metadata.team' }],
  }
  const { id } = await made('/policies/usage-limits', { ...policy, type: 'cost', credit_limit: 0.000_000_5 })
  await control.refresh()
  const refused = await ask({ headers: { 'x-service-provider': '@plain', 'x-service-metadata': '{"team":"tiny"}' } })
  t.is(refused.status, 412)
  t.regex(refused.text, /The \$0\.0000005 that are left of \$0\.0000005 of the policy/)
  await done('DELETE', `/policies/usage-limits/${String(id)}`, {})
  await control.refresh()
})

/** A refusal as the clients of each format read it. */
const formats: Readonly<Record<string, readonly [path: string, status: number, body: Fields]>> = {
  'OpenAI, too fast': ['/chat/completions', 429, { error: { type: 'rate_limit_error', code: '05' } }],
  'OpenAI, used up': ['/chat/completions', 412, { error: { code: '04' } }],
  'OpenAI responses, too fast': ['/responses', 429, { error: { code: '05' } }],
  'Anthropic, too fast': ['/messages', 429, { type: 'error', error: { type: 'rate_limit_error' } }],
  'Anthropic, used up': ['/messages', 412, { type: 'error' }],
  'Google, too fast': ['beta/models/gpt-4o:generateContent', 429, { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }],
  'Google, used up': ['beta/models/gpt-4o:generateContent', 412, { error: { code: 412 } }],
}

for (const [name, [path, status, body]] of Object.entries(formats))
  test.serial(`a refusal in the format of the caller: ${name}`, async (t) => {
    const limits =
      status === 429
        ? { rate_limits: [{ type: 'requests', unit: 'rph', value: 0 }] }
        : { usage_limits: { type: 'tokens', credit_limit: 1 } }
    const scopes = ['completions.write']
    const limited = await made('/api-keys/workspace/service', { name: 'f', workspace_id: acme.workspaceId, scopes, ...limits })
    const refused = await ask({
      path,
      secret: String(limited['key']),
      fields: { input: 'hi', contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    })
    t.is(refused.status, status, refused.text)
    t.like(JSON.parse(refused.text), body)
    t.is(refused.headers['x-should-retry'], status === 429 ? 'true' : 'false')
    const [first] = (JSON.parse(refused.text) as { error: { limits: Fields[] } }).error.limits
    t.like(first, { kind: status === 429 ? 'rate' : 'usage', type: status === 429 ? 'requests' : 'tokens' })
    t.true(refused.text.includes(status === 429 ? '"code":"05"' : '"code":"04"'), refused.text)
    if (name === 'Google, too fast')
      t.true(
        refused.text.includes(`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"${refused.headers['retry-after']}s"}`),
      )
    t.regex(refused.text, status === 429 ? /0 requests per hour of the API key/ : /1 tokens of the API key/)
  })
