import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { createSignIn, type GrantOwner } from '../../gateway/ports/mcp.ts'
import { ApiError } from '../../lib/errors.ts'
import type { SignInFinder } from '../mcp-integrations/index.ts'
import { McpGrant } from './mcp-grant.entity.ts'
import { createTokens } from './renew.ts'

/** Returns how a server is asked for a caller: with the tokens of Gatehouse, or with those of the person, at the named server or at any of the integration. */
export const signInFinder =
  (deps: Deps, { userId }: Pick<Actor, 'userId'>, serverId: string | null): SignInFinder =>
  async (em, { id: integrationId, organisationId, authType }) => {
    if (authType !== 'oauth_auto' && authType !== 'oauth_client_credentials') return null
    const grant =
      authType === 'oauth_auto' && userId !== null
        ? await em.findOne(McpGrant, { integrationId, userId, ...(serverId !== null && { serverId }) }, { orderBy: { createdAt: 'desc' } })
        : null
    if (authType === 'oauth_auto' && !grant?.serverId)
      return {
        name: 'none',
        authorization: () => Promise.reject(notConnected(userId)),
        refusal: () => notConnected(userId),
        hide: (text) => text,
      }
    const person = grant?.serverId && grant.userId ? { serverId: grant.serverId, userId: grant.userId } : null
    const owner: GrantOwner = { organisationId, integrationId, person }
    return createSignIn({ tokens: createTokens(deps), owner, grant: null, now: () => deps.clock.now(), report: () => {} })
  }

const notConnected = (userId: string | null): ApiError =>
  new ApiError(
    'authorization_required',
    userId === null
      ? 'This MCP server is used by people, each with a sign-in of their own: ask as a person who has connected it.'
      : 'Connect this MCP server first: call it, and open the address in the answer.',
  )
