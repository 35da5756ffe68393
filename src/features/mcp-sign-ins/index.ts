import { feature } from '../../app/feature.ts'
import { authorizationServer } from './authorization-server.ts'
import { McpClientDocument } from './mcp-client-document.entity.ts'
import { McpSignIn } from './mcp-sign-in.entity.ts'
import { McpSignInSecret } from './mcp-sign-in-secret.entity.ts'
import { mcpSignInView } from './mcp-sign-in.view.ts'
import { deleteSignIn, listSignIns } from './mcp-sign-ins.routes.ts'
import { pruneSignIns } from './prune.jobs.ts'
import { decide, readRequest } from './requests.routes.ts'

export { mayReach } from './offered-servers.ts'
export { comeBackPage } from './pages.ts'
export { readForm } from './programs.ts'

/** People let clients of MCP use MCP servers as themselves: the authorization server of these clients. */
export const mcpSignIns = feature({
  id: 'mcp-sign-ins',
  since: '1.3.0',
  requires: ['mcp-servers', 'sessions', 'api-keys'],
  permissions: ['mcp_servers.read', 'mcp_servers.update'],
  entities: [McpSignIn, McpSignInSecret, McpClientDocument],
  routes: [listSignIns, deleteSignIn, readRequest, decide],
  apps: [authorizationServer],
  jobs: [pruneSignIns],
  views: { mcpSignIn: mcpSignInView },
})
