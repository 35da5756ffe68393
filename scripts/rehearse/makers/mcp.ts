import type { Maker } from '../maker.ts'

/** MCP integrations: with headers and without, shared, changed and deleted. No server has to answer. */
export const mcpIntegrations: Maker = async ({ admin, workspace, providerUrl, name }) => {
  const at = (noun: string) => ({ name: name(noun), slug: name(noun), url: `${providerUrl}/mcp`, transport: 'http' })
  const headers = { auth_type: 'headers', configurations: { custom_headers: { 'x-token': 'a-token-of-no-server' } } }
  const { id } = await admin.post('/mcp-integrations', { ...at('mcp-shared'), ...headers })
  await workspace.post('/mcp-integrations', { ...at('mcp-own'), auth_type: 'none' })
  await admin.put(`/mcp-integrations/${id}`, { description: 'changed' })
  await admin.put(`/mcp-integrations/${id}/workspaces`, { workspaces: [], global_workspace_access: { enabled: true } })
  await admin.refused(400, 'PUT', `/mcp-integrations/${id}/capabilities`)
  const deleted = await admin.post('/mcp-integrations', { ...at('mcp-unused'), auth_type: 'none' })
  await admin.remove(`/mcp-integrations/${deleted.id}`)
  await admin.get(`/mcp-integrations/${id}`)
  await admin.get(`/mcp-integrations/${id}/workspaces`)
  await admin.get(`/mcp-integrations/${id}/capabilities`)
  await admin.list('/mcp-integrations?type=workspace', 1)
}

/** MCP servers: with rights and pins, changed and deleted. Their tools are switched on by name, before any sync. */
export const mcpServers: Maker = async ({ admin, providerUrl, name }) => {
  const server = { url: `${providerUrl}/mcp`, transport: 'http', auth_type: 'none' }
  const integration = await admin.post('/mcp-integrations', { ...server, name: name('mcp-served'), slug: name('mcp-served') })
  const wanted = { mcp_integration_id: integration.id, pinning: 'hold' }
  const { id } = await admin.post('/mcp-servers', { ...wanted, name: 'kept', slug: name('kept-server') })
  await admin.put(`/mcp-servers/${id}`, { description: 'changed', default_access: 'deny' })
  await admin.put(`/mcp-servers/${id}/capabilities`, { capabilities: [{ name: 'search', type: 'tool', enabled: true }] })
  await admin.put(`/mcp-servers/${id}/user-access`, { default_user_access: 'deny' })
  await admin.refused(400, 'POST', `/mcp-servers/${id}/capabilities/search/approve`)
  await admin.refused(400, 'POST', `/mcp-servers/${id}/capabilities/search/reject`)
  await admin.refused(404, 'GET', `/mcp-servers/${id}/capabilities/search/history`)
  await admin.post(`/mcp-servers/${id}/test`)
  await admin.post(`/mcp-integrations/${integration.id}/sync`)
  await admin.remove(`/mcp-servers/${id}/connections`)
  const deleted = await admin.post('/mcp-servers', { ...wanted, name: 'unused', slug: name('unused-server') })
  await admin.remove(`/mcp-servers/${deleted.id}`)
  await admin.get(`/mcp-servers/${id}`)
  await admin.get(`/mcp-servers/${id}/capabilities`)
  await admin.get(`/mcp-servers/${id}/user-access`)
  await admin.get(`/mcp-servers/${id}/connections`)
  await admin.list(`/mcp-servers?id=${id}`, 1)
}

/** The facts about a server that no sync has asked. */
export const mcpMetadata: Maker = async ({ admin, providerUrl, name }) => {
  const server = { url: `${providerUrl}/mcp`, transport: 'http', auth_type: 'none' }
  const integration = await admin.post('/mcp-integrations', { ...server, name: name('mcp-told'), slug: name('mcp-told') })
  const { id } = await admin.post('/mcp-servers', { mcp_integration_id: integration.id, name: 'told', slug: name('told-server') })
  await admin.get(`/mcp-integrations/${integration.id}/metadata`)
  await admin.get(`/mcp-servers/${id}/metadata`)
}

/** No sign-in can be made without a browser, and none lasts over an upgrade that long. */
export const mcpSignIns: Maker = async ({ admin }) => {
  await admin.list('/mcp-sign-ins', 0)
  await admin.refused(404, 'DELETE', '/mcp-sign-ins/00000000-0000-4000-8000-000000000000')
}

/** A server at which Gatehouse signs in for itself. No authorization server has to answer: the client secret alone is kept. */
export const mcpTokens: Maker = async ({ admin, providerUrl, name }) => {
  const oauth = { issuer: providerUrl, client_id: 'gatehouse', client_secret: 'a-secret-of-no-client' }
  const at = { name: name('mcp-oauth'), slug: name('mcp-oauth'), url: `${providerUrl}/mcp`, transport: 'http' }
  const { id } = await admin.post('/mcp-integrations', { ...at, auth_type: 'oauth_client_credentials', configurations: { oauth } })
  await admin.get(`/mcp-integrations/${id}`)
}

/** A server at which people sign in. No person does, because that needs a browser. */
export const mcpConnections: Maker = async ({ admin, providerUrl, name }) => {
  const at = { name: name('mcp-people'), slug: name('mcp-people'), url: `${providerUrl}/mcp`, transport: 'http', auth_type: 'oauth_auto' }
  const integration = await admin.post('/mcp-integrations', at)
  const { id } = await admin.post('/mcp-servers', { mcp_integration_id: integration.id, name: 'people', slug: name('people-server') })
  await admin.get(`/mcp-servers/${id}/connections`)
  await admin.remove(`/mcp-servers/${id}/connections`)
}
