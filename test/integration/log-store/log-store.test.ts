import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { inDatabase } from '../../support/database.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type MetadataServices, startMetadataServices } from '../../support/metadata-services.ts'
import { azureAccount, type ObjectServer, s3Keys, startObjectServer } from '../../support/object-server.ts'
import { startApp, type TestApp } from '../../support/app.ts'

/** Bodies of logs in stores of each kind: through the gateway into the store, and back over the API. */
interface Place {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  /** The objects that are there, by their keys. */
  readonly objects: () => Promise<ReadonlyMap<string, Buffer>>
}

let provider: Emulator
let s3: ObjectServer
let azure: ObjectServer
let google: ObjectServer
let metadata: MetadataServices
let folder: string

test.before(async () => {
  ;[provider, s3, azure, google, metadata, folder] = await Promise.all([
    startEmulator(),
    startObjectServer('s3'),
    startObjectServer('azure'),
    startObjectServer('google'),
    startMetadataServices(),
    mkdtemp(join(tmpdir(), 'gatehouse-logs-')),
  ])
})
test.after.always(async () => {
  await Promise.all([provider?.stop(), s3?.stop(), azure?.stop(), google?.stop(), metadata?.stop()])
  await rm(folder, { recursive: true, force: true })
})

const below = (server: ObjectServer, prefix: string) =>
  new Map([...server.objects].filter(([path]) => path.startsWith(prefix)).map(([path, object]) => [path.slice(prefix.length), object]))

const s3Env = () => ({
  LOG_STORE: 's3_custom',
  LOG_STORE_BASEPATH: s3.url,
  LOG_STORE_REGION: 'eu-central-1',
  LOG_STORE_ACCESS_KEY: s3Keys.accessKeyId,
  LOG_STORE_SECRET_KEY: s3Keys.secretAccessKey,
})

const places: readonly (() => Place)[] = [
  () => ({
    name: 'local',
    env: { LOG_STORE: 'local', LOG_STORE_LOCAL_PATH: folder },
    objects: async () => {
      const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.json'))
      return new Map(await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file))] as const)))
    },
  }),
  () => ({
    name: 's3_custom, v1, with a key of KMS',
    env: {
      ...s3Env(),
      LOG_STORE_GENERATIONS_BUCKET: 'first',
      LOG_STORE_FILE_PATH_FORMAT: 'v1',
      SSE_ENCRYPTION_TYPE: 'aws:kms',
      KMS_KEY_ID: 'key-1',
    },
    objects: async () => below(s3, '/first/'),
  }),
  () => ({
    name: 's3_custom, sealed',
    env: { ...s3Env(), LOG_STORE_GENERATIONS_BUCKET: 'sealed', LOG_SEALING: 'on' },
    objects: async () => below(s3, '/sealed/'),
  }),
  () => ({
    name: 'azure',
    env: {
      LOG_STORE: 'azure',
      LOG_STORE_BASEPATH: azure.url,
      AZURE_STORAGE_ACCOUNT: azureAccount.account,
      AZURE_STORAGE_KEY: azureAccount.key,
      AZURE_STORAGE_CONTAINER: 'logs',
    },
    objects: async () => below(azure, '/logs/'),
  }),
  () => ({
    name: 'gcs with the identity of the workload',
    env: {
      LOG_STORE: 'gcs',
      LOG_STORE_BASEPATH: google.url,
      LOG_STORE_GENERATIONS_BUCKET: 'logs',
      GCP_AUTH_MODE: 'workload',
      GCE_METADATA_HOST: metadata.url,
    },
    objects: async () => below(google, '/logs/'),
  }),
]

/** A row whose bodies the store has. */
const moved = { request_body: null, response_body: null, sealed: null, hook_results: null, headers: '{}' }
const said = 'größe ☀ canary'

