import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import test from 'ava'
import type { z } from 'zod'
import type { Route } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { makeParts } from '../../../src/features/log-exports/run.ts'
import { exportableFields } from '../../../src/lib/access/export-settings.ts'
import { checks } from '../../../src/gateway/checks/registry.ts'
import { isFields } from '../../../src/lib/json/fields.ts'
import { isSecretForm } from '../../../src/lib/json/secret-fields.ts'
import { defOf, partsOf } from '../../../src/release/schema-parts.ts'
import { createCanaries, dumpDatabase, readFiles, sightings, type Place } from '../../support/canaries.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/preflight.ts'
import { environment } from '../../support/process.ts'
import { differences, type Example } from '../../support/examples/story.ts'
import { keyFor, type Listener, readExamples, startListener } from '../../support/examples/tell.ts'

/** Every field that a schema marks as secret carries canaries, in every form that a field may be given, and none comes to light. */
const canaries = createCanaries()
/** The expected finds: proof that the search sees present canaries. */
const harmless = createCanaries()
const places: Place[] = []
let listener: Listener

test.before(async () => {
  listener = await startListener(keyFor, { LOG_LEVEL: 'trace' })
})
test.after.always(() => listener?.stop())

const routes: readonly Route[] = features.flatMap(({ routes: own, protocols = [] }) =>
  own.concat(protocols.flatMap((protocol) => protocol.routes)),
)
const nameOf = ({ method, path }: Route) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`

/** A place in a body; `*` is an item of a list. */
type At = readonly string[]

type Wanted = (schema: z.core.$ZodType, at: At) => boolean

const isSecret: Wanted = (schema) => isSecretForm([schema])

/** A field that names a place to call, and is not secret as a whole. */
const isUrl: Wanted = (schema, at) => /(?:url|uri|endpoint|host|issuer|addr)$/i.test(at.at(-1) ?? '') && !isSecretForm([schema])

/** The places of the wanted fields; fields within one count with it. */
function placesOf(schema: z.core.$ZodType | undefined, wanted: Wanted): readonly At[] {
  const found = new Map<string, At>()
  const visit = (part: z.core.$ZodType, at: At, above: ReadonlySet<unknown>) => {
    if (above.has(part) || at.length > 5) return
    if (wanted(part, at)) {
      found.set(at.join('.'), at)
      return
    }
    const list = ['array', 'tuple'].includes(String(defOf(part)['type']))
    for (const { schema: inner, field } of partsOf(part)) {
      const next = field === null ? (list ? [...at, '*'] : at) : [...at, field]
      visit(inner, next, new Set([...above, part]))
    }
  }
  if (schema !== undefined) visit(schema, [], new Set())
  return [...found.values()]
}

/** A body with a value at a place, which is made where there is none. */
function planted(body: unknown, [name, ...rest]: At, value: unknown): unknown {
  if (name === undefined) return value
  if (name === '*') return [planted(Array.isArray(body) ? body[0] : undefined, rest, value)]
  const fields = isFields(body) ? body : {}
  return { ...fields, [name]: planted(fields[name], rest, value) }
}

/** Values in place of a secret: of the right type, and of wrong ones. */
const values: Readonly<Record<string, (secret: string) => unknown>> = {
  text: (secret) => secret,
  URL: (secret) => `https://user:${secret}@hooks.example.com/services/${secret}?key=${secret}`,
  'a public URL': (secret) => `https://hooks.example.com/services/${secret}/${secret}`,
  headers: (secret) => ({ authorization: `Bearer ${secret}`, 'x-api-key': secret, cookie: `a=${secret}` }),
  "a header of one's own": (secret) => ({ 'x-own': secret }),
  credentials: (secret) => ({ apiKey: secret, api_key: secret, zscalerApiKey: secret }),
  PEM: (secret) => `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`,
  'a key set': (secret) => ({ keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: secret }] }),
  'JSON in a text': (secret) => JSON.stringify({ client_email: 'a@b.example', private_key: secret }),
  list: (secret) => [secret],
  'an object': (secret) => ({ nested: { private_key: secret, client_email: 'a@b.example' } }),
  'a text with a NUL': (secret) => `${secret}\0`,
  'a long text': (secret) => secret.repeat(2000),
}

