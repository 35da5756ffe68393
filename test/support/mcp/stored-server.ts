import { randomUUID } from 'node:crypto'
import type { McpServer } from '../../../src/gateway/ports.ts'
import { type CapabilityRule, type McpRules, toMcpServer } from '../../../src/gateway/mcp/registry.ts'
import { keyView } from '../gateway.ts'

/** A key that may call servers. */
export const mcpScopes = { scopes: new Set(['mcp.invoke']) }

/** A rule about a tool. */
export const toolRule = (name: string, rule: Partial<CapabilityRule>): CapabilityRule => ({
  kind: 'tool',
  name,
  integrationEnabled: true,
  enabled: null,
  seen: null,
  pinned: null,
  rejectedHash: null,
  approved: null,
  price: null,
  tokens: 0,
  ...rule,
})

/** A stored server, which lets all of its workspace use all. */
export function mcpServer(given: Partial<McpServer>, rules: Partial<McpRules> = {}): McpServer {
  const { workspaceId = keyView.workspaceId ?? '', slug = 'server' } = given
  return toMcpServer(
    {
      id: randomUUID(),
      slug,
      name: slug,
      organisationId: keyView.organisationId,
      workspaceSlug: 'ws-test',
      integrationId: randomUUID(),
      url: 'http://127.0.0.1:1/mcp',
      transport: 'http',
      auth: { type: 'none' },
      headers: {},
      passthroughHeaders: {},
      era: null,
      status: 'active',
      discovery: 'full',
      inputGuardrails: [],
      outputGuardrails: [],
      ...given,
      workspaceId,
    },
    { defaultAccess: 'allow', defaultUserAccess: 'allow', pinning: 'off', toolPrice: null, capabilities: [], users: new Map(), ...rules },
  )
}
