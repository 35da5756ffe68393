import type { Config } from '../../config/config.ts'
import { type McpPath, mcpPathOf } from '../../gateway/ports/operations.ts'
import { ownOrigin } from '../../app/own-origin.ts'

/** The longest address of a server. */
const longest = 2048

/** Returns the path of the MCP server that an address of ours names (RFC 8707); null: it names none. */
export function serverPathOf(config: Config, resource: string): McpPath | null {
  const own = ownOrigin(config).replace(/\/$/, '')
  if (resource.length > longest || !resource.startsWith(`${own}/`) || /[?#]/.test(resource)) return null
  const path = mcpPathOf(resource.slice(own.length))
  return path === null || path.kind === 'messages' ? null : path
}
