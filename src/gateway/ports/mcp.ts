export { capabilityKinds, invokeScope, toMcpServer } from '../mcp/registry.ts'
export type { CapabilityKind, CapabilityRule, McpAuth, McpDecision, McpRules } from '../mcp/registry.ts'
