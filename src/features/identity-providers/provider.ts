import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem, inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import type { OidcConfig } from '../../config/config.ts'
import { IdentityProvider, secretPlace, type Callback, type ProviderType } from './identity-provider.entity.ts'
import type { Provider, OrganisationPlace } from './provider-facts.ts'
import { acsUrlOf, entityIdOf, ofSamlSettings, samlLoginPathOf } from './saml/saml-provider.ts'

export type { Provider, OrganisationPlace } from './provider-facts.ts'

type Needs = Pick<Deps, 'config' | 'vault' | 'level' | 'orm'>

const standings = `
  SELECT id, slug, settings -> 'allowed_custom_hosts' AS "allowedHosts", row_number() OVER (ORDER BY created_at, id) = 1 AS "isFirst", count(*) OVER () = 1 AS "isOnly"
    FROM organisations WHERE status = 'active'`

/** Returns the place of an organisation, by its id or slug; null: there is none. */
export async function standingOf(
  { orm }: Pick<Deps, 'orm'>,
  by: { readonly id: string } | { readonly slug: string },
): Promise<OrganisationPlace | null> {
  const [column, value] = 'id' in by ? ['id', by.id] : ['slug', by.slug]
  const rows = await asSystem(orm, (em) => em.execute<OrganisationPlace[]>(`SELECT * FROM (${standings}) s WHERE s.${column} = ?`, [value]))
  return rows[0] ?? null
}

/** Returns the place of the only organisation; null: there are several. */
export async function onlyOrganisation({ orm }: Pick<Deps, 'orm'>): Promise<OrganisationPlace | null> {
  const [row] = await asSystem(orm, (em) => em.execute<OrganisationPlace[]>(`SELECT * FROM (${standings}) s WHERE s."isOnly"`))
  return row ?? null
}

/** Returns the callback of a provider that is set now: the shared one has one organisation. */
export const usualCallback = ({ isFirst }: Pick<OrganisationPlace, 'isFirst'>): Callback => (isFirst ? 'shared' : 'organisation')

/** Returns the URL to which an OpenID provider sends people of an organisation back. */
export function redirectUriOf({ config }: Pick<Deps, 'config'>, { slug }: Pick<OrganisationPlace, 'slug'>, callback: Callback): string {
  if (callback === 'organisation') return `${ownOrigin(config)}/auth/oidc/${encodeURIComponent(slug)}/callback`
  return config.oidc?.redirectUri ?? `${ownOrigin(config)}/auth/oidc/callback`
}

/** Returns the path at which people of an organisation begin to sign in. */
export const loginPathOf = ({ slug }: Pick<OrganisationPlace, 'slug'>, type: ProviderType): string =>
  type === 'saml' ? samlLoginPathOf({ slug }) : `/auth/oidc/${encodeURIComponent(slug)}/login`

/** Returns the provider of an organisation, also one that is turned off: the stored one, or else, for the first organisation, that of the settings. */
export async function providerOf(em: EntityManager, deps: Needs, standing: OrganisationPlace): Promise<Provider | null> {
  // Before release 1.3.2 one organisation signs in by a provider.
  const mayStore = standing.isFirst || deps.level.atLeast('1.3.2')
  const stored = mayStore ? await em.findOne(IdentityProvider, { organisationId: standing.id }) : null
  if (stored !== null) return ofRow(deps, standing, stored)
  const { oidc, saml } = deps.config
  if (!standing.isFirst) return null
  if (saml !== null) return ofSamlSettings(deps, standing, saml)
  return oidc === null ? null : ofSettings(deps, standing, oidc)
}

interface ProviderQuery extends OrganisationPlace {
  /** Only a provider of this type; absent: of any. */
  readonly type?: ProviderType
  /** Includes one that is turned off, for tests of it. */
  readonly alsoOff?: boolean
}

/** Returns a provider by which people may sign in now. */
export async function servingProvider(em: EntityManager, deps: Needs, standing: ProviderQuery): Promise<Provider | null> {
  const provider = await providerOf(em, deps, standing)
  if (provider === null || !(provider.enabled || standing.alsoOff === true)) return null
  return (standing.type ?? provider.type) === provider.type ? provider : null
}

