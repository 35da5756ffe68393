import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { inDatabase } from '../../support/database.ts'
import { type RawAnswer, send } from '../../support/http.ts'
import { errorOf } from '../../support/caller.ts'
import { pruneIdempotencyKeys } from '../../../src/app/database/prune-idempotency-keys.ts'

let app: TestApp
let now = Date.now()
test.before(async () => {
  app = await startApp({ overrides: { clock: { now: () => now } } })
})
test.after.always(() => app.stop())

interface Sent {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const ask = (method: string, path: string, { key = app.adminKey, headers = {}, body }: Sent = {}): Promise<RawAnswer> =>
  send(`${app.baseUrl}/v1${path}`, {
    method,
    headers: { 'x-service-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const fieldsOf = ({ text }: RawAnswer) => JSON.parse(text) as Record<string, unknown>
const newKey = (name: string) => ({ name, scopes: ['logs.list'] })
const create = (idempotencyKey: string, name: string, sent: Sent = {}) =>
  ask('POST', '/api-keys/organisation/service', { body: newKey(name), headers: { 'idempotency-key': idempotencyKey }, ...sent })
const sql = (text: string, values: unknown[] = []) => inDatabase(app.database.superuser, (client) => client.query(text, values))
const keysNamed = async (name: string) => (await sql('SELECT id FROM api_keys WHERE name = $1', [name])).rows.length

test('the same POST with the same Idempotency-Key is done once and answered alike, secret and all', async (t) => {
  const first = await create('one', 'once')
  const again = await create('one', 'once')
  t.is(first.status, 200)
  t.is(again.text, first.text)
  t.regex(String(fieldsOf(again)['key']), /^gh-/)
  t.is(first.headers['idempotency-replayed'], undefined)
  t.is(again.headers['idempotency-replayed'], 'true')
  t.not(again.headers['x-request-id'], first.headers['x-request-id'])
  t.is(await keysNamed('once'), 1)
})

test('what is kept is sealed', async (t) => {
  const secret = String(fieldsOf(await create('sealed', 'sealed'))['key'])
  const { rows } = await sql(`SELECT string_agg(response::text, '') AS kept FROM idempotency_keys`)
  t.false(Buffer.from(String(rows[0].kept).replaceAll('\\x', ''), 'hex').toString('latin1').includes(secret))
})

const others: readonly (readonly [what: string, path: string, body: unknown])[] = [
  ['another body', '/api-keys/organisation/service', newKey('other')],
  ['another path', '/api-keys/workspace/service', newKey('first')],
]
for (const [what, path, body] of others)
  test(`an Idempotency-Key is refused for ${what}`, async (t) => {
    const key = `for-${what.replace(' ', '-')}`
    t.is((await create(key, 'first')).status, 200)
    const refused = await ask('POST', path, { body, headers: { 'idempotency-key': key } })
    t.is(refused.status, 400)
    t.like(errorOf(refused), { code: 'AB01', param: 'idempotency-key' })
  })

test('the order of the fields makes no other body, and other callers have keys of their own', async (t) => {
  const first = await create('order', 'order')
  const turned = await ask('POST', '/api-keys/organisation/service', {
    body: { scopes: ['logs.list'], name: 'order' },
    headers: { 'idempotency-key': 'order' },
  })
  t.is(turned.text, first.text)
  const other = await ask('POST', '/api-keys/workspace/service', {
    key: app.workspaceKey,
    body: newKey('other caller'),
    headers: { 'idempotency-key': 'order' },
  })
  t.is(other.status, 200)
  t.not(other.text, first.text)
})

test('a long answer of a trial is not kept: a disk is shared, and to try again does no harm', async (t) => {
  const checks = [{ id: 'default.contains', parameters: { words: ['zz'], operator: 'none' } }]
  const trial = (text: string) =>
    ask('POST', '/guardrails/test', {
      key: app.workspaceKey,
      body: { phase: 'input', checks, text },
      headers: { 'idempotency-key': `trial-${text.length}` },
    })
  for (const [text, replayed] of [
    ['word '.repeat(20_000), undefined],
    ['word', 'true'],
  ] as const) {
    const [first, again] = [await trial(text), await trial(text)]
    t.is(first.status, 200, first.text)
    t.is(again.headers['idempotency-replayed'], replayed)
  }
})

test('a refused POST leaves its key free', async (t) => {
  const refused = await create('free', '', {})
  t.is(refused.status, 400)
  t.is((await create('free', 'now right')).status, 200)
})

test('of twenty twins one is done; the others get its answer or 409', async (t) => {
  const twins = await Promise.all(Array.from({ length: 20 }, () => create('twins', 'twins')))
  t.is(await keysNamed('twins'), 1)
  const done = twins.filter(({ status }) => status === 200)
  const again = await create('twins', 'twins')
  t.is(new Set(done.map(({ text }) => text)).size, 1)
  for (const twin of twins.filter(({ status }) => status !== 200)) {
    t.is(twin.status, 409)
    t.like(errorOf(twin), { code: 'AB07', param: 'idempotency-key' })
    t.is(twin.headers['retry-after'], '1')
  }
  t.true(done.some(({ text }) => text === again.text))
})

for (const key of ['a b', 'ä', 'x'.repeat(256)])
  test(`not an Idempotency-Key: ${key.slice(0, 10)}`, async (t) => {
    const refused = await create(Buffer.from(key).toString('latin1'), 'never')
    t.is(refused.status, 400)
    t.is(errorOf(refused).param, 'idempotency-key')
  })

test.serial('after 24 hours the key is free again, and the answer forgotten', async (t) => {
  const first = await create('day', 'day')
  now += 24 * 3600 * 1000 - 1000
  t.is((await create('day', 'day')).text, first.text)
  now += 2000
  const later = await create('day', 'day')
  t.is(later.status, 200)
  t.not(later.text, first.text)
  now += 25 * 3600 * 1000
  await pruneIdempotencyKeys.run(app.deps)
  t.is((await sql('SELECT 1 FROM idempotency_keys')).rows.length, 0)
})

test('two editors do not overwrite each other', async (t) => {
  const id = String(fieldsOf(await create('edited', 'edited'))['id'])
  const [one, other] = [await ask('GET', `/api-keys/${id}`), await ask('GET', `/api-keys/${id}`)]
  const etag = String(one.headers['etag'])
  t.regex(etag, /^"[\w-]{27}"$/)
  t.is(other.headers['etag'], etag)
  const put = (name: string, tag: string) => ask('PUT', `/api-keys/${id}`, { body: { name }, headers: { 'if-match': tag } })
  const done = await put('by one', etag)
  t.is(done.status, 200)
  const late = await put('by the other', etag)
  t.is(late.status, 412)
  t.like(errorOf(late), { code: 'precondition_failed', param: 'if-match' })
  const read = await ask('GET', `/api-keys/${id}`)
  t.is(fieldsOf(read)['name'], 'by one')
  t.is(read.headers['etag'], done.headers['etag'])
  t.is((await put('again', `"other", W/${String(read.headers['etag'])}`)).status, 200)
  t.is((await put('any', '*')).status, 200)
  t.is((await put('none', 'unquoted')).status, 400)
})

test('what was changed since it was read is not deleted', async (t) => {
  const id = String(fieldsOf(await create('deleted', 'deleted'))['id'])
  const remove = (tag: string) => ask('DELETE', `/api-keys/${id}`, { headers: { 'if-match': tag } })
  const seen = String((await ask('GET', `/api-keys/${id}`)).headers['etag'])
  t.is((await ask('PUT', `/api-keys/${id}`, { body: { name: 'changed' } })).status, 200)
  const late = await remove(seen)
  t.is(late.status, 412)
  t.like(errorOf(late), { code: 'precondition_failed', param: 'if-match' })
  t.is((await remove('unquoted')).status, 400)
  const read = await ask('GET', `/api-keys/${id}`)
  t.is(read.status, 200)
  t.is((await remove(String(read.headers['etag']))).status, 200)
  t.is((await ask('GET', `/api-keys/${id}`)).status, 404)
})

test('of ten editors at once one wins', async (t) => {
  const id = String(fieldsOf(await create('raced', 'raced'))['id'])
  const tag = String((await ask('GET', `/api-keys/${id}`)).headers['etag'])
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => ask('PUT', `/api-keys/${id}`, { body: { name: `by ${at}` }, headers: { 'if-match': tag } })),
  )
  t.deepEqual(
    [200, 412].map((wanted) => answers.filter(({ status }) => status === wanted).length),
    [1, 9],
  )
})

test('a list has no ETag', async (t) => {
  t.is((await ask('GET', '/api-keys')).headers['etag'], undefined)
})
