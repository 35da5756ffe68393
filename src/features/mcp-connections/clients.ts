import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import type { Place } from '../../app/secrets/vault.ts'
import {
  authMethodFor,
  hostOf,
  type IssuerLine,
  type OAuthClient,
  registerClient,
  type SignInFacts,
  signInFailed,
} from '../../gateway/ports/mcp.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { openClientSecret } from '../mcp-integrations/index.ts'
import type { McpIntegration } from '../mcp-integrations/mcp-integration.entity.ts'
import { callbackUrl, clientDocument } from './addresses.ts'
import { McpClientRegistration } from './mcp-client-registration.entity.ts'

const stored = z.object({
  clientId: z.string(),
  clientSecret: z.string().nullable(),
  authMethod: z.enum(['client_secret_basic', 'client_secret_post', 'none']),
})

const placeOf = ({ id, organisationId }: Pick<McpClientRegistration, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'mcp_client_registrations',
  column: 'contents',
  rowId: id,
})

/**
 * Returns the client by which people sign in at an authorization server: the one of the integration, else our document where such are taken, else one that
 * is registered there.
 */
export async function clientFor(deps: Deps, line: IssuerLine, { integration, facts }: ClientPlace): Promise<OAuthClient> {
  const { issuer } = facts
  if (integration.oauth?.clientId) {
    const clientSecret = await openClientSecret(integration, deps.vault)
    return { clientId: integration.oauth.clientId, clientSecret, authMethod: authMethodFor(clientSecret, issuer.authMethods) }
  }
  const document = clientDocument(deps.config)
  if (issuer.takesDocuments && document.client_id.startsWith('https://'))
    return { clientId: document.client_id, clientSecret: null, authMethod: 'none' }
  const known = await findRegistration(deps, { integration, facts })
  if (known !== null) return known
  if (issuer.registrationEndpoint === null)
    throw signInFailed(`${hostOf(issuer.issuer)} registers no clients: give the integration one, in configurations.oauth`)
  const redirectUri = callbackUrl(deps.config)
  const client = await registerClient(line, { endpoint: issuer.registrationEndpoint, redirectUri, authMethods: issuer.authMethods })
  await keepRegistration(deps, { integration, facts }, client)
  return client
}

export interface ClientPlace {
  readonly integration: McpIntegration
  readonly facts: SignInFacts
}

async function findRegistration(deps: Deps, { integration, facts }: ClientPlace): Promise<OAuthClient | null> {
  const { id: integrationId, organisationId } = integration
  const place = { integrationId, issuer: facts.issuer.issuer, redirectUri: callbackUrl(deps.config) }
  const row = await inTenant(deps.orm, organisationId, (em) => em.findOne(McpClientRegistration, place))
  return row === null ? null : stored.parse(JSON.parse(await deps.vault.decrypt(placeOf(row), row.contents)))
}

async function keepRegistration(deps: Deps, { integration, facts }: ClientPlace, client: OAuthClient): Promise<void> {
  const { id: integrationId, organisationId } = integration
  const row = { id: uuidv7(), organisationId }
  const contents = Buffer.from(await deps.vault.encrypt(placeOf(row), JSON.stringify(client)))
  await inTenant(deps.orm, organisationId, async (em) => {
    await forgetRegistration(em, integrationId)
    em.create(McpClientRegistration, {
      ...row,
      integrationId,
      issuer: facts.issuer.issuer,
      redirectUri: callbackUrl(deps.config),
      contents,
      createdAt: new Date(deps.clock.now()),
    })
  })
}

/** Forgets a registration: the next sign-in makes another one. */
export const forgetRegistration = (em: EntityManager, integrationId: string): Promise<unknown> =>
  em.nativeDelete(McpClientRegistration, { integrationId })