function ofRow(deps: Needs, standing: OrganisationPlace, row: IdentityProvider): Provider {
  const { type, organisationId, name, enabled, issuer, clientId, clientSecret, settings, rank } = row
  const callback = type === 'saml' ? 'organisation' : (settings.callback ?? 'shared')
  const ownedDomains = settings.domains.filter((domain) => standing.isOnly || ownerIn(deps, domain) === standing.slug)
  return {
    ...settings,
    ca: settings.ca ?? null,
    end_session_endpoint: settings.end_session_endpoint ?? null,
    post_logout_redirect_uri: settings.post_logout_redirect_uri ?? null,
    auto_provision: settings.auto_provision && deps.level.atLeast('1.7.0'),
    type,
    source: 'api',
    organisationId,
    allowedHosts: standing.allowedHosts,
    name,
    enabled,
    issuer,
    clientId: type === 'saml' && clientId === '' ? entityIdOf(deps, standing) : clientId,
    callback,
    redirectUri: type === 'saml' ? acsUrlOf(deps, standing) : redirectUriOf(deps, standing, callback),
    ownedDomains,
    rank: rank ?? 'organisation-admin',
    version: `${row.id} ${row.lastUpdatedAt.getTime()} ${JSON.stringify(standing.allowedHosts)}`,
    secret: async () => (clientSecret ? deps.vault.decrypt(secretPlace(row), clientSecret) : null),
  }
}

function ofSettings(deps: Needs, standing: OrganisationPlace, oidc: OidcConfig): Provider {
  const { level } = deps
  const { id: organisationId } = standing
  const secret = oidc.authMethod === 'private_key_jwt' ? oidc.clientJwks : oidc.clientSecret
  return {
    type: 'oidc',
    source: 'settings',
    organisationId,
    allowedHosts: null,
    name: new URL(oidc.issuer).host,
    enabled: true,
    issuer: oidc.issuer,
    clientId: oidc.clientId,
    callback: 'shared',
    redirectUri: redirectUriOf(deps, standing, 'shared'),
    domains: oidc.domains,
    ownedDomains: oidc.domains,
    scopes: level.atLeast('1.11.1') ? oidc.scopes : [],
    token_endpoint_auth_method: oidc.authMethod,
    ...oidc.endpoints,
    post_logout_redirect_uri: oidc.postLogoutRedirectUri,
    ca: oidc.ca,
    auto_provision: oidc.autoProvision && level.atLeast('1.7.0'),
    group_claim: level.atLeast('1.6.0') ? oidc.groupClaim : null,
    email_verified_claim: oidc.emailVerifiedClaim,
    role_mappings: [],
    rank: 'owner',
    version: 'settings',
    secret: async () => secret?.reveal() ?? null,
  }
}

const ownerIn = ({ config }: Pick<Deps, 'config'>, domain: string): string | undefined =>
  config.organisationDomains.find((owned) => owned.domain === domain)?.organisation

/** Returns true if an address is of a domain that the organisation owns. */
export const isOwned = ({ ownedDomains }: Pick<Provider, 'ownedDomains'>, email: string): boolean => ownedDomains.includes(domainOf(email))

/** Returns the domain of an address, in lower case. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase()

const mostOfClient = 20

/** Returns the providers that are on with an issuer and one of several clients: organisations may share them. */
export async function providersOf(
  deps: Needs,
  { issuer, clientIds }: { readonly issuer: string; readonly clientIds: readonly string[] },
): Promise<readonly Provider[]> {
  const found = await asSystem(deps.orm, (em) =>
    em.execute<OrganisationPlace[]>(
      `SELECT s.* FROM (${standings}) s LEFT JOIN identity_providers p ON p.organisation_id = s.id
        WHERE (p.type = 'oidc' AND p.issuer = ? AND p.client_id IN (SELECT jsonb_array_elements_text(?::jsonb))) OR s."isFirst" LIMIT ${mostOfClient}`,
      [issuer, JSON.stringify(clientIds)],
    ),
  )
  const providers = await Promise.all(
    found.map((standing) => inTenant(deps.orm, standing.id, (em) => servingProvider(em, deps, { ...standing, type: 'oidc' }))),
  )
  return providers.filter((provider) => provider !== null).filter((one) => one.issuer === issuer && clientIds.includes(one.clientId))
}

/** Returns the organisation whose provider serves a domain; null: it is not unique. */
export async function organisationOfDomain(deps: Pick<Deps, 'config' | 'orm'>, domain: string): Promise<OrganisationPlace | null> {
  const only = await onlyOrganisation(deps)
  if (only !== null) return only
  const slug = ownerIn(deps, domain)
  if (slug !== undefined) return standingOf(deps, { slug })
  const { oidc, saml } = deps.config
  if ((saml ?? oidc)?.domains.includes(domain) !== true) return null
  const [first] = await asSystem(deps.orm, (em) => em.execute<OrganisationPlace[]>(`SELECT * FROM (${standings}) s WHERE s."isFirst"`))
  return first ?? null
}
