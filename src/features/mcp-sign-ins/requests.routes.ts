import type { EntityManager } from '@mikro-orm/postgresql'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { usableTools } from '../mcp-servers/index.ts'
import { McpServerEntity } from '../mcp-servers/mcp-server.entity.ts'
import { McpSignIn } from './mcp-sign-in.entity.ts'
import { decisionBody, decisionView, requestParams, requestView } from './mcp-sign-in.schema.ts'
import { type OfferedServer, offeredServers } from './offered-servers.ts'
import { clientNameOf, decideRequest, findRequest } from './open-requests.ts'
import { presentClient } from './present.ts'
import { placeOf } from './redirect-hosts.ts'
import { makeRoom } from './sign-ins.ts'

const callers = ['session'] as const
const mostTools = 100
const refusal = { error: 'access_denied', error_description: 'The person has not allowed it.' }

export const readRequest = route({
  method: 'GET',
  path: '/oauth/requests/:requestId',
  below: '/',
  summary: 'See which program asks to use an MCP server as you',
  permission: [],
  callers,
  params: requestParams,
  response: requestView,
})(async ({ em, actor, deps, params }) => {
  const { organisationId, id: userId } = actor
  const { row, contents } = await findRequest(em, deps, { id: params.requestId, userId })
  const { client_id, redirect_uri, resource } = contents.params
  const servers = await offeredServers(em, deps, { organisationId, userId, resource })
  const { host, isLoopback } = placeOf(redirect_uri)
  const shown = []
  for (const server of servers) shown.push(await presentServer(em, server))
  return {
    id: params.requestId,
    client: presentClient(client_id, await clientNameOf(em, client_id)),
    redirect: { host, is_loopback: isLoopback },
    resource,
    servers: shown,
    expires_at: row.expiresAt.toISOString(),
    object: 'mcp_sign_in_request' as const,
  }
})

async function presentServer(em: EntityManager, { id, slug, name, workspaceId, workspaceSlug, workspaceName }: OfferedServer) {
  const tools = await usableTools(em, await em.findOneOrFail(McpServerEntity, { id }))
  const workspace = { id: workspaceId, slug: workspaceSlug, name: workspaceName }
  return { id, slug, name, workspace, tools: tools.slice(0, mostTools), tools_total: tools.length }
}

export const decide = route({
  method: 'POST',
  path: '/oauth/requests/:requestId',
  below: '/',
  summary: 'Let a program use an MCP server as you, or not',
  permission: [],
  callers,
  resource: 'mcp-sign-in',
  action: 'decide',
  params: requestParams,
  body: decisionBody,
  response: decisionView,
})(async ({ em, actor, deps, params, body, audit }) => {
  const { organisationId, id: userId } = actor
  const open = await findRequest(em, deps, { id: params.requestId, userId, lock: true })
  const { client_id: clientId, redirect_uri: redirectUri, resource } = open.contents.params
  if (body.decision === 'deny') {
    await decideRequest(em, deps, { ...open, result: refusal })
    audit({ id: open.row.id, action: 'deny' })
    return { redirect_to: open.contents.returnTo }
  }
  const servers = await offeredServers(em, deps, { organisationId, userId, resource })
  const server = servers.find(({ id }) => id === body.mcp_server_id.toLowerCase())
  if (server === undefined)
    throw new ApiError('AB03', 'You have no access to this MCP server, or the program asks for another.', { param: 'mcp_server_id' })
  await makeRoom(em, userId)
  const now = deps.clock.now()
  const clientName = await clientNameOf(em, clientId)
  const made = em.create(McpSignIn, {
    organisationId,
    workspaceId: server.workspaceId,
    userId,
    serverId: server.id,
    clientId,
    clientName,
    redirectUri,
    resource,
    expiresAt: new Date(now + server.lifeMs),
    createdAt: new Date(now),
  })
  await em.flush()
  await decideRequest(em, deps, { ...open, result: { login: { accountId: userId, remember: false }, consent: { grantId: made.id } } })
  audit({ id: made.id, workspaceId: server.workspaceId, action: 'allow' })
  return { redirect_to: open.contents.returnTo }
})
