import { feature } from '../../app/feature.ts'
import { McpServerEntity } from './mcp-server.entity.ts'
import { mcpServerView } from './mcp-server.view.ts'
import { createMcpServer, deleteMcpServer, listMcpServers, readMcpServer, updateMcpServer } from './mcp-servers.routes.ts'

/** MCP servers give a workspace the use of MCP integrations, and say who may call which of their tools. */
export const mcpServers = feature({
  id: 'mcp-servers',
  since: '1.3.0',
  requires: ['mcp-integrations'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `mcp_servers.${verb}`),
  entities: [McpServerEntity],
  routes: [createMcpServer, listMcpServers, readMcpServer, updateMcpServer, deleteMcpServer],
  views: { mcpServer: mcpServerView },
})
