import { ApiError } from '../../../lib/errors.ts'
import type { KeyView } from '../../callers/key.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import { createSignIn } from '../oauth/upstream-sign-in.ts'
import type { McpServer } from '../registry.ts'
import type { UpstreamSignIn } from '../upstream/upstream-request.ts'

/** Returns the sign-in of a caller at a server; null: the server needs none by OAuth. */
export async function signInOf(deps: PipelineDeps, server: McpServer, { userId }: Pick<KeyView, 'userId'>): Promise<UpstreamSignIn | null> {
  const { auth, id: serverId, organisationId, integrationId } = server
  if (auth.type !== 'oauth_auto' && auth.type !== 'oauth_client_credentials') return null
  const { mcpTokens: tokens } = deps
  if (tokens === undefined) throw new ApiError('credential_failed', 'This MCP server needs a sign-in by OAuth, which is not served here.')
  if (auth.type === 'oauth_auto' && userId === null)
    throw new ApiError('forbidden', 'This MCP server is used by people, each with a sign-in of their own: the key of a service has none.')
  const person = auth.type === 'oauth_auto' && userId !== null ? { serverId, userId } : null
  const owner = { organisationId, integrationId, person }
  return createSignIn({
    tokens,
    owner,
    grant: await deps.snapshot.mcpGrant(owner),
    now: Date.now,
    report: (thrown) => {
      if (thrown instanceof ApiError) deps.report(thrown, 'mcp-sign-in')
    },
  })
}