/** A user with a password, and keys in the query: places of a URL that hold only credentials. */
const urls: Readonly<Record<string, (secret: string) => string>> = {
  'a password': (secret) => `https://user:${secret}@hooks.example.com/v1`,
  'a user': (secret) => `https://${secret}@hooks.example.com/v1`,
  'a password in capitals': (secret) => `HTTPS://user:${secret}@hooks.example.com/v1`,
  'a password without a scheme': (secret) => `user:${secret}@hooks.example.com`,
  'a password of a broken URL': (secret) => `https://user:${secret}@hooks.example.com:99999/v1`,
}

/** Logs hold the headers of a request, but for those that hold credentials. */
const logged = new Set(['POST /logs', 'POST /explain', 'POST /logs/{logId}/replay'])
/** Answers a request with its own contents, as the request to a provider. */
const rendering = 'POST /prompts/{promptId}/render'

let asked = 0
let accepted = 0

async function ask(example: Example, name: string): Promise<void> {
  asked += 1
  const { status, answer } = await listener.ask(example)
  if (status === 200) accepted += 1
  places.push({ name: `${name} (${status})`, text: typeof answer === 'string' ? answer : JSON.stringify(answer) })
}

/** An example that can be run beside itself. */
function another({ body, ...example }: Example): Example {
  if (!isFields(body)) return { ...example, ...(body !== undefined && { body }) }
  const { slug: _, ...rest } = body
  return { ...example, body: { ...rest, ...('name' in rest && !example.operation.startsWith('PUT') && { name: `n ${asked}` }) } }
}

test.serial('secrets are given to every route, and each answer is kept', async (t) => {
  t.timeout(240_000)
  const examples = readExamples()
  const told = new Map(examples.map((example) => [example.operation, example]))
  const byName = new Map(routes.map((route) => [nameOf(route), route]))
  const covered = new Set<string>()
  const plantAll = async (example: Example, route: Route) => {
    for (const at of placesOf(route.body, isSecret)) {
      covered.add(`${nameOf(route)} ${at.join('.')}`)
      for (const [kind, make] of Object.entries(values)) {
        const name = `${example.operation} ${at.join('.')} as ${kind}`
        if (logged.has(example.operation) && kind === "a header of one's own") continue
        const body = planted(another(example).body, at, make(canaries.plant(name)))
        await ask({ ...another(example), body }, name)
      }
      const name = `${example.operation} ${at.join('.')} beside a field that is not there`
      const body = planted(planted(example.body, ['no_such_field'], 1), at, canaries.plant(name))
      await ask({ ...example, body }, name)
    }
    for (const at of placesOf(route.body, isUrl))
      for (const [kind, make] of Object.entries(urls)) {
        const name = `${example.operation} ${at.join('.')} as a URL with ${kind}`
        await ask({ ...another(example), body: planted(another(example).body, at, make(canaries.plant(name))) }, name)
      }
  }
  for (const example of examples) {
    const { status, answer } = await listener.tell(example)
    places.push({ name: `${example.operation} (${status})`, text: JSON.stringify(answer) })
    differences(example.answer, answer, listener.names)
    const route = byName.get(example.operation)
    if (route === undefined) continue
    await plantAll(example, route)
    const name = `${example.operation} in places that are for none`
    const secret = canaries.plant(name)
    const elsewhere = { ...example, headers: { ...example.headers, cookie: `s=${secret}`, 'x-goog-api-key': secret } }
    await ask({ ...elsewhere, query: { ...example.query, api_key: secret, token: secret } }, name)
    if (isFields(example.body) && example.operation !== rendering)
      await ask({ ...example, body: { ...example.body, api_key: secret, password: { x: secret } } }, name)
  }
  for (const route of routes.filter((one) => !told.has(nameOf(one)) && one.below !== '/'))
    await plantAll({ operation: nameOf(route), path: { slug: 'x', organisation: 'x', id: 'x' } }, route)
  const all = routes.flatMap((route) =>
    route.below === '/' ? [] : placesOf(route.body, isSecret).map((at) => `${nameOf(route)} ${at.join('.')}`),
  )
  t.deepEqual(
    all.filter((place) => !covered.has(place)),
    [],
  )
  t.log({ asked, accepted, places: all.length })
  t.true(asked > 1000 && accepted > 60, `${asked}, ${accepted}`)
})

