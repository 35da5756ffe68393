import { feature } from '../../app/feature.ts'
import { McpGrant } from './mcp-grant.entity.ts'
import { mcpGrantView } from './mcp-grant.view.ts'
import { createTokens } from './renew.ts'

export { lineFor, settingsOf } from './ask-tokens.ts'
export { connectPath } from './connect-error.ts'
export { sealContents } from './contents.ts'
export { signInFinder } from './sign-in-finder.ts'

/** Gatehouse signs in at MCP servers by OAuth: the tokens that it was given, and their renewal. */
export const mcpTokens = feature({
  id: 'mcp-tokens',
  since: '1.3.0',
  requires: ['mcp-integrations'],
  permissions: [],
  entities: [McpGrant],
  routes: [],
  views: { mcpGrant: mcpGrantView },
  mcpTokens: createTokens,
})