/** Asks a model through the gateway; returns the id of the log. */
async function ask(app: TestApp, content: string): Promise<string> {
  const answer = await fetch(`${app.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': app.workspaceKey,
      'x-service-provider': 'openai',
      'x-service-custom-host': provider.url,
      authorization: 'Bearer sk-provider',
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }),
  })
  if (answer.status !== 200) throw new Error(await answer.text())
  await answer.text()
  return answer.headers.get('x-service-request-id') ?? answer.headers.get('x-request-id') ?? ''
}

interface ReadLog {
  readonly status: number
  readonly body: {
    readonly request?: { readonly body: unknown; readonly headers: Readonly<Record<string, string>> }
    readonly response?: { readonly body: unknown }
    readonly data?: readonly Readonly<Record<string, unknown>>[]
    readonly error?: { readonly code: string; readonly message: string }
  }
}

async function readLog(app: TestApp, id: string): Promise<ReadLog> {
  const answer = await fetch(`${app.baseUrl}/v1/logs/${id}`, { headers: { 'x-service-api-key': app.workspaceKey } })
  return { status: answer.status, body: (await answer.json()) as ReadLog['body'] }
}

const rows = (app: TestApp, statement: string, values: readonly string[] = []): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  inDatabase(app.database.superuser, async (client) => (await client.query<Record<string, unknown>>(statement, [...values])).rows)

const isEmpty = async (app: TestApp): Promise<boolean> => (await rows(app, 'SELECT FROM log_uploads')).length === 0

for (const place of places)
  test.serial(`bodies go to the store and come back: ${place.toString().match(/name: '([^']+)'/)?.[1] ?? ''}`, async (t) => {
    const { env, objects } = place()
    const app = await startApp({ env })
    try {
      const ids = await Promise.all([ask(app, said), ask(app, 'second')])
      await eventually(async () => (await objects()).size === 2 && (await isEmpty(app)), 15_000, 'two objects')
      const [id] = ids
      const [key, object] = [...(await objects())].find(([name]) => name.endsWith(`${id}.json`)) ?? ['', Buffer.alloc(0)]
      const [{ organisation_id: organisation, workspace_id: workspace } = {}] = await rows(
        app,
        'SELECT organisation_id, workspace_id FROM logs',
      )
      t.regex(
        key,
        env['LOG_STORE_FILE_PATH_FORMAT'] === 'v1'
          ? new RegExp(`^90/${String(organisation)}/${id}[.]json$`)
          : new RegExp(`^90/${String(organisation)}/${String(workspace)}/\\d{4}/\\d\\d/\\d\\d/\\d\\d/${id}[.]json$`),
      )
      t.is(object.includes(said), env['LOG_SEALING'] !== 'on')
      t.is(object.includes('sk-provider'), false)
      const kept = await rows(
        app,
        'SELECT request_body, response_body, sealed, hook_results, request_headers::text AS headers FROM log_bodies',
      )
      t.deepEqual(kept, [moved, moved])
      const { status, body } = await readLog(app, id)
      t.is(status, 200, JSON.stringify(body))
      t.deepEqual(body.request?.body, { model: 'gpt-4o', messages: [{ role: 'user', content: said }] })
      t.is(body.request?.headers['content-type'], 'application/json')
      t.truthy(body.response?.body)
      const format = env['LOG_STORE_FILE_PATH_FORMAT'] ?? 'v2'
      t.like(body, { metrics: { log_store_file_path_format: format } })
      const list = await readLog(app, '')
      t.deepEqual(
        list.body.data?.map((log) => log['log_store_file_path_format']),
        [format, format],
      )
      t.deepEqual(await readLog(app, encodeURIComponent(key)), { status, body }, 'read by the key of its object')
      for (const wrong of [key.replace('90/', '30/'), key.replace(String(organisation), id), `${key}.gz`, key.replace('.json', '')])
        t.is((await readLog(app, encodeURIComponent(wrong))).status, 404, wrong)
    } finally {
      await app.stop()
    }
  })

test.serial('a log that is in the database alone has no path format', async (t) => {
  const app = await startApp()
  try {
    const id = await ask(app, said)
    await eventually(async () => (await readLog(app, id)).status === 200, 15_000, 'the log')
    t.like((await readLog(app, id)).body, { metrics: { log_store_file_path_format: null } })
  } finally {
    await app.stop()
  }
})

type Fault = NonNullable<Parameters<ObjectServer['misbehave']>[0]>

