import { feature } from '../../app/feature.ts'
import { listServerCapabilities, putServerCapabilities } from './capabilities.routes.ts'
import { McpServerEntity } from './mcp-server.entity.ts'
import { McpServerCapability, McpServerUser } from './mcp-server-rights.entity.ts'
import { mcpServerView } from './mcp-server.view.ts'
import { createMcpServer, deleteMcpServer, listMcpServers, readMcpServer, updateMcpServer } from './mcp-servers.routes.ts'
import { deleteConnections, listConnections, listUserAccess, putUserAccess } from './user-access.routes.ts'

/** MCP servers give a workspace the use of MCP integrations, and say who may call which of their tools. */
export const mcpServers = feature({
  id: 'mcp-servers',
  since: '1.3.0',
  requires: ['mcp-integrations', 'users'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `mcp_servers.${verb}`),
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
  ],
  views: { mcpServer: mcpServerView },
})
