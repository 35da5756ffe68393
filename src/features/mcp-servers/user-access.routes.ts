import type { EntityManager } from '@mikro-orm/postgresql'
import { route } from '../../app/route.ts'
import { findPage } from '../../app/database/list.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { pageOf, toList } from '../../lib/paging.ts'
import { McpGrant } from '../mcp-tokens/mcp-grant.entity.ts'
import { demandScope } from '../workspaces/index.ts'
import { pageQuery, success } from '../mcp-integrations/index.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import { User } from '../users/user.entity.ts'
import type { McpServerEntity } from './mcp-server.entity.ts'
import { McpServerUser } from './mcp-server-rights.entity.ts'
import { inWorkspace, mcpServerParams } from './mcp-server.schema.ts'
import { findMcpServer } from './mcp-servers.ts'
import {
  connectionFilter,
  connectionList,
  connectionQuery,
  connectionSorts,
  updateUserAccessBody,
  userAccessList,
  userAccessPage,
} from './rights.schema.ts'

const resource = 'mcp-server'

export const listUserAccess = route({
  method: 'GET',
  path: '/mcp-servers/:mcpServerId/user-access',
  summary: 'List the members of the workspace, and whether they may use an MCP server',
  permission: 'mcp_servers.read',
  params: mcpServerParams,
  query: userAccessPage,
  response: userAccessList,
})(async ({ em, actor, params, query }) => {
  const server = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id })
  const connected = await connectedUsers(em, server.id)
  const own = new Map((await em.find(McpServerUser, { serverId: server.id })).map(({ userId, enabled }) => [userId, enabled]))
  const wanted = query.search?.toLowerCase() ?? ''
  const people = (await membersOf(em, server)).filter(({ email, firstName, lastName }) =>
    `${firstName ?? ''} ${lastName ?? ''} ${email}`.toLowerCase().includes(wanted),
  )
  const page = pageOf(people, pageQuery(query), ({ id }) => id)
  const data = page.rows.map(({ id, email, firstName, lastName }) => ({
    user_id: id,
    email,
    first_name: firstName ?? null,
    last_name: lastName ?? null,
    enabled: own.get(id) ?? server.defaultUserAccess === 'allow',
    has_override: own.has(id),
    connection_status: connected.has(id) ? ('connected' as const) : ('not_connected' as const),
  }))
  return { ...toList(data, page), default_user_access: server.defaultUserAccess }
})

const connectedUsers = async (em: EntityManager, serverId: string): Promise<ReadonlySet<string>> =>
  new Set((await em.find(McpGrant, { serverId }, { fields: ['userId'] })).flatMap(({ userId }) => (userId ? [userId] : [])))

/** Returns the members of the workspace, and the owners and admins of the organisation, since these act in every one. */
async function membersOf(em: EntityManager, { organisationId, workspaceId }: McpServerEntity): Promise<readonly User[]> {
  const members = await em.find(WorkspaceMember, { workspaceId }, { fields: ['userId'] })
  const id = { $in: members.map(({ userId }) => userId) }
  const where = { organisationId, status: 'active' as const, $or: [{ id }, { role: { $in: ['owner' as const, 'admin' as const] } }] }
  return em.find(User, where, { orderBy: { id: 'asc' } })
}

export const putUserAccess = route({
  method: 'PUT',
  path: '/mcp-servers/:mcpServerId/user-access',
  summary: 'Set which members of the workspace may use an MCP server',
  permission: 'mcp_servers.update',
  resource,
  params: mcpServerParams,
  query: inWorkspace,
  body: updateUserAccessBody,
  response: success,
})(async ({ em, actor, params, query, body, audit }) => {
  const server = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id, forWrite: true })
  const { id: serverId, organisationId } = server
  const members = new Set((await membersOf(em, server)).map(({ id }) => id))
  const rows = new Map((await em.find(McpServerUser, { serverId })).map((row) => [row.userId, row]))
  const seen = new Set<string>()
  for (const [at, { user_id, enabled }] of (body.user_access ?? []).entries()) {
    const [userId, param] = [user_id.toLowerCase(), `user_access[${at}].user_id`]
    if (!members.has(userId)) throw new ApiError('AB08', 'There is no such member of the workspace.', { param })
    if (seen.has(userId)) throw new ApiError('AB01', `${param} comes twice.`, { param })
    seen.add(userId)
    const row = rows.get(userId)
    if (row === undefined) em.create(McpServerUser, { organisationId, serverId, userId, enabled })
    else row.enabled = enabled
  }
  if (body.default_user_access !== undefined) server.defaultUserAccess = body.default_user_access
  audit({ id: server.id, workspaceId: server.workspaceId })
  return { success: true as const }
})

export const listConnections = route({
  method: 'GET',
  path: '/mcp-servers/:mcpServerId/connections',
  summary: 'List the people who have signed in at an MCP server',
  permission: 'mcp_servers.read',
  params: mcpServerParams,
  query: connectionFilter,
  response: connectionList,
})(async ({ em, actor, params, query }) => {
  const { id: serverId } = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id })
  const where = { serverId, ...(query.user_id !== undefined && { userId: asUuid(query.user_id) }) }
  const page = await findPage(em, McpGrant, { where, query, sorts: connectionSorts })
  return toList(page.rows.map(presentConnection), page)
})

/** No user has the nil UUID, so that none is found for a text that is no id. */
const asUuid = (text: string): string => (isUuid(text) ? text.toLowerCase() : '00000000-0000-0000-0000-000000000000')

const presentConnection = ({ userId, createdAt, lastUpdatedAt }: McpGrant) => ({
  user_id: userId ?? '',
  connected: true,
  created_at: createdAt.toISOString(),
  last_updated_at: lastUpdatedAt.toISOString(),
})

export const deleteConnections = route({
  method: 'DELETE',
  path: '/mcp-servers/:mcpServerId/connections',
  summary: 'End the sign-ins of people at an MCP server: of all, of one, or your own',
  // People end their own; the first scope is that of every member.
  permission: ['mcp_servers.read', 'mcp_servers.update'],
  resource,
  action: 'disconnect',
  params: mcpServerParams,
  query: connectionQuery,
  response: success,
})(async ({ em, actor, params, query, audit }) => {
  const server = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id, forWrite: true })
  const userId = query.user_id?.toLowerCase()
  if (userId === undefined || userId !== actor.userId) demandScope(actor, 'mcp_servers.update')
  const rows = await em.find(McpGrant, { serverId: server.id, userId: userId ?? { $ne: null } })
  for (const row of rows) em.remove(row)
  const changes = rows.map(({ id, userId: whose, issuer }) => ({
    table: 'mcp_grants',
    id,
    before: { server_id: server.id, user_id: whose ?? null, issuer: issuer ?? null },
    after: null,
  }))
  audit({ id: server.id, workspaceId: server.workspaceId, changes })
  return { success: true as const }
})
