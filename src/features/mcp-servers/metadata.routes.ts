import { z } from 'zod'
import { route } from '../../app/route.ts'
import { metadataFields, presentMetadata } from '../mcp-integrations/index.ts'
import { inWorkspace } from './mcp-server.schema.ts'
import { findMcpServer, readContexts } from './mcp-servers.ts'

const serverMetadata = z
  .object(metadataFields)
  .meta({ id: 'McpServerMetadata', description: 'The facts that an MCP server tells of itself, as the last sync found them.' })

export const readServerMetadata = route({
  method: 'GET',
  path: '/mcp-servers/:id/metadata',
  summary: 'Read what an MCP server tells of itself',
  permission: 'mcp_servers.read',
  params: z.object({ id: z.string() }),
  query: inWorkspace,
  response: serverMetadata,
})(async ({ em, actor, params, query }) => {
  const row = await findMcpServer(em, actor, { reference: params.id, workspace: query.workspace_id })
  return presentMetadata((await readContexts(em, [row]))(row).integration)
})
