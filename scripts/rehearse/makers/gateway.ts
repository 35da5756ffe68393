import { createHash } from 'node:crypto'
import type { Maker } from '../maker.ts'
import { storeProvider } from './stored.ts'

/** Requests that go through the gateway by themselves, and their logs. */
export const logs: Maker = async ({ client, admin, workspace, workspaceKey, providerUrl, has, name }) => {
  await storeProvider({ workspace, providerUrl, has }, name('logged'))
  const trace = name('trace')
  const metadata = JSON.stringify({ team: name('team'), _user: 'ada' })
  const gateway = client.through(workspaceKey, `@${name('logged')}`, { 'x-service-trace-id': trace, 'x-service-metadata': metadata })
  const messages = [{ role: 'user', content: 'Say hello.' }]
  await gateway.post('/chat/completions', { model: 'gpt-4o', messages })
  await gateway.post('/chat/completions', { model: 'gpt-4o', messages, stream: true })
  await gateway.post('/embeddings', { model: 'text-embedding-3-small', input: 'hello' })
  await gateway.post('/responses', { model: 'gpt-4o', input: 'hello' })
  await gateway.get('/models')
  await workspace.post('/logs', {
    request: { url: 'https://provider.example/v1/chat/completions', method: 'POST', body: { model: 'gpt-4o' } },
    response: { status: 200, body: { choices: [] } },
  })
  const { id } = await workspace.list(`/logs?trace_id=${trace}&order=asc`, 5)
  await workspace.get(`/logs/${id}`)
  await workspace.get(`/logs/${id}/cost`)
  await admin.list(`/logs?trace_id=${trace}&is_success=true&ai_org=openai`, 5)
  await admin.post('/logs/erasures', { metadata: { _user: name('nobody') } })
}

const spanOf = (traceId: string, spanId: string, parentSpanId: string) => ({
  traceId,
  spanId,
  parentSpanId,
  name: 'step',
  startTimeUnixNano: '1767261600000000000',
  endTimeUnixNano: '1767261600500000000',
})

/** Spans that a client sends by each of the addresses. */
export const traces: Maker = async ({ workspace, name }) => {
  const traceId = createHash('md5').update(name('trace')).digest('hex')
  const ids = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)] as const
  for (const [index, path] of ['/otel/v1/traces', '/logs/otel', '/logs/otel/v1/traces'].entries())
    await workspace.post(path, {
      resourceSpans: [{ scopeSpans: [{ spans: [spanOf(traceId, ids[index] ?? ids[0], ids[index - 1] ?? '')] }] }],
    })
  await workspace.get('/traces?time_of_generation_max=2026-01-02T00:00:00Z')
  await workspace.get(`/traces/${traceId}`)
}

/** Exports that are drafted, changed, started and made. */
export const logExports: Maker = async ({ workspace, name }) => {
  const filters = { ai_model: 'gpt-4o', metadata: { team: name('team') }, is_success: true }
  const { id } = await workspace.post('/logs/exports', { filters, requested_data: ['id', 'cost'], description: name('export') })
  await workspace.put(`/logs/exports/${id}`, { filters: {}, requested_data: ['id', 'metadata'] })
  await workspace.get(`/logs/exports/${id}`)
  await workspace.get('/logs/exports/field-restrictions')
  await workspace.post('/logs/exports/estimate', { filters: {}, requested_data: ['id', 'cost'] })
  await workspace.refused(409, 'POST', `/logs/exports/${id}/cancel`)
  await workspace.refused(409, 'GET', `/logs/exports/${id}/download`)
  const done = await workspace.post('/logs/exports', { filters: { trace_id: name('none') }, requested_data: ['id'], format: 'parquet' })
  await workspace.post(`/logs/exports/${done.id}/start`)
  await workspace.list('/logs/exports?status=success', 1)
  await workspace.list('/logs/exports?status=draft', 1)
}

const graphs = [
  'requests',
  'cost',
  'latency',
  'tokens',
  'users',
  'users/requests',
  'errors',
  'errors/rate',
  'errors/stacks',
  'errors/status-codes',
  'requests/rescued',
  'cache/hit-rate',
  'cache/latency',
  'feedbacks',
  'feedbacks/scores',
  'feedbacks/weighted',
  'feedbacks/ai-models',
]

