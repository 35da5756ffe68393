/** A path of the MCP gateway. */
export interface McpPath {
  /** Null: that of the caller. */
  readonly workspace: string | null
  readonly server: string
  /** The endpoint of streamable HTTP, the stream of 2024-11-05, and the address that takes its messages. */
  readonly kind: 'mcp' | 'sse' | 'messages'
}

const shape = /^\/(?:([\w-]{1,255})\/)?([\w-]{1,255})\/(mcp|sse|messages)(?:\?|$)/
/** First segments that other parts of the process have. */
const taken = /^\/(?:v1|v1alpha|v1beta|console|docs|assets|oauth|auth|sso|saml|scim|healthz|readyz|metrics)\//

/** Returns the path of a server; null: the request is for another part. */
export function mcpPathOf(url: string): McpPath | null {
  const match = shape.exec(url)
  if (match === null || taken.test(url)) return null
  const [, workspace = null, server = '', kind] = match
  return kind === 'mcp' || kind === 'sse' || kind === 'messages' ? { workspace, server, kind } : null
}

/** Returns a path without its endpoint. */
export const basePathOf = ({ workspace, server }: McpPath): string => (workspace === null ? `/${server}` : `/${workspace}/${server}`)
