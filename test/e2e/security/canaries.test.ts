import { randomBytes } from 'node:crypto'
import test from 'ava'
import { secretFields } from '../../../src/gateway/providers/fields.ts'
import { createCanaries, dumpDatabase, plantPem, readFiles, sightings, type Place } from '../../support/canaries.ts'
import { inDatabase, testDatabase, type TestDatabase } from '../../support/database.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type RawAnswer, type RawRequest, send } from '../../support/http.ts'
import { type Gatehouse, startGatehouse } from '../../support/process.ts'
import { catalogue, controlRoutes, fieldsOf, headerOf, neededFields } from '../../support/routes.ts'

const canaries = createCanaries()
/** The expected finds: proof that the search sees present canaries. */
const harmless = createCanaries()
const secrets = {
  admin: canaries.plant('INIT_ADMIN_API_KEY'),
  workspace: canaries.plant('INIT_WORKSPACE_API_KEY'),
  database: canaries.plant('DB_PASS'),
  encryption: randomBytes(32),
}
canaries.watch('ENCRYPTION_KEY', secrets.encryption.toString('base64'))
canaries.watch('ENCRYPTION_KEY, its bytes', secrets.encryption.toString('latin1'))

let database: TestDatabase
let emulator: Emulator
let gatehouse: Gatehouse
const login = `gatehouse_canary_${randomBytes(4).toString('hex')}`
/** Everything that came out so far, but for answers that are the provider's own. */
const places: Place[] = []

test.before(async () => {
  database = await testDatabase()
  await inDatabase(database.superuser, (client) =>
    client.query(`CREATE ROLE ${login} LOGIN PASSWORD '${secrets.database}' IN ROLE ${database.config.user}`),
  )
  emulator = await startEmulator()
  gatehouse = await startGatehouse({
    on: database,
    env: {
      LOG_LEVEL: 'trace',
      DB_USER: login,
      DB_PASS: secrets.database,
      ENCRYPTION_KEY: secrets.encryption.toString('base64'),
      INIT_ADMIN_API_KEY: secrets.admin,
      INIT_WORKSPACE_API_KEY: secrets.workspace,
    },
  })
  emulator.script({
    path: '/token',
    behaviour: { status: 200, body: JSON.stringify({ access_token: canaries.plant('a Google token'), expires_in: 3600 }) },
  })
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
  await inDatabase(database.superuser, (client) => client.query(`DROP OWNED BY ${login}; DROP ROLE ${login}`))
  await database.drop()
})

const call = (path: string, request: RawRequest) => send(`${gatehouse.origin}${path}`, request)

/** A request whose answer is ours, so that it must hold no canary. */
async function ask(path: string, request: RawRequest = {}): Promise<RawAnswer> {
  const answer = await call(path, request)
  places.push({ name: `answer to ${request.method ?? 'GET'} ${path.split('?', 1)[0]}`, text: answer.rawHeaders.join('\n') + answer.text })
  return answer
}