const faults: readonly (readonly [name: string, fault: Fault, reason: RegExp])[] = [
  ['refuses with 403', (_, response) => !!response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'), /403 \(AccessDenied\)/],
  ['is throttled', (_, response) => !!response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'), /503 \(SlowDown\)/],
  [
    'finds the credential expired',
    (_, response) => !!response.writeHead(403).end('<Error><Code>ExpiredToken</Code></Error>'),
    /403 \(ExpiredToken\)/,
  ],
  [
    'got half an object',
    (_, response) => !!response.writeHead(400).end('<Error><Code>IncompleteBody</Code></Error>'),
    /400 \(IncompleteBody\)/,
  ],
  ['has a full disk', (_, response) => !!response.writeHead(507).end('{"error":{"errors":[{"reason":"diskFull"}]}}'), /507 \(diskFull\)/],
  ['breaks off', (_, response) => !!response.destroy(), /./],
  ['answers nothing', () => true, /did not answer/],
]

test.serial(
  'a store that fails: requests do not wait, logs are read from the database, and all is moved once when it is back',
  async (t) => {
    const env = {
      ...s3Env(),
      LOG_STORE_GENERATIONS_BUCKET: 'faults',
      LOG_STORE_CONNECTION_TIMEOUT_MS: '300',
      LOG_STORE_CONNECTION_BACKOFF_MS: '300',
    }
    const app = await startApp({ env })
    t.teardown(() => app.stop())
    const told = () =>
      app.logged.flatMap(({ msg, reason }) => (msg === 'bodies of logs wait in the database for the log store' ? [String(reason)] : []))
    const ids: string[] = []
    for (const [name, fault, reason] of faults) {
      const before = told().length
      s3.misbehave(fault)
      const id = await ask(app, name)
      ids.push(id)
      await eventually(() => told().length > before, 10_000, `a warning that the store ${name}`)
      t.regex(told().at(-1) ?? '', reason)
      const { status, body } = await readLog(app, id)
      t.is(status, 200)
      t.truthy(body.request?.body, `${name}: read from the database`)
      s3.misbehave(null)
      await eventually(() => isEmpty(app), 10_000, `the queue to empty after the store ${name}`)
    }
    const objects = below(s3, '/faults/')
    t.deepEqual([...objects.keys()].map((key) => key.slice(-41, -5)).toSorted(), ids.toSorted())
    const [id = ''] = ids
    s3.misbehave((_, response) => !!response.writeHead(500).end())
    const away = await readLog(app, id)
    t.is(away.status, 503)
    t.regex(away.body.error?.message ?? '', /log store, which cannot be read: the log store answered 500/)
    s3.misbehave((_, response) => !!response.writeHead(404).end())
    const gone = await readLog(app, id)
    t.is(gone.status, 200, 'a life-cycle rule removed the object')
    t.is(gone.body.request?.body, null)
    s3.misbehave(null)
  },
)

test.serial(
  'from LOG_STORE_CONNECTION_FAILURE_THRESHOLD failures in a row on, a store is left alone for as long as it may be',
  async (t) => {
    const tries: number[] = []
    s3.misbehave((_, response) => tries.push(performance.now()) > 0 && !!response.writeHead(503).end())
    t.teardown(() => s3.misbehave(null))
    const app = await startApp({
      env: {
        ...s3Env(),
        LOG_STORE_GENERATIONS_BUCKET: 'threshold',
        LOG_STORE_CONNECTION_BACKOFF_MS: '4000',
        LOG_STORE_CONNECTION_FAILURE_THRESHOLD: '2',
      },
    })
    t.teardown(() => app.stop())
    await ask(app, said)
    await eventually(() => tries.length > 2, 20_000, 'three tries')
    const [first = 0, second = 0, third = 0] = tries
    // The waits have a jitter of half their length: below a second before the threshold, two to four seconds after it.
    t.true(second - first < 1900, `${second - first} ms after one failure`)
    t.true(third - second >= 1900, `${third - second} ms after two`)
    s3.misbehave(null)
    await eventually(() => isEmpty(app), 10_000, 'the queue to empty')
  },
)

/** With the default backoff a store that is away is asked so often in an hour: after 1, 2, 4 and 8 seconds, then about every 45. */
const triesOfAnHour = 85

test.serial(
  'a store that is away for the tries of an hour, and a restart between: nothing is lost or doubled, and no request waits',
  async (t) => {
    const env = { ...s3Env(), LOG_STORE_GENERATIONS_BUCKET: 'away', LOG_STORE_CONNECTION_BACKOFF_MS: '100' }
    const ids: string[] = []
    let refused = 0
    const asked = async (app: TestApp, content: string) => {
      const startedAt = performance.now()
      ids.push(await ask(app, content))
      // The store has 15 seconds for an object.
      t.true(performance.now() - startedAt < 10_000, 'a request waited for the store')
    }
    const refuse: Fault = (_, response) => {
      refused += 1
      return !!response.writeHead(503).end()
    }
    const hung: string[] = []
    s3.misbehave(({ path }) => hung.push(path) > 0)
    t.teardown(() => s3.misbehave(null))
    const first = await startApp({ env })
    try {
      await asked(first, 'while it hangs')
      await eventually(() => hung.length > 0, 10_000, 'an object that hangs')
      await asked(first, 'behind one that hangs')
      s3.misbehave(refuse)
    } finally {
      await first.app.drain({ now: true })
    }
    const second = await startApp({ env, database: first.database })
    t.teardown(async () => {
      await second.stop()
      await first.stop()
    })
    // The claims of the ended process are taken up again after its lease.
    await rows(second, `UPDATE log_uploads SET due_at = now()`)
    await asked(second, 'after the restart')
    await eventually(() => refused >= triesOfAnHour / 2, 60_000, 'the tries of half an hour')
    for (let at = 0; at < 20; at++) await asked(second, `in the second half ${at}`)
    await eventually(() => refused >= triesOfAnHour, 60_000, 'the tries of an hour')
    t.is(below(s3, '/away/').size, 0)
    await eventually(async () => (await rows(second, 'SELECT FROM log_uploads')).length === ids.length, 10_000, 'all to wait')
    const before = s3.calls.length
    s3.misbehave(null)
    await eventually(() => isEmpty(second), 10_000, 'the queue to empty')
    const written = s3.calls.slice(before).filter(({ method }) => method === 'PUT')
    t.deepEqual(written.map(({ path }) => path.slice(-41, -5)).toSorted(), ids.toSorted(), 'each is written once')
    for (const id of [ids[0] ?? '', ids.at(-1) ?? '']) t.truthy((await readLog(second, id)).body.request?.body)
    t.deepEqual(await rows(second, 'SELECT id FROM logs GROUP BY id HAVING count(*) > 1'), [])
    t.is((await rows(second, 'SELECT FROM logs')).length, ids.length)
  },
)

for (const status of [403, 409, 412])
  test.serial(`a lock on objects refuses with ${status} what a write left whose answer was lost: it counts as written`, async (t) => {
    const app = await startApp({
      env: { ...s3Env(), LOG_STORE_GENERATIONS_BUCKET: `locked-${status}`, LOG_STORE_CONNECTION_BACKOFF_MS: '200' },
    })
    t.teardown(() => app.stop())
    const locked = new Map<string, Buffer>()
    const refused: string[] = []
    s3.misbehave(({ method, path, body }, response) => {
      const there = locked.get(path)
      if (method === 'GET') return there !== undefined && !!response.end(there)
      // Another object in its place is no copy of it.
      if (there === undefined) return !!locked.set(path, body.includes('of another') ? Buffer.from('{}') : body) && !!response.destroy()
      refused.push(path)
      return !!response.writeHead(status).end('<Error><Code>ObjectLocked</Code></Error>')
    })
    t.teardown(() => s3.misbehave(null))
    const id = await ask(app, said)
    await eventually(() => refused.length > 0, 10_000, 'a second write')
    await eventually(() => isEmpty(app), 10_000, 'the queue to empty')
    t.like((await readLog(app, id)).body.request?.body, { messages: [{ content: said }] })
    const other = await ask(app, 'of another')
    await eventually(() => refused.filter((path) => path.includes(other)).length > 1, 10_000, 'more writes')
    t.false(await isEmpty(app))
    t.truthy((await readLog(app, other)).body.request?.body)
  })

test.serial('the object of another log is not shown', async (t) => {
  const app = await startApp({ env: { ...s3Env(), LOG_STORE_GENERATIONS_BUCKET: 'mixed' } })
  t.teardown(() => app.stop())
  await Promise.all([ask(app, 'mine'), ask(app, 'other')])
  await eventually(async () => below(s3, '/mixed/').size === 2 && (await isEmpty(app)), 10_000, 'both objects')
  const [, other = ''] = [...below(s3, '/mixed/').keys()].toSorted()
  await rows(app, 'UPDATE log_bodies SET object_key = $1', [other])
  const answers = await Promise.all([...below(s3, '/mixed/').keys()].map((key) => readLog(app, key.slice(-41, -5))))
  t.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 503],
  )
})

test.serial('two processes share the work, and each log is moved once', async (t) => {
  const env = { ...s3Env(), LOG_STORE_GENERATIONS_BUCKET: 'shared' }
  const first = await startApp({ env })
  t.teardown(() => first.stop())
  const second = await startApp({ env, database: first.database })
  t.teardown(() => second.stop())
  const ids = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(index % 2 === 0 ? first : second, `n${index}`)))
  await eventually(async () => below(s3, '/shared/').size === 100 && (await isEmpty(first)), 20_000, 'a hundred objects')
  const puts = s3.calls.filter(({ method, path }) => method === 'PUT' && path.startsWith('/shared/'))
  t.is(puts.length, 100)
  t.deepEqual(puts.map(({ path }) => path.slice(-41, -5)).toSorted(), ids.toSorted())
})
