/** Servers of MCP: asking them, the rights on them, and the standing of their definitions. */
export { invokeScope, standingOf, toMcpServer } from '../mcp/registry.ts'
export type { CapabilityRule, McpAuth, McpRules, McpSignInView, PinStanding } from '../mcp/registry.ts'
export { countedLength, countTokens } from '../tokens/tokenizer.ts'
export { type ListKind, listKinds } from '../mcp/protocol/capabilities.ts'
export { McpFault } from '../mcp/protocol/faults.ts'
export { createUpstream } from '../mcp/upstream/upstream.ts'
export type { ServerFacts, UpstreamServer } from '../mcp/upstream/upstream-request.ts'