/** Requests drawn over time: those of a fixed range, whose figures an upgrade must not change. */
export const analytics: Maker = async ({ client, workspace, workspaceKey, providerUrl, has, name }) => {
  await storeProvider({ workspace, providerUrl, has }, name('drawn'))
  const trace = name('drawn-trace')
  const metadata = JSON.stringify({ _user: 'ada', team: 'blue' })
  const gateway = client.through(workspaceKey, `@${name('drawn')}`, { 'x-service-trace-id': trace, 'x-service-metadata': metadata })
  await gateway.post('/chat/completions', { model: 'gpt-4o', messages: [{ role: 'user', content: 'Say hello.' }] })
  await workspace.list(`/logs?trace_id=${trace}`, 1)
  const hour = 3_600_000
  const bounds = [Date.now() - hour, Date.now() + hour].map((ms) => new Date(ms).toISOString())
  const query = `trace_id=${trace}&time_of_generation_min=${bounds[0]}&time_of_generation_max=${bounds[1]}`
  for (const graph of graphs) await workspace.get(`/analytics/graphs/${graph}?${query}`)
  for (const path of ['summary/cache', 'groups/users', 'groups/ai-models', 'groups/metadata/team'])
    await workspace.get(`/analytics/${path}?${query}`)
  await workspace.get(`/logs/facets?${query}`)
  await workspace.get(`/analytics/overview?${query}&measures=requests,cost,p95_latency&compare=previous`)
}

/** Requests counted by workspace. */
export const workspaceGroupedAnalytics: Maker = async ({ workspace, name }) => {
  await workspace.get(`/analytics/groups/workspaces?trace_id=${name('drawn-trace')}&group_by=model,status_code&columns=total_tokens`)
}

/** Requests that can be counted by shared values. */
export const groupedAnalytics: Maker = async ({ client, workspace, workspaceKey, providerUrl, has, name }) => {
  await storeProvider({ workspace, providerUrl, has }, name('grouped'))
  const trace = name('grouped-trace')
  const gateway = client.through(workspaceKey, `@${name('grouped')}`, { 'x-service-trace-id': trace })
  await gateway.post('/chat/completions', { model: 'gpt-4o', messages: [{ role: 'user', content: 'Say hello.' }] })
  await workspace.list(`/logs?trace_id=${trace}`, 1)
  const query = `trace_id=${trace}&columns=total_tokens,error_count`
  await workspace.get(`/analytics/groups/model?${query}`)
  await workspace.get(`/logs/groups/status_code?${query}`)
}

/** Callers' feedback on an answer: one word at a time, several at once, and a change of mind. */
export const feedback: Maker = async ({ workspace, name }) => {
  const one = { trace_id: name('judged'), value: 5, weight: 0.5, metadata: { team: name('team') } }
  await workspace.post('/feedback', [one, { trace_id: name('judged'), value: -5 }])
  const { feedback_ids: id } = await workspace.post('/feedback', one)
  await workspace.put(`/feedback/${id}`, { value: 7 })
}

/** Filters of logs and of analytics, changed and deleted. */
export const savedFilters: Maker = async ({ admin, workspace, name }) => {
  const filters = { ai_model: 'gpt-4o', cost_min: 0.5, time_of_generation_min: '2025-01-01T00:00:00Z', metadata: { team: name('team') } }
  const { id, slug } = await workspace.post('/saved-filters', { name: name('filter'), filters })
  await workspace.put(`/saved-filters/${slug}`, { name: name('renamed filter'), filters: { ...filters, is_success: true } })
  await workspace.get(`/saved-filters/${id}`)
  await workspace.post('/saved-filters', { name: name('analytics filter'), type: 'analytics', filters: { status_code: '200, 429' } })
  const deleted = await workspace.post('/saved-filters', { name: name('deleted filter'), filters: {} })
  await workspace.remove(`/saved-filters/${deleted.slug}`)
  await workspace.list('/saved-filters', 2)
  await admin.list('/saved-filters?type=analytics', 1)
}

/** Responses that Gatehouse keeps, since their provider has no such API: one that goes on from another, which is deleted then. */
export const responses: Maker = async ({ client, workspace, workspaceKey, providerUrl, has, name }) => {
  await storeProvider({ workspace, providerUrl, has }, name('keeping'), { ai_provider_id: 'groq' })
  const gateway = client.through(workspaceKey, `@${name('keeping')}`)
  const model = 'llama-3.3-70b-versatile'
  const first = await gateway.post('/responses', { model, input: 'Say hello.' })
  const { id } = await gateway.post('/responses', { model, input: 'Again.', previous_response_id: first.id })
  await gateway.get(`/responses/${id}`)
  await gateway.get(`/responses/${id}/input_items?order=asc`)
  await gateway.remove(`/responses/${first.id}`)
  await gateway.refused(404, 'GET', `/responses/${first.id}`)
}
