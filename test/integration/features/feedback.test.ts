import { randomUUID } from 'node:crypto'
import test from 'ava'
import { each, errorOf, made as fieldsOf } from './answers.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
})
test.after.always(() => control.close())

const ask = (method: string, path: string, body?: unknown, key = acme.workspaceKey) => control.call(key, method, path, body)
const rowOf = async (id: unknown) =>
  (await control.sql.query('SELECT trace_id, value, weight, metadata, workspace_id FROM feedbacks WHERE id = $1', [id])).rows[0] as object

test('a feedback is given, and changed', async (t) => {
  const { body } = await ask('POST', '/feedback', { trace_id: 'trace-1', value: -10, weight: 0.5, metadata: { text: 'ä', by: 7 } })
  t.like(body, { status: 'success' })
  const [id] = body['feedback_ids'] as string[]
  const row = { trace_id: 'trace-1', value: -10, weight: 0.5, metadata: { text: 'ä', by: 7 }, workspace_id: acme.workspaceId }
  t.deepEqual(await rowOf(id), row)
  t.like((await ask('PUT', `/feedback/${id}`, { value: 10 })).body, { status: 'success', feedback_ids: [id] })
  t.deepEqual(await rowOf(id), { ...row, value: 10 })
  await ask('PUT', `/feedback/${id}`, { value: 0, weight: 1, metadata: null, feedback_id: id })
  t.deepEqual(await rowOf(id), { ...row, value: 0, weight: 1, metadata: {} })
  for (const key of [rival.workspaceKey, acme.sideKey]) t.is((await ask('PUT', `/feedback/${id}`, { value: 1 }, key)).status, 404)
  for (const other of [randomUUID(), 'x']) t.is((await ask('PUT', `/feedback/${other}`, { value: 1 })).status, 404)
  t.is((await ask('POST', '/feedback', { trace_id: 't', value: 1 }, acme.adminKey)).status, 403)
})

test('several are given at once, or none', async (t) => {
  const three = [1, 2, 3].map((value) => ({ trace_id: 'trace-2', value }))
  const { body } = await ask('POST', '/feedback', three)
  t.is((body['feedback_ids'] as unknown[]).length, 3)
  t.is((await ask('POST', '/feedback', [...three, { trace_id: 'trace-2', value: 11 }])).status, 400)
  t.deepEqual((await control.sql.query(`SELECT value, weight FROM feedbacks WHERE trace_id = 'trace-2' ORDER BY value`)).rows, [
    { value: 1, weight: 1 },
    { value: 2, weight: 1 },
    { value: 3, weight: 1 },
  ])
})

for (const [body, param] of [
  [{}, 'trace_id'],
  [{ trace_id: '', value: 1 }, 'trace_id'],
  [{ trace_id: 't' }, 'value'],
  [{ trace_id: 't', value: 11 }, 'value'],
  [{ trace_id: 't', value: -11 }, 'value'],
  [{ trace_id: 't', value: 0.5 }, 'value'],
  [{ trace_id: 't', value: 1, weight: 1.1 }, 'weight'],
  [{ trace_id: 't', value: 1, weight: -0.1 }, 'weight'],
  [{ trace_id: 't', value: 1, metadata: [] }, 'metadata'],
  [{ trace_id: 't', value: 1, metadata: { a: '\u0000' } }, 'metadata'],
  [{ trace_id: 't', value: 1, mood: 'good' }, 'mood'],
] as const)
  test(`a feedback is refused: ${JSON.stringify(body)}`, async (t) => {
    const answer = await ask('POST', '/feedback', body)
    t.deepEqual([answer.status, errorOf(answer).code, errorOf(answer).param], [400, 'AB01', param], answer.text)
  })

test('a filter is saved, read, listed, changed and deleted', async (t) => {
  const filters = { status_code: '400,500', ai_model: 'gpt-4o', cost_min: 0.5, workspace_slug: 'main', metadata: { env: 'prod' } }
  const made = await fieldsOf(ask('POST', '/saved-filters', { name: 'My errors', filters }))
  t.is(made['slug'], 'my-errors')
  for (const reference of [made['id'], made['slug']]) {
    const { body } = await ask('GET', `/saved-filters/${reference}`)
    t.like(body, { id: made['id'], name: 'My errors', type: 'logs', filters, workspace_id: acme.workspaceId, object: 'saved-filter' })
  }
  await ask('PUT', '/saved-filters/my-errors', { name: 'Errors' })
  t.like((await ask('GET', '/saved-filters/my-errors')).body, { name: 'Errors', filters })
  await ask('PUT', '/saved-filters/my-errors', { filters: { workspace_slug: acme.workspaceId } })
  t.deepEqual((await ask('GET', '/saved-filters/my-errors')).body['filters'], { workspace_slug: acme.workspaceId })
  await fieldsOf(ask('POST', '/saved-filters', { name: 'Costs', type: 'analytics', workspace_id: 'side', filters: {} }, acme.adminKey))
  const names = async (query: string, key = acme.adminKey) => each(await ask('GET', `/saved-filters?${query}`, undefined, key), 'name')
  t.deepEqual(await names(''), ['Costs', 'Errors'])
  t.deepEqual(await names('workspace_id=side'), ['Costs'])
  t.deepEqual(await names(`workspace_id=${acme.workspaceId}`), ['Errors'])
  t.deepEqual(await names('type=analytics'), ['Costs'])
  t.deepEqual(await names('', acme.workspaceKey), ['Errors'])
  t.is((await ask('GET', '/saved-filters/my-errors', undefined, acme.sideKey)).status, 404)
  t.is((await ask('GET', '/saved-filters/my-errors', undefined, rival.adminKey)).status, 404)
  t.deepEqual((await ask('DELETE', '/saved-filters/my-errors')).body, {})
  for (const method of ['GET', 'DELETE']) t.is((await ask(method, `/saved-filters/${made['id']}`)).status, 404)
})

for (const [body, param] of [
  [{ name: 'x' }, 'filters'],
  [{ filters: {} }, 'name'],
  [{ name: 'x', filters: { color: 1 } }, 'filters.color'],
  [{ name: 'x', filters: { cost_min: -1 } }, 'filters.cost_min'],
  [{ name: 'x', filters: { cost_min: 2, cost_max: 1 } }, 'filters.cost_max'],
  [{ name: 'x', filters: { status_code: 'bad' } }, 'filters.status_code'],
  [{ name: 'x', filters: { time_of_generation_min: 'yesterday' } }, 'filters.time_of_generation_min'],
  [
    { name: 'x', filters: { time_of_generation_min: '2026-02-01T00:00:00Z', time_of_generation_max: '2026-01-01T00:00:00Z' } },
    'filters.time_of_generation_max',
  ],
  [{ name: 'x', filters: { weighted_feedback_min: -11 } }, 'filters.weighted_feedback_min'],
  [{ name: 'x', type: 'traces', filters: {} }, 'type'],
] as const)
  test(`a filter is refused: ${JSON.stringify(body)}`, async (t) => {
    const answer = await ask('POST', '/saved-filters', body)
    t.deepEqual([answer.status, errorOf(answer).param], [400, param], answer.text)
  })

test('a filter names no workspace that its maker does not see', async (t) => {
  const answer = await ask('POST', '/saved-filters', { name: 'x', filters: { workspace_slug: 'none' } }, acme.adminKey)
  t.is(answer.status, 404)
  const other = await ask('POST', '/saved-filters', { name: 'x', filters: { workspace_slug: 'side' } })
  t.is(other.status, 403)
})