const manage = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<RawAnswer> =>
  ask(`/v1${path}`, {
    method,
    headers: { 'x-service-api-key': secrets.admin, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

/** A call to a provider; its answer may be the provider's and is not searched. */
const use = (headers: Readonly<Record<string, string>>, path = '/v1/probe', body?: unknown): Promise<RawAnswer> =>
  call(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-service-api-key': secrets.workspace, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

/** A value for a secret field, as its provider expects it. */
function plantField(name: string, place: string): unknown {
  if (name === 'oracle_private_key') return plantPem(canaries, `${name} of ${place}`)
  if (name !== 'vertex_service_account_json') return canaries.plant(`${name} of ${place}`)
  return { client_email: 'a@b.example', private_key: plantPem(canaries, `${name} of ${place}`), token_uri: `${emulator.origin}/token` }
}

/** Configurations with a canary in every secret field that the provider has, and in a header of one's own. */
const plantConfigurations = (id: string, place: string, names: readonly string[]) => ({
  ...Object.fromEntries(names.map((name) => [name, plantField(name, place)])),
  custom_host: emulator.url,
  custom_headers: { 'x-own': canaries.plant(`custom_headers of ${place}`) },
})

const withSecrets = catalogue
  .map(([id, provider]) => ({
    id,
    needed: neededFields(id, provider),
    names: fieldsOf(id, provider).filter((name) => secretFields.has(name)),
  }))
  .filter(({ id, names }) => names.length > 0 || id === 'openai')

test.serial('every secret field is planted somewhere', (t) => {
  t.deepEqual([...new Set(withSecrets.flatMap(({ names }) => names))].toSorted(), [...secretFields].toSorted())
})

test.serial('credentials are stored, changed, refused and shown', async (t) => {
  for (const { id, needed, names } of withSecrets) {
    const slug = `stored-${id}`
    const make = (place: string) => ({ ...needed, ...plantConfigurations(id, place, names) })
    const created = await manage('/integrations', {
      name: slug,
      slug,
      default_provider_slug: slug,
      ai_provider_id: id,
      key: canaries.plant(`key of ${slug}`),
      configurations: make(slug),
    })
    t.is(created.status, 200, created.text)
    const virtual = await manage('/virtual-keys', {
      name: `virtual ${id}`,
      provider: id,
      key: canaries.plant(`key of virtual ${id}`),
      configurations: make(`virtual ${id}`),
    })
    t.is(virtual.status, 200, virtual.text)
    const changed = { key: canaries.plant(`new key of ${slug}`), configurations: make(`changed ${slug}`) }
    t.is((await manage(`/integrations/${slug}`, changed, 'PUT')).status, 200)
    t.is((await manage(`/virtual-keys/virtual-${id}`, { ...changed, key: canaries.plant(`new key of virtual ${id}`) }, 'PUT')).status, 200)
    const refusals = [
      { ...changed, slug, name: slug, ai_provider_id: id },
      { ...changed, name: 'x', ai_provider_id: id, unknown: canaries.plant(`unknown field with ${id}`) },
      {
        ...changed,
        name: 'x',
        ai_provider_id: id,
        configurations: { ...make(`refused ${id}`), no_such_secret: canaries.plant(`unknown configuration of ${id}`) },
      },
      { ...changed, name: 'x', ai_provider_id: id, key: { nested: canaries.plant(`nested key of ${id}`) } },
      { ...changed, name: 'x', ai_provider_id: id, key: `${canaries.plant(`key with NUL of ${id}`)}\0` },
    ]
    for (const body of refusals) t.true([400, 409].includes((await manage('/integrations', body)).status))
  }
  for (const body of [
    [{ key: canaries.plant('key in a list') }],
    { name: { key: canaries.plant('key in a name') }, ai_provider_id: 'openai' },
  ])
    t.is((await manage('/integrations', body)).status, 400)
  const half = `{"name":"x","ai_provider_id":"openai","key":"${canaries.plant('key in broken JSON')}","configurations":{"custom_host":nonsense}}`
  t.is((await manage('/integrations', half)).status, 400)
  t.is(
    (
      await manage(
        '/integrations/stored-openai',
        { configurations: { custom_host: `http://u:${canaries.plant('password in a URL')}@x.example` } },
        'PUT',
      )
    ).status,
    400,
  )
})

/** Keys are shown once, in the answer that makes them, which is not searched. */
async function makeKey(path: string, body: unknown): Promise<{ readonly id: string; readonly key: string }> {
  const headers = { 'x-service-api-key': secrets.admin, 'content-type': 'application/json' }
  const { text } = await call(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const made = JSON.parse(text) as { id: string; key: string }
  canaries.watch(`the key of ${path}`, made.key)
  return made
}

test.serial('API keys are made, rotated and refused', async (t) => {
  const made = await makeKey('/v1/api-keys/workspace/service', { name: 'made', scopes: ['completions.write', 'logs.list'] })
  await makeKey(`/v1/api-keys/${made.id}/rotate`, {})
  for (const key of [made.key, canaries.plant('an unknown API key')]) {
    for (const path of ['/v1/api-keys', '/v1/chat/completions']) {
      for (const name of ['x-service-api-key', 'x-portkey-api-key', 'x-api-key', 'api-key', 'authorization'])
        t.true(
          [400, 401, 403, 404].includes(
            (await ask(path, { headers: { [name]: name === 'authorization' ? `Bearer ${key}` : key } })).status,
          ),
        )
    }
  }
})

const outcomes: readonly (readonly [name: string, emulate: string | null])[] = [
  ['answered', null],
  ['failed', 'server-error'],
  ['refused', 'unauthorized'],
  ['broken off', 'cut'],
  ['garbled', 'garbage'],
  ['late', 'hang'],
]

test.serial('credentials are used, with every outcome', async (t) => {
  const repeat = emulator.script({
    path: '/repeat',
    behaviour: ({ rawHeaders }) => ({
      status: 401,
      body: JSON.stringify({ error: { message: `Incorrect API key provided: ${rawHeaders.join(' ')}` } }),
    }),
  })
  for (const { id } of withSecrets) {
    for (const target of [{ 'x-service-provider': `@stored-${id}` }, { 'x-service-virtual-key': `virtual-${id}` }]) {
      for (const [, emulate] of outcomes) {
        const headers = { ...target, 'x-service-request-timeout': '150', ...(emulate !== null && { 'x-emulate': emulate }) }
        await use(headers).catch(() => {})
      }
      await use(target, '/v1/repeat')
      await use(target, '/v1/chat/completions', { model: 'm', messages: [] })
    }
  }
  repeat()
  const arrived = emulator.requests.map(({ rawHeaders }) => rawHeaders.join(' ')).join('\n')
  for (const { name, value } of canaries.all.filter(({ name: planted }) =>
    /^new key of (?:stored-|virtual )openai|^a Google token|^modal_secret of changed/.test(planted),
  ))
    t.true(arrived.includes(value), `${name} did not reach the provider`)
})

test.serial('credentials of the caller go through, with every outcome', async (t) => {
  const host = { 'x-service-custom-host': emulator.url }
  for (const [name, emulate] of outcomes) {
    const secret = (place: string) => canaries.plant(`${place}, ${name}`)
    const odd: Readonly<Record<string, string>> = {
      ...host,
      'x-service-request-timeout': '150',
      ...(emulate !== null && { 'x-emulate': emulate }),
    }
    const openai = { ...odd, 'x-service-provider': 'openai' }
    const ways: readonly (readonly [Readonly<Record<string, string>>, string?])[] = [
      [{ ...openai, authorization: `Bearer ${secret('Authorization')}` }],
      [{ ...openai, authorization: `Key ${secret('Authorization of another scheme')}` }],
      [{ ...odd, 'x-service-provider': 'anthropic', 'x-api-key': secret('x-api-key') }],
      [{ ...odd, 'x-service-provider': 'azure-openai', 'api-key': secret('api-key') }],
      [{ ...openai, cookie: `session=${secret('cookie')}`, 'proxy-authorization': `Basic ${secret('proxy-authorization')}` }],
      [
        {
          ...openai,
          'x-goog-api-key': secret('x-goog-api-key'),
          'ocp-apim-subscription-key': secret('subscription key'),
          'modal-key': secret('modal-key'),
        },
      ],
      [openai, `/v1/probe?a=b&key=${secret('?key=')}&api_key=${secret('?api_key=')}&subscription-key=${secret('?subscription-key=')}`],
      [openai, `/v1/probe?X-Amz-Security-Token=${secret('?X-Amz-Security-Token=')}&%6bey=${secret('?%6bey=')}&sig=${secret('?sig=')}`],
      [{ ...odd, 'x-service-provider': 'google', authorization: `Bearer ${secret('key of google')}` }],
      ...withSecrets.map(({ id, names }) => [{ ...odd, 'x-service-provider': id, ...fieldHeaders(names, name) }] as const),
    ]
    for (const [headers, path] of ways) await use(headers, path).catch(() => {})
  }
  const elsewhere = { 'x-service-provider': 'openai', authorization: `Bearer ${canaries.plant('Authorization to nowhere')}` }
  for (const target of ['http://127.0.0.1:1', 'http://169.254.169.254', 'http://u:p@x.example', '']) {
    const { status } = await ask('/v1/probe', {
      headers: { ...elsewhere, 'x-service-api-key': secrets.workspace, 'x-service-custom-host': target || 'nonsense' },
    })
    t.true([400, 502].includes(status), `${target}: ${status}`)
  }
})

const fieldHeaders = (names: readonly string[], outcome: string) =>
  Object.fromEntries(
    names.map((name) => {
      const value = plantField(name, `a header, ${outcome}`)
      return [headerOf(name), (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', String.raw`\n`)]
    }),
  )

test.serial('everything is read again', async (t) => {
  const marker = harmless.plant('a trace id')
  const body = { model: 'm', messages: [{ role: 'user', content: harmless.plant('a prompt') }] }
  const metadata = JSON.stringify({ team: harmless.plant('metadata') })
  await use(
    { 'x-service-provider': '@stored-openai', 'x-service-trace-id': marker, 'x-service-metadata': metadata },
    '/v1/chat/completions',
    body,
  )
  places.push(...(await readFiles(gatehouse.dataDir)))
  const listed = async () => JSON.parse((await manage(`/logs?trace_id=${marker}`)).text) as { data: { id: string }[] }
  await eventually(async () => (await listed()).data.length === 1, 10_000, 'the last exchange to be logged')
  for (let after: string | null = ''; after !== null;) {
    const page = JSON.parse((await manage(`/logs?page_size=100${after && `&after=${after}`}`)).text) as {
      data: { id: string }[]
      next_cursor: string | null
    }
    for (const { id } of page.data) t.is((await manage(`/logs/${id}`)).status, 200)
    after = page.next_cursor
  }
  const ids = { slug: 'stored-openai', logId: 'x', id: 'x', workspaceId: 'default-workspace' }
  for (const { method, path } of controlRoutes) {
    if (method !== 'GET') continue
    await manage(path.replaceAll(/:(\w+)/g, (_, name: string) => Object.entries(ids).find(([known]) => known === name)?.[1] ?? 'x'))
  }
  for (const path of ['/metrics', '/openapi.json', '/docs', '/docs/docs.js', '/readyz', '/healthz', '/v1/health', '/nothing'])
    await ask(path)
  t.true(places.length > 250, `${places.length}`)
})

test.serial('no canary is anywhere, and what may be found is', async (t) => {
  t.timeout(60_000)
  await gatehouse.signal('SIGTERM')
  const dump = await dumpDatabase(database.superuser)
  const files = await readFiles(gatehouse.dataDir)
  const everything = [...places, ...dump, ...files, { name: 'output', text: gatehouse.output() }]
  t.true(canaries.all.length > 250, `${canaries.all.length}`)
  t.deepEqual(sightings(canaries.all, everything), [])
  const seen = sightings(harmless.all, everything).join('\n')
  for (const expected of [
    'a prompt in table log_bodies',
    'a trace id in output',
    'metadata in table logs',
    'a prompt in file journal',
    'a prompt in answer to GET /v1/logs/',
  ])
    t.true(seen.includes(expected), `not found: ${expected}\n${seen}`)
})
