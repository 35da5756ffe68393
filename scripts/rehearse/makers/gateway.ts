import type { Maker } from '../maker.ts'

/** What goes through the gateway by itself, and the logs of it. */
export const logs: Maker = async ({ client, admin, workspace, workspaceKey, providerUrl, name }) => {
  await workspace.post('/integrations', {
    name: name('logged'),
    slug: name('logged'),
    default_provider_slug: name('logged'),
    ai_provider_id: 'openai',
    key: `sk-${name('logged')}`,
    configurations: { custom_host: providerUrl },
  })
  const trace = name('trace')
  const metadata = JSON.stringify({ team: name('team'), _user: 'ada' })
  const gateway = client.through(workspaceKey, `@${name('logged')}`, { 'x-service-trace-id': trace, 'x-service-metadata': metadata })
  const messages = [{ role: 'user', content: 'Say hello.' }]
  await gateway.post('/chat/completions', { model: 'gpt-4o', messages })
  await gateway.post('/chat/completions', { model: 'gpt-4o', messages, stream: true })
  await gateway.post('/embeddings', { model: 'text-embedding-3-small', input: 'hello' })
  await gateway.post('/responses', { model: 'gpt-4o', input: 'hello' })
  await gateway.get('/models')
  const { id } = await workspace.list(`/logs?trace_id=${trace}&order=asc`, 5)
  await workspace.get(`/logs/${id}`)
  await admin.list(`/logs?trace_id=${trace}&is_success=true&ai_org=openai`, 5)
}
