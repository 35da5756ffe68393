/** Servers of MCP: the rights on them, and the standing of what they offer. */
export { invokeScope, standingOf, toMcpServer } from '../mcp/registry.ts'
export type { CapabilityRule, McpAuth, McpDecision, McpRules, Pinning, Standing } from '../mcp/registry.ts'
export { countedLength, countTokens } from '../tokens/tokenizer.ts'
