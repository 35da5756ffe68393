import { feature } from '../../app/feature.ts'
import { connectionPages } from './browser-pages.ts'
import { startConnection } from './connections.routes.ts'
import { McpClientRegistration } from './mcp-client-registration.entity.ts'
import { McpConnectionRequest } from './mcp-connection-request.entity.ts'
import { pruneConnections } from './prune.jobs.ts'

/** People sign in at MCP servers by their browser, and Gatehouse calls these as them. */
export const mcpConnections = feature({
  id: 'mcp-connections',
  since: '1.3.0',
  requires: ['mcp-servers', 'mcp-tokens', 'mcp-sign-ins', 'sessions'],
  permissions: [],
  entities: [McpConnectionRequest, McpClientRegistration],
  routes: [startConnection],
  apps: [connectionPages],
  jobs: [pruneConnections],
})
