import { writeAudit } from '../../app/audit/write.ts'
import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import type { MountedRequest } from '../../app/mounted-app.ts'
import { isOn } from '../../config/effect.ts'
import { askTokens, type GivenTokens, hostOf, signInFailed } from '../../gateway/ports/mcp.ts'
import { ApiError } from '../../lib/errors.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { lineFor, sealContents } from '../mcp-tokens/index.ts'
import { McpGrant } from '../mcp-tokens/mcp-grant.entity.ts'
import { callbackUrl, paths } from './addresses.ts'
import { forgetRegistration } from './clients.ts'
import { hashOf, openRequest, type RequestContents, takeRequest, type TakenRequest } from './requests.ts'
import { findConnectable } from './start.ts'

/** The person of the session in a browser. */
export interface BrowserPerson {
  readonly organisationId: string
  readonly userId: string
  readonly sessionId: string
  readonly email: string | null
}

/** Takes the answer of an authorization server, and stores the tokens of the person. Returns the name of the server. Throws with a message for the person. */
export async function finishSignIn(request: MountedRequest, person: BrowserPerson, answer: URLSearchParams): Promise<string> {
  const { deps } = request
  const { organisationId, userId, sessionId } = person
  const keyHash = hashOf(deps.vault, (answer.get('state') ?? '').slice(0, 200))
  const now = new Date(deps.clock.now())
  const taken = await inTenant(deps.orm, organisationId, (em) => takeRequest(em, { keyHash, userId, sessionId, now }))
  if (taken === null)
    throw new ApiError('AB08', 'This sign-in was not begun in this browser, was used before, or its time is over. Begin it again.')
  const contents = await openRequest(deps.vault, taken)
  demandIssuer(contents, answer)
  const code = codeIn(contents, answer)
  const given = await redeem(deps, { taken, contents, code })
  return storeGrant(request, person, { taken, contents, given })
}

/** Refuses the answer of another authorization server (RFC 9207): its code would be shown to the wrong one. */
function demandIssuer({ issuer, namesItself }: RequestContents, answer: URLSearchParams): void {
  const told = answer.getAll('iss')
  if (told.length === 0 && !namesItself) return
  if (told.length !== 1 || told[0] !== issuer)
    throw signInFailed(`the answer came from another authorization server than ${hostOf(issuer)}`)
}

function codeIn({ issuer }: RequestContents, answer: URLSearchParams): string {
  const error = answer.get('error')
  if (error !== null) {
    const code = /^[\w.-]{1,64}$/.test(error) ? error : 'an unknown error'
    throw signInFailed(`${hostOf(issuer)} answered with ${code}`)
  }
  const codes = answer.getAll('code')
  if (codes.length !== 1 || !codes[0] || codes[0].length > 4096) throw signInFailed(`${hostOf(issuer)} gave no code`)
  return codes[0]
}

interface CodeRequest {
  readonly taken: TakenRequest
  readonly contents: RequestContents
  readonly code: string
}

async function redeem(deps: Deps, { taken, contents, code }: CodeRequest): Promise<GivenTokens> {
  const { tokenEndpoint, client, resource, verifier } = contents
  const { organisationId, serverId } = taken
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: callbackUrl(deps.config),
    code_verifier: verifier,
    ...(resource !== null && { resource }),
  }
  try {
    return await askTokens(await lineFor(deps, organisationId), { tokenEndpoint, client }, fields)
  } catch (thrown) {
    // A registration that the authorization server has forgotten is made anew.
    if (thrown instanceof ApiError && thrown.details['oauth_error'] === 'invalid_client')
      await inTenant(deps.orm, organisationId, async (em) => {
        const [server] = await em.execute<{ integration: string }[]>('SELECT integration_id AS integration FROM mcp_servers WHERE id = ?', [
          serverId,
        ])
        if (server !== undefined) await forgetRegistration(em, server.integration)
      })
    throw thrown
  }
}

interface NewGrant {
  readonly taken: TakenRequest
  readonly contents: RequestContents
  readonly given: GivenTokens
}

/** Stores the tokens in place of earlier ones, with a row in the trail. */
async function storeGrant(
  { deps, clientAddress }: MountedRequest,
  { organisationId, userId, email }: BrowserPerson,
  { taken, contents, given }: NewGrant,
): Promise<string> {
  const { serverId } = taken
  const row = { id: uuidv7(), organisationId }
  const { tokenEndpoint, resource, client, issuer } = contents
  const refresh = given.refreshToken === null ? null : { token: given.refreshToken, tokenEndpoint, resource, client }
  const sealed = await sealContents(deps.vault, row, { accessToken: given.accessToken, refresh })
  const now = deps.clock.now()
  return inTenant(deps.orm, organisationId, async (em) => {
    const { server, integration } = await findConnectable(em, deps, { organisationId, userId, serverId })
    if (integration.url !== contents.serverUrl) throw signInFailed('the address of the server was changed meanwhile')
    const before = await em.findOne(McpGrant, { serverId, userId })
    await em.nativeDelete(McpGrant, { serverId, userId })
    em.create(McpGrant, {
      ...row,
      integrationId: integration.id,
      serverId,
      userId,
      issuer,
      contents: sealed,
      generation: 1,
      expiresAt: given.expiresInMs === null ? null : new Date(now + given.expiresInMs),
      createdAt: new Date(now),
      lastUpdatedAt: new Date(now),
    })
    await em.flush()
    if (!isOn('AUDIT_LOGS_ENABLED', deps.config, deps.level)) return server.name
    await writeAudit(em, deps.vault, {
      actor: { type: 'user', id: userId, name: email, organisationId, userId },
      workspaceId: server.workspaceId,
      action: 'connect',
      resourceType: 'mcp-connection',
      resourceId: row.id,
      method: 'GET',
      uri: paths.callback,
      query: null,
      requestId: uuidv7(),
      clientAddress,
      status: 200,
      body: undefined,
      changes: [
        {
          table: 'mcp_grants',
          id: row.id,
          before: before === null ? null : { server_id: serverId, user_id: userId, issuer: before.issuer ?? null },
          after: { server_id: serverId, user_id: userId, issuer },
        },
      ],
      at: now,
    })
    return server.name
  })
}
