import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import { inTrial } from '../../app/trial-limit.ts'
import { type AuthorizationRequest, askPerson, discoverSignIn } from '../../gateway/ports/mcp.ts'
import { ApiError } from '../../lib/errors.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { McpIntegration } from '../mcp-integrations/mcp-integration.entity.ts'
import { McpServerEntity } from '../mcp-servers/mcp-server.entity.ts'
import { mayReach } from '../mcp-sign-ins/index.ts'
import { lineFor, settingsOf } from '../mcp-tokens/index.ts'
import { callbackUrl } from './addresses.ts'
import { clientFor } from './clients.ts'
import { McpConnectionRequest } from './mcp-connection-request.entity.ts'
import { hashOf, makeRoom, requestMs, type RequestContents, sealRequest } from './requests.ts'

/** The person who connects a server, in a session. */
export interface ConnectingPerson {
  readonly organisationId: string
  readonly userId: string
  readonly sessionId: string
  readonly serverId: string
}

/** A sign-in that can begin. */
export interface PreparedSignIn {
  readonly asked: AuthorizationRequest
  readonly contents: RequestContents
}

/** Finds a server that a person may connect, and its integration. AB08 and AB03. */
export async function findConnectable(
  em: EntityManager,
  deps: Pick<Deps, 'config'>,
  { organisationId, userId, serverId }: Pick<ConnectingPerson, 'organisationId' | 'userId' | 'serverId'>,
): Promise<{ readonly server: McpServerEntity; readonly integration: McpIntegration }> {
  const param = 'mcpServerId'
  const server = await em.findOne(McpServerEntity, { id: serverId, organisationId, status: 'active' })
  if (server === null || !(await mayReach(em, deps, { organisationId, userId, serverId })))
    throw new ApiError('AB08', 'There is no such MCP server, or you may not use it.', { param })
  const integration = await em.findOneOrFail(McpIntegration, { id: server.integrationId, status: 'active' })
  if (integration.authType !== 'oauth_auto') throw new ApiError('AB01', 'People do not sign in at this MCP server.', { param })
  return { server, integration }
}

/** Asks all that has to be known before a person can sign in; no transaction is open meanwhile. */
export async function prepareSignIn(deps: Deps, connecting: ConnectingPerson): Promise<PreparedSignIn> {
  const { organisationId } = connecting
  const { integration } = await inTenant(deps.orm, organisationId, (em) => findConnectable(em, deps, connecting))
  return inTrial(deps.egress, organisationId, async () => {
    const line = await lineFor(deps, organisationId)
    const settings = settingsOf(integration)
    const facts = await discoverSignIn(line, integration.url, settings)
    const client = await clientFor(deps, line, { integration, facts })
    const redirectUri = callbackUrl(deps.config)
    const asked = askPerson({ facts, clientId: client.clientId, redirectUri, demandsChallenge: settings.sendsResource })
    const { issuer, namesItself, tokenEndpoint } = facts.issuer
    const { verifier } = asked
    return {
      asked,
      contents: { verifier, issuer, namesItself, tokenEndpoint, resource: facts.resource, serverUrl: integration.url, client },
    }
  })
}

/** Stores a sign-in that begins. */
export async function storeRequest(em: EntityManager, deps: Deps, { connecting, prepared }: NewRequest): Promise<string> {
  const { organisationId, userId, sessionId, serverId } = connecting
  await makeRoom(em, userId)
  const row = { id: uuidv7(), organisationId }
  const now = deps.clock.now()
  em.create(McpConnectionRequest, {
    ...row,
    userId,
    serverId,
    sessionId,
    keyHash: hashOf(deps.vault, prepared.asked.state),
    contents: await sealRequest(deps.vault, row, prepared.contents),
    expiresAt: new Date(now + requestMs),
    createdAt: new Date(now),
  })
  await em.flush()
  return row.id
}

interface NewRequest {
  readonly connecting: ConnectingPerson
  readonly prepared: PreparedSignIn
}
