import { feature } from '../../app/feature.ts'
import { mcpScopes, readMcpMetadata } from '../mcp-integrations/index.ts'
import { listServerCapabilities, putServerCapabilities } from './capabilities.routes.ts'
import { McpServerEntity } from './mcp-server.entity.ts'
import { McpServerCapability, McpServerUser } from './mcp-server-rights.entity.ts'
import { mcpServerView } from './mcp-server.view.ts'
import { createMcpServer, deleteMcpServer, listMcpServers, readMcpServer, updateMcpServer } from './mcp-servers.routes.ts'
import { readServerMetadata } from './metadata.routes.ts'
import { approveCapability, readCapabilityHistory, rejectCapability } from './pins.routes.ts'
import { syncMcpIntegration, testMcpServer } from './sync.routes.ts'
import { deleteConnections, listConnections, listUserAccess, putUserAccess } from './user-access.routes.ts'

export { usableTools } from './capabilities.ts'
export { inWorkspace, mcpServerParams } from './mcp-server.schema.ts'
export { findMcpServer } from './mcp-servers.ts'

/** MCP servers give a workspace the use of MCP integrations, with rights on each of their tools. */
export const mcpServers = feature({
  id: 'mcp-servers',
  since: '1.3.0',
  requires: ['mcp-integrations', 'mcp-tokens', 'users', 'alerts'],
  permissions: [...['create', 'read', 'update', 'delete', 'list'].map((verb) => `mcp_servers.${verb}`), ...mcpScopes('update')],
  entities: [McpServerEntity, McpServerCapability, McpServerUser],
  routes: [
    createMcpServer,
    listMcpServers,
    readMcpServer,
    updateMcpServer,
    deleteMcpServer,
    listServerCapabilities,
    putServerCapabilities,
    listUserAccess,
    putUserAccess,
    listConnections,
    deleteConnections,
    syncMcpIntegration,
    testMcpServer,
    approveCapability,
    rejectCapability,
    readCapabilityHistory,
  ],
  views: { mcpServer: mcpServerView },
})

/** The facts about MCP servers, in their own words. */
export const mcpMetadata = feature({
  id: 'mcp-metadata',
  since: '1.9.0',
  requires: ['mcp-servers'],
  permissions: [...mcpScopes('read'), 'mcp_servers.read'],
  entities: [],
  routes: [readMcpMetadata, readServerMetadata],
})
