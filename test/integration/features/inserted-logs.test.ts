import { randomUUID } from 'node:crypto'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { errorOf } from './answers.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant

test.before(async () => {
  // Without the role gateway: the control plane has a way to the journal of its own.
  control = await startControl({}, { ROLES: 'control', MAX_LOG_BODY_SIZE_IN_KB: '4' })
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
})
test.after.always(() => control.close())

const insert = (body: unknown, key = acme.workspaceKey) => control.call(key, 'POST', '/logs', body)
const request = { url: 'https://api.example/v1/chat/completions', body: { model: 'm-1', messages: [] } }
const response = { body: { choices: [] } }
const own = { request, response }

const listed = async (traceId: string, key = acme.workspaceKey) =>
  (await control.call(key, 'GET', `/logs?trace_id=${traceId}`)).body['data'] as Record<string, unknown>[]
async function arrived(traceId: string, count = 1) {
  await eventually(async () => (await listed(traceId)).length === count, 20_000, `logs of ${traceId}`)
  return listed(traceId)
}

test('a log is inserted, without what is secret in it', async (t) => {
  const secret = 'sk-own-0123456789abcdef'
  const { status, body } = await insert({
    request: {
      url: `https://me:hunter22@api.example/v1/chat?api_key=${secret}&q=1`,
      provider: 'openai',
      headers: { authorization: `Bearer ${secret}`, 'x-note': `with ${secret}` },
      body: { model: 'm-1', stream: true, messages: [] },
    },
    response: { status: 401, headers: { 'set-cookie': 'a=b' }, body: { error: `not good: ${secret}` }, response_time: 12.4 },
    metadata: { trace_id: 'own', span_id: 's', parent_span_id: 'p', span_name: 'n', _user: 'ada' },
  })
  t.is(status, 200)
  const [id] = body['log_ids'] as string[]
  const [log] = await arrived('own')
  t.like(log, {
    id,
    workspace_id: acme.workspaceId,
    operation: 'inserted',
    ai_org: 'openai',
    ai_model: 'm-1',
    stream_mode: 1,
    is_success: false,
    response_status_code: 401,
    response_time: 12,
    span_id: 's',
    parent_span_id: 'p',
    span_name: 'n',
    'metadata.key': ['_user'],
    'metadata.value': ['ada'],
    request_url: 'https://[removed]@api.example/v1/chat?api_key=[removed]&q=1',
    usage_source: 'none',
    total_units: null,
    cost: null,
  })
  const one = await control.call(acme.workspaceKey, 'GET', `/logs/${id}`)
  t.is(one.status, 200)
  for (const hidden of [secret, 'hunter22', 'a=b']) t.false(one.text.includes(hidden), hidden)
  t.like(one.body['request'], { headers: { authorization: '[removed]', 'x-note': 'with [removed]' } })
  t.like(one.body['response'], { status: 401, body: { error: 'not good: [removed]' } })
  t.false((await control.dump()).includes(secret))
})

test('a list is inserted into the workspace of the key and nowhere else, and a long body is cut', async (t) => {
  const trace = { trace_id: 'several' }
  const { body } = await insert([
    { ...own, metadata: trace },
    { request: { ...request, body: 'x'.repeat(5000) }, response, metadata: trace },
  ])
  const ids = body['log_ids'] as string[]
  const found = await arrived('several', 2)
  for (const id of ids) t.true(found.some((log) => log['id'] === id))
  const long = await control.call(acme.workspaceKey, 'GET', `/logs/${ids[1]}`)
  t.like(long.body['request'], { body_truncated: true, body: 'x'.repeat(4096) })
  for (const key of [acme.sideKey, rival.workspaceKey, rival.adminKey]) {
    t.deepEqual(await listed('several', key), [])
    t.is((await control.call(key, 'GET', `/logs/${ids[0]}`)).status, 404)
  }
})

test('a repeated request inserts nothing twice', async (t) => {
  const send = () =>
    fetch(`${control.origin}/v1/logs`, {
      method: 'POST',
      headers: { 'x-service-api-key': acme.workspaceKey, 'content-type': 'application/json', 'idempotency-key': 'once' },
      body: JSON.stringify({ ...own, metadata: { trace_id: 'once' } }),
    })
  const [first, again] = [await (await send()).text(), await (await send()).text()]
  t.is(again, first)
  await insert({ ...own, metadata: { trace_id: 'after' } })
  // The journal keeps the order, so that a second one would be there by now.
  await arrived('after')
  t.is((await listed('once')).length, 1)
})

test('only keys of a workspace with logs.write insert', async (t) => {
  const reader = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['logs.list', 'logs.view'] })
  for (const key of [acme.adminKey, reader]) t.is((await insert(own, key)).status, 403)
  t.is((await insert(own, `gh-${randomUUID()}`)).status, 401)
})

for (const [name, body, param] of [
  ['a text', '"log"', null],
  ['nothing', {}, 'request'],
  ['no response', { request }, 'response'],
  ['no url', { request: { body: {} }, response }, 'request.url'],
  ['a long url', { request: { ...request, url: 'u'.repeat(2049) }, response }, 'request.url'],
  ['a number as body', { request: { ...request, body: 1 }, response }, 'request.body'],
  ['no method', { request: { ...request, method: 'GET /' }, response }, 'request.method'],
  ['no status', { request, response: { ...response, status: 99 } }, 'response.status'],
  ['a header of two lines', { request: { ...request, headers: { a: ['b'] } }, response }, 'request.headers.a'],
  ['metadata that is no text', { ...own, metadata: { n: 1 } }, 'metadata.n'],
  ['a long trace id', { ...own, metadata: { trace_id: 't'.repeat(256) } }, 'metadata.trace_id'],
  ['an unknown field', { ...own, cost: 3 }, 'cost'],
  ['an empty list', [], null],
  ['a list that is too long', Array.from({ length: 101 }, () => own), null],
] as const)
  test(`refused: ${name}`, async (t) => {
    const answer = await insert(body)
    t.is(answer.status, 400, answer.text)
    const { message, param: named } = errorOf(answer)
    t.true(param === null || named === param, answer.text)
    t.true(message.length > 0)
  })

test('refused: more than 2 MB', async (t) => {
  t.is((await insert({ request: { ...request, body: 'x'.repeat(2 * 1024 * 1024) }, response })).status, 413)
})
