import type { Maker } from '../maker.ts'
import { storeProvider } from './stored.ts'

/** An integration that is used, one that was changed, and one that was deleted. */
export const integrations: Maker = async ({ client, admin, workspace, workspaceKey, providerUrl, has, name }) => {
  const used = await storeProvider({ workspace, providerUrl, has }, name('integration'), {
    description: 'Used.',
    ...(has('1.7.3') && { tags: { team: name('team') } }),
    configurations: { custom_headers: { 'x-team': name('team') } },
  })
  await client.through(workspaceKey, `@${name('integration')}`).get('/echo/integration')
  const shared = await admin.post('/integrations', {
    name: name('shared'),
    slug: name('shared'),
    ai_provider_id: 'anthropic',
    key: 'sk-ant-first',
  })
  await admin.put(`/integrations/${shared.slug}`, { name: name('changed'), key: `sk-ant-${name('second')}` })
  await admin.put(`/integrations/${shared.slug}/workspaces`, {
    global_workspace_access: { enabled: true },
    ...(has('1.10.0') && { create_default_provider: false }),
  })
  await admin.get(`/integrations/${shared.slug}/workspaces`)
  const models = [
    { slug: 'claude-ours', enabled: true, is_custom: true, base_model_slug: 'claude-sonnet-4' },
    { slug: 'claude-old', enabled: false },
    { slug: 'claude-gone', enabled: true },
  ]
  await admin.put(`/integrations/${shared.slug}/models`, { models })
  await admin.remove(`/integrations/${shared.slug}/models?slugs=claude-gone`)
  await admin.get(`/integrations/${shared.slug}/models`)
  // A key reads another catalogue here with each release that brings a provider or a field, and a test states how long its steps took.
  await client.with(name('nobody')).refused(401, 'GET', '/catalogue/providers')
  const trial = { ai_provider_id: 'openai', key: `sk-${name('tried')}`, configurations: { custom_host: providerUrl } }
  await workspace.post('/integrations/test', trial)
  await workspace.post(`/integrations/${used}/test`, {})
  const deleted = await workspace.post('/integrations', { name: name('deleted'), ai_provider_id: 'openai', key: 'sk-deleted' })
  await workspace.remove(`/integrations/${deleted.slug}`)
  await workspace.get(`/integrations/${used}`)
  await admin.list('/integrations', 2)
}

/** A second handle on an integration. */
export const providers: Maker = async ({ client, workspace, workspaceKey, providerUrl, has, name }) => {
  const { id } = await workspace.post('/integrations', {
    name: name('for providers'),
    slug: name('for-providers'),
    ai_provider_id: 'openai',
    key: `sk-${name('for-providers')}`,
    ...(has('1.11.2') && { create_default_provider: false }),
    configurations: { custom_host: providerUrl },
  })
  const provider = await workspace.post('/providers', {
    name: name('provider'),
    slug: name('provider'),
    integration_id: id,
    note: 'A second handle.',
    usage_limits: { type: 'tokens', credit_limit: 1_000_000 },
    rate_limits: [{ type: 'tokens', unit: 'rpd', value: 100_000 }],
    expires_at: '2099-01-01T00:00:00.000Z',
  })
  await workspace.put(`/providers/${provider.slug}`, { note: null })
  await client.through(workspaceKey, `@${provider.slug}`).get('/echo/provider')
  const deleted = await workspace.post('/providers', { name: name('deleted provider'), integration_id: id })
  await workspace.remove(`/providers/${deleted.slug}`)
  await workspace.get(`/providers/${provider.slug}`)
  await workspace.list('/providers', 1)
}

/** The older surface over the same. */
export const virtualKeys: Maker = async ({ client, workspace, workspaceKey, providerUrl, name }) => {
  const virtual = await workspace.post('/virtual-keys', {
    name: name('virtual'),
    provider: 'openai',
    key: `sk-${name('virtual')}`,
    note: 'Of an old client.',
    configurations: { custom_host: providerUrl },
  })
  await workspace.put(`/virtual-keys/${virtual.slug}`, { key: `sk-${name('virtual-changed')}` })
  await client.through(workspaceKey, `@${virtual.slug}`).get('/echo/virtual-key')
  const deleted = await workspace.post('/virtual-keys', { name: name('deleted virtual'), provider: 'openai', key: 'sk-deleted' })
  await workspace.remove(`/virtual-keys/${deleted.slug}`)
  await workspace.get(`/virtual-keys/${virtual.slug}`)
  await workspace.list('/virtual-keys', 1)
}
