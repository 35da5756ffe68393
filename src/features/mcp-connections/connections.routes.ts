import { z } from 'zod'
import type { Actor, EarlyCall } from '../../app/route.ts'
import { route } from '../../app/route.ts'
import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import { ApiError } from '../../lib/errors.ts'
import { findMcpServer, inWorkspace, mcpServerParams } from '../mcp-servers/index.ts'
import { findConnectable, prepareSignIn, storeRequest } from './start.ts'
import { requestMs } from './requests.ts'

const begun = z
  .object({
    object: z.literal('mcp_connection_request'),
    authorize_url: z.string().meta({ description: 'Open it in the browser of the session: there the person signs in.' }),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'McpConnectionRequest', description: 'A sign-in of a person at an MCP server that has begun.' })

type StartCall = EarlyCall<z.output<typeof mcpServerParams>, z.output<typeof inWorkspace>, unknown>

export const startConnection = route({
  method: 'POST',
  path: '/oauth/connections/:mcpServerId',
  below: '/',
  summary: 'Begin to sign in at an MCP server as yourself',
  permission: [],
  callers: ['session'],
  resource: 'mcp-connection',
  action: 'begin',
  params: mcpServerParams,
  query: inWorkspace,
  before: async ({ actor, params, query }: StartCall, deps: Deps) => {
    const connecting = await inTenant(deps.orm, actor.organisationId, async (em) => {
      const { id: serverId } = await findMcpServer(em, actor, { reference: params.mcpServerId, workspace: query.workspace_id })
      return { ...personOf(actor), serverId }
    })
    return { connecting, prepared: await prepareSignIn(deps, connecting) }
  },
  response: begun,
})(async ({ em, deps, found, audit }) => {
  const { server } = await findConnectable(em, deps, found.connecting)
  const id = await storeRequest(em, deps, found)
  audit({ id, workspaceId: server.workspaceId })
  const expiresAt = new Date(deps.clock.now() + requestMs).toISOString()
  return { object: 'mcp_connection_request' as const, authorize_url: found.prepared.asked.url, expires_at: expiresAt }
})

function personOf({ organisationId, id: userId, session }: Actor) {
  if (session === undefined) throw new ApiError('AB03', 'A server is connected in the browser of a person.')
  return { organisationId, userId, sessionId: session.id }
}