/** A check by its id, with canaries in its secrets, and in the URLs that it calls. */
function* plantedChecks(place: string): Generator<{ readonly id: string; readonly parameters: unknown }> {
  const usual = { webhookURL: 'https://hooks.example.com', url: 'https://hooks.example.com' }
  for (const { id, secrets, urls: named, parameters: schema } of checks) {
    const needed = Object.fromEntries(Object.entries(usual).filter(([name]) => name in schema.shape))
    const plant = (what: string) => canaries.plant(`${id} ${what} of ${place}`)
    for (const [kind, make] of Object.entries(values)) {
      // Partners are all read by the same code.
      if (!id.startsWith('default.') && !['text', 'list', 'an object'].includes(kind)) continue
      const all = secrets.reduce<unknown>((body, path) => planted(body, path.split('.'), make(plant(`${path} as ${kind}`))), needed)
      if (secrets.length > 0) yield { id, parameters: all }
    }
    for (const path of named)
      for (const [kind, make] of Object.entries(urls))
        yield { id, parameters: planted(needed, path.split('.'), make(plant(`${path}, ${kind}`))) }
  }
}

test.serial('the checks of guardrails are given secrets', async (t) => {
  t.timeout(240_000)
  const before = accepted
  const doors: Readonly<Record<string, (check: { readonly id: string; readonly parameters: unknown }) => unknown>> = {
    'POST /guardrails': (check) => ({ name: `n ${asked}`, checks: [check], actions: { onFail: 'block' } }),
    'POST /guardrails/test': (check) => ({ text: 'a text', checks: [check], actions: { onFail: 'block' } }),
    'POST /configs': ({ id, parameters }) => ({
      name: `n ${asked}`,
      config: {
        input_guardrails: [{ [id]: parameters, deny: true }],
        before_request_hooks: [{ type: 'guardrail', id: 'a', checks: [{ id, parameters }] }],
      },
    }),
    'POST /explain': ({ id, parameters }) => ({
      path: '/chat/completions',
      headers: { 'x-service-provider': 'openai', 'x-service-config': JSON.stringify({ input_guardrails: [{ [id]: parameters }] }) },
      body: { model: 'm', messages: [] },
    }),
  }
  for (const [operation, toBody] of Object.entries(doors))
    for (const check of plantedChecks(operation)) await ask({ operation, body: toBody(check) }, `${operation} with ${check.id}`)
  t.log({ asked, accepted: accepted - before })
  t.true(accepted - before > 60)
})

test.serial('everything is read again', async (t) => {
  const name = harmless.plant('a name')
  await ask({ operation: 'POST /guardrails', query: { name }, body: { name } }, 'POST /guardrails')
  await ask(
    { operation: 'POST /guardrails', body: { name, checks: [{ id: 'default.notNull' }], actions: { onFail: 'warn' } } },
    'POST /guardrails',
  )
  for (const example of readExamples().filter(({ operation }) => operation.startsWith('GET '))) {
    if (/events|exports\/.*download|GET \/logs/.test(example.operation)) continue
    await ask(example, `${example.operation}, again`)
  }
  for (const [path, query] of [
    ['/audit-logs', { page_size: 100 }],
    ['/logs', { page_size: 100 }],
  ] as const)
    await ask({ operation: `GET ${path}`, as: path === '/logs' ? 'nobody' : 'admin', query }, `GET ${path}, the last`)
  for (const path of ['/metrics', '/openapi.json', '/docs', '/readyz'])
    places.push({ name: path, text: await (await fetch(`${listener.app.baseUrl}${path}`)).text() })
  t.pass()
})

