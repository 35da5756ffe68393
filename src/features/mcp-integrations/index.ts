import { feature } from '../../app/feature.ts'
import { mcpScopes } from './access.ts'
import { listMcpCapabilities, putMcpCapabilities } from './capabilities.routes.ts'
import { listMcpGrants, putMcpGrants } from './grants.routes.ts'
import { McpCapability, McpCapabilityVersion } from './mcp-capability.entity.ts'
import { McpIntegrationWorkspace } from './mcp-integration-workspace.entity.ts'
import { McpIntegration } from './mcp-integration.entity.ts'
import {
  createMcpIntegration,
  deleteMcpIntegration,
  listMcpIntegrations,
  readMcpIntegration,
  updateMcpIntegration,
} from './mcp-integrations.routes.ts'

export { demandMcpAccess, findMcpIntegration, mcpScopes } from './access.ts'
export { askFacts } from './ask-server.ts'
export {
  capabilityName,
  capabilityPage,
  capabilityType,
  countsField,
  definitionFields,
  maxSettings,
  pageQuery,
  seenFields,
  success,
} from './capability.schema.ts'
export {
  countsOf,
  isWanted,
  keyOf,
  type KnownCapability,
  presentDefinition,
  presentSeen,
  readKnown,
  settingsByKey,
} from './capabilities.ts'
export { openClientSecret } from './oauth.ts'
export { mcpIntegrationParams, mcpReference } from './mcp-integration.schema.ts'
export { presentMetadata, presentTold, readMcpMetadata } from './metadata.routes.ts'
export { metadataFields, toldFields } from './metadata.schema.ts'
export { askForSync, type SignInFinder, storeSync, toAsked } from './sync.ts'
export { openHeaders } from './mcp-integrations.ts'

/** Servers of MCP: where they are, how one signs in there, and which workspaces may use them. */
export const mcpIntegrations = feature({
  id: 'mcp-integrations',
  since: '1.3.0',
  requires: ['workspaces'],
  permissions: (['create', 'read', 'update', 'delete', 'list'] as const).flatMap(mcpScopes),
  entities: [McpIntegration, McpIntegrationWorkspace, McpCapability, McpCapabilityVersion],
  routes: [
    createMcpIntegration,
    listMcpIntegrations,
    readMcpIntegration,
    updateMcpIntegration,
    deleteMcpIntegration,
    listMcpGrants,
    putMcpGrants,
    listMcpCapabilities,
    putMcpCapabilities,
  ],
})
