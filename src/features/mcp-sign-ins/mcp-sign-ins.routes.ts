import type { FilterQuery } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { notFound } from '../../app/database/find.ts'
import { findPage } from '../../app/database/list.ts'
import { type Actor, route } from '../../app/route.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { toList } from '../../lib/paging.ts'
import { demandScope } from '../workspaces/index.ts'
import { McpSignIn } from './mcp-sign-in.entity.ts'
import { signInList, signInParams, signInQuery, sorts } from './mcp-sign-in.schema.ts'
import { presentSignIn } from './present.ts'

/** Returns the sign-ins that a caller sees: a person their own, the key of a service all, by a scope. A key stays in its workspace. AB03. */
function visibleTo(actor: Actor, scope: 'mcp_servers.read' | 'mcp_servers.update'): FilterQuery<McpSignIn> {
  const { organisationId, workspaceId, userId, session } = actor
  if (userId === null) demandScope(actor, scope)
  const whose = { organisationId, ...(userId !== null && { userId }) }
  return session === undefined && workspaceId !== null ? { ...whose, workspaceId } : whose
}

export const listSignIns = route({
  method: 'GET',
  path: '/mcp-sign-ins',
  summary: 'List the programs that may use MCP servers as you, or with the key of a service as anybody',
  permission: 'mcp_servers.read',
  query: signInQuery,
  response: signInList,
})(async ({ em, actor, deps, query }) => {
  const where = { $and: [visibleTo(actor, 'mcp_servers.read'), { expiresAt: { $gt: new Date(deps.clock.now()) } }] }
  const page = await findPage(em, McpSignIn, { where, query, sorts })
  return toList(page.rows.map(presentSignIn), page)
})

export const deleteSignIn = route({
  method: 'DELETE',
  path: '/mcp-sign-ins/:mcpSignInId',
  summary: 'End what a program may do at an MCP server as you, or with the key of a service as anybody',
  // People end their own; the first scope is that of every member.
  permission: ['mcp_servers.read', 'mcp_servers.update'],
  resource: 'mcp-sign-in',
  action: 'revoke',
  params: signInParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const id = params.mcpSignInId.toLowerCase()
  const row = isUuid(id) ? await em.findOne(McpSignIn, { $and: [{ id }, visibleTo(actor, 'mcp_servers.update')] }) : null
  if (row === null) throw notFound('sign-in', params.mcpSignInId, 'mcpSignInId')
  em.remove(row)
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})