/** Texts of a gzipped archive, or of what is none. */
const unpacked = (bytes: Buffer): string => (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1')

test.serial('files that leave the installation are made: exports, a support bundle, settings, findings', async (t) => {
  t.timeout(240_000)
  const { app } = listener
  const call = async (key: string, method: string, path: string, body?: unknown) => {
    const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
    const answer = await fetch(`${app.baseUrl}/v1${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const text = await answer.text()
    t.is(answer.status, 200, `${method} ${path}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }
  for (const key of [app.adminKey, app.workspaceKey])
    for (const wanted of [{ format: 'jsonl' }, { format: 'csv' }, { format: 'csv', kind: 'focus', tag_keys: ['_user', 'env'] }]) {
      const fields = 'kind' in wanted ? {} : { requested_data: [...exportableFields] }
      const { id } = await call(key, 'POST', '/logs/exports', { filters: {}, ...fields, ...wanted })
      await call(key, 'POST', `/logs/exports/${String(id)}/start`, {})
      await makeParts(app.deps)
      const { signed_url: link } = await call(key, 'GET', `/logs/exports/${String(id)}/download`)
      const file = await fetch(`${app.baseUrl}${new URL(String(link)).pathname}${new URL(String(link)).search}`)
      const text = unpacked(Buffer.from(await file.arrayBuffer()))
      t.true(file.ok && text.length > 100, `${file.status} ${text}`)
      places.push({ name: `an export of logs as ${JSON.stringify(wanted)}`, text })
    }

  const folder = temporaryFolder(t)
  const [logFile, output] = [join(folder, 'gatehouse.log'), join(folder, 'bundle.tar.gz')]
  writeFileSync(logFile, app.logged.map((line) => JSON.stringify(line)).join('\n'))
  const settings = ['ENCRYPTION_KEY', 'DB_PASS', 'INIT_ADMIN_API_KEY', 'INIT_WORKSPACE_API_KEY'] as const
  const own = Object.fromEntries(settings.map((name) => [name, canaries.plant(`the setting ${name}`)]))
  const env = {
    ...environment(app.config.database),
    DATA_DIR: app.config.dataDir,
    ...own,
    // The database opens with the true ones alone.
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DB_PASS: app.config.database.password?.reveal() ?? '',
    SMTP_PASSWORD: canaries.plant('the setting SMTP_PASSWORD'),
  }
  for (const args of [
    ['support-bundle', '--output', output, '--url', app.baseUrl, '--log-file', logFile, '--log-mib', '64', '--json'],
    ['env', '--effective'],
    ['doctor', '--json'],
    ['audit', 'verify'],
    ['keys', 'list'],
  ]) {
    const { stdout, stderr } = await gatehouseHere(args, { env })
    t.true(stdout.length > 20, `${args.join(' ')}: ${stderr}`)
    places.push({ name: `gatehouse ${args[0]}`, text: stdout + stderr })
  }
  const bundle = unpacked(readFileSync(output))
  t.true(bundle.length > 10_000 && bundle.includes('logs/1-gatehouse.log'))
  places.push({ name: 'the support bundle', text: bundle })
})

test.serial('no canary is anywhere', async (t) => {
  t.timeout(120_000)
  const { app } = listener
  const dump = await dumpDatabase(app.database.superuser)
  const files = await readFiles(app.config.dataDir)
  const output = { name: 'output', text: JSON.stringify(app.logged) }
  const everything = [...places, ...files, output, ...dump]
  // One walk finds those places that hold any: all begin with the same letters.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from(`${'x'.repeat(shift)}cnry`)
      .toString('base64')
      .slice(shift === 0 ? 0 : shift + 1, shift + 4),
  )
  const trace = new RegExp(['cnry', Buffer.from('cnry').toString('hex'), ...base64].join('|'), 'i')
  const suspects = everything.filter(({ text }) => trace.test(text))
  t.true(app.logged.length > 1000, `${app.logged.length} lines`)
  const seen = sightings(harmless.all, everything).join('\n')
  for (const place of ['POST /guardrails', 'GET /audit-logs', 'table guardrails', 'table audit_logs'])
    t.true(seen.includes(`in ${place}`), `${place}: ${seen}`)
  t.deepEqual(sightings(canaries.all, suspects).slice(0, 60), [])
})
