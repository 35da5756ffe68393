import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import { tenantEgress } from '../../app/tenant-egress.ts'
import {
  aimOf,
  askTokens,
  authMethodFor,
  discoverSignIn,
  type GivenTokens,
  type IssuerLine,
  type OAuthSettings,
  openLine,
  signInFailed,
} from '../../gateway/ports/mcp.ts'
import { openClientSecret } from '../mcp-integrations/index.ts'
import { McpIntegration } from '../mcp-integrations/mcp-integration.entity.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import type { GrantContents } from './contents.ts'
import type { McpGrant } from './mcp-grant.entity.ts'

/** Opens the way to authorization servers by the rules of an organisation. */
export async function lineFor({ orm, egress }: Deps, organisationId: string): Promise<IssuerLine> {
  const { settings } = await inTenant(orm, organisationId, (em) => em.findOneOrFail(Organisation, { id: organisationId }))
  const { allowed_custom_hosts: allowedHosts = null }: { readonly allowed_custom_hosts?: unknown } = Object(settings)
  return openLine(tenantEgress(egress, { organisationId, allowedHosts }))
}

/** Returns the settings of an integration as the protocol takes them. */
export const settingsOf = ({ oauth }: Pick<McpIntegration, 'oauth'>): OAuthSettings => ({
  issuer: oauth?.issuer ?? null,
  scopes: oauth?.scopes ?? null,
  sendsResource: oauth?.sendsResource ?? true,
})

/** Asks for tokens of Gatehouse itself, by client credentials (RFC 6749, section 4.4). */
export async function askForItself(deps: Deps, { organisationId, integrationId }: McpGrant): Promise<GivenTokens> {
  const integration = await inTenant(deps.orm, organisationId, (em) => em.findOneOrFail(McpIntegration, { id: integrationId }))
  const clientSecret = await openClientSecret(integration, deps.vault)
  const clientId = integration.oauth?.clientId ?? null
  if (clientId === null || clientSecret === null) throw signInFailed('the integration has no client id and secret')
  const line = await lineFor(deps, organisationId)
  const facts = await discoverSignIn(line, integration.url, settingsOf(integration))
  const { tokenEndpoint, authMethods } = facts.issuer
  const client = { clientId, clientSecret, authMethod: authMethodFor(clientSecret, authMethods) }
  return askTokens(line, { tokenEndpoint, client }, { grant_type: 'client_credentials', ...aimOf(facts) })
}

/** Asks for new tokens of a person. */
export async function askForPerson(
  deps: Deps,
  { organisationId }: McpGrant,
  { token, tokenEndpoint, resource, client }: NonNullable<GrantContents['refresh']>,
): Promise<GivenTokens> {
  const line = await lineFor(deps, organisationId)
  return askTokens(
    line,
    { tokenEndpoint, client },
    { grant_type: 'refresh_token', refresh_token: token, ...(resource !== null && { resource }) },
  )
}
