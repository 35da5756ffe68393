import type { McpSignIn } from './mcp-sign-in.entity.ts'

/** Returns how a program is answered. */
export const presentClient = (id: string, name: string | null) => ({ id, name, host: new URL(id).host })

/** Returns how a sign-in is answered. */
export const presentSignIn = (row: McpSignIn) => ({
  id: row.id,
  client: presentClient(row.clientId, row.clientName ?? null),
  user_id: row.userId,
  mcp_server_id: row.serverId,
  workspace_id: row.workspaceId,
  resource: row.resource,
  last_refreshed_at: row.lastRefreshedAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  expires_at: row.expiresAt.toISOString(),
  object: 'mcp_sign_in' as const,
})
