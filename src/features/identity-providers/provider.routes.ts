import { isDeepStrictEqual } from 'node:util'
import type { EntityManager } from '@mikro-orm/postgresql'
import { inTenant } from '../../app/database/orm.ts'
import { route, type Actor, type Call } from '../../app/route.ts'
import type { Deps } from '../../app/deps.ts'
import { inTrial } from '../../app/trial-limit.ts'
import { rankOf } from '../../lib/access/rank.ts'
import { isAtLeast } from '../../lib/access/roles.ts'
import { ApiError } from '../../lib/errors.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { hold, settlePlaces } from '../scim/index.ts'
import { findWorkspaces } from '../workspaces/index.ts'
import { forgetGroups } from './claimed-groups.ts'
import { endpointNames, neededEndpoints } from './endpoints.ts'
import { privateKeyOf } from './client.ts'
import { IdentityProvider, secretPlace, type Callback, type CommonSettings, type RoleMapping } from './identity-provider.entity.ts'
import { providerOf, standingOf, usualCallback, type OrganisationPlace } from './provider.ts'
import { providerTested, providerView, putProviderBody, type PutOidc, type PutProvider } from './provider.schema.ts'
import type { TypedValues } from './provider-facts.ts'
import { presentProvider } from './provider-view.ts'
import { samlValues } from './saml/put-saml.ts'
import { testSaml } from './saml/test-saml.ts'
import { testSignIn } from './test-provider.ts'

const path = '/admin/organisation/sso'
const resource = 'identity-provider'

export const readProvider = route({
  method: 'GET',
  path,
  summary: 'Read the identity provider by which people of the organisation sign in',
  permission: 'organisation_settings.read',
  audience: 'organisation',
  before: ({ actor }, deps) => ownStanding(deps, actor),
  response: providerView,
})(async ({ em, deps, found: standing }) => presentProvider(await providerOf(em, deps, standing), { deps, standing }))

export const putProvider = route({
  method: 'PUT',
  path,
  summary: 'Set the identity provider by which people of the organisation sign in',
  permission: 'organisation_settings.update',
  audience: 'organisation',
  resource,
  body: putProviderBody,
  before: ({ actor }, deps) => ownStanding(deps, actor),
  response: providerView,
})(async (call) => {
  const { em, actor, deps, audit, found: standing } = call
  demandMayHave(deps, standing)
  const row = await store(call)
  await em.flush()
  const changes = row.enabled && row.settings.group_claim !== null ? await settle(em, deps, actor) : await forgetGroups(em, deps, actor)
  audit({ id: row.id, changes })
  return presentProvider(await providerOf(em, deps, standing), { deps, standing })
})

export const testProvider = route({
  method: 'POST',
  path: `${path}/test`,
  summary: 'Ask the identity provider for its discovery document and keys',
  permission: 'organisation_settings.update',
  audience: 'organisation',
  resource,
  action: 'test',
  effect: 'none',
  before: tryProvider,
  response: providerTested,
})(async ({ found }) => found)

async function tryProvider({ actor }: Pick<Call<unknown, unknown, unknown>, 'actor'>, deps: Deps) {
  const standing = await ownStanding(deps, actor)
  const provider = await inTenant(deps.orm, standing.id, (em) => providerOf(em, deps, standing))
  if (provider === null) throw new ApiError('AB08', 'The organisation has no identity provider.')
  if (provider.saml !== undefined) return testSaml(deps, provider, provider.saml)
  return inTrial(deps.egress, actor.organisationId, () => testSignIn(deps.egress, provider))
}

async function ownStanding(deps: Deps, { organisationId }: Actor): Promise<OrganisationPlace> {
  const standing = await standingOf(deps, { id: organisationId })
  if (standing === null) throw new ApiError('AB08', 'There is no such organisation.')
  return standing
}

/** The release that brought providers to further organisations. */
const furtherProviders = { since: '1.3.2' } as const

function demandMayHave({ level }: Deps, { isFirst }: OrganisationPlace): void {
  if (isFirst || level.atLeast(furtherProviders.since)) return
  throw new ApiError('feature_unavailable', 'Only the first organisation has an identity provider below release 1.3.2.', {
    details: { feature: { id: 'multi-organisation-sso', flag: null, release: furtherProviders.since } },
  })
}

const urlFields = ['issuer', ...endpointNames] as const

async function demandUrls({ egress }: Deps, body: PutOidc): Promise<void> {
  const missing = neededEndpoints.filter((name) => body[name] === null)
  if (missing[0] !== undefined && missing.length < neededEndpoints.length)
    throw new ApiError('AB01', `The endpoints come together: ${missing.join(' and ')} is missing.`, { param: missing[0] })
  if (new URL(body.issuer).search !== '') throw new ApiError('AB01', 'An issuer has no query.', { param: 'issuer' })
  for (const field of urlFields) {
    const url = body[field]
    if (url === null) continue
    await egress.origin(url.split('?', 1)[0] ?? url, field)
  }
}

async function settingsOf(em: EntityManager, actor: Actor, body: PutProvider): Promise<CommonSettings> {
  return {
    domains: [...new Set(body.domains)].toSorted(),
    auto_provision: body.auto_provision === true && body.disable_auto_provision_user !== true,
    group_claim: body.group_claim ?? null,
    role_mappings: await mappingsOf(em, actor, body),
  }
}

async function mappingsOf(em: EntityManager, actor: Actor, { role_mappings: wanted = [] }: PutProvider): Promise<readonly RoleMapping[]> {
  const named = wanted.map(({ workspace_id: reference, ...rest }, at) => ({
    ...rest,
    reference,
    param: `role_mappings[${at}].workspace_id`,
  }))
  return (await findWorkspaces(em, actor, named)).map(({ group, role, workspace }) => ({ group, workspace_id: workspace.id, role }))
}

async function store({ em, actor, deps, body, found }: PutCall): Promise<IdentityProvider> {
  const { organisationId } = actor
  const common = await settingsOf(em, actor, body)
  if (body.type === 'oidc') await demandUrls(deps, body)
  await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:identity-provider:${organisationId}`])
  const before = await em.findOne(IdentityProvider, { organisationId })
  const { secret, settings, ...fields } = body.type === 'saml' ? await samlValues(deps, before, body) : oidcValues(before, body, found)
  const id = before?.id ?? uuidv7()
  const sealed = typeof secret === 'string' ? Buffer.from(await deps.vault.encrypt(secretPlace({ id, organisationId }), secret)) : null
  const values = {
    ...fields,
    enabled: body.enabled,
    settings: { ...common, ...settings },
    ...(secret !== undefined && { clientSecret: sealed }),
  }
  if (before === null) return em.create(IdentityProvider, { id, organisationId, createdBy: actor.id, rank: rankOf(actor), ...values })
  const [rank, own] = [before.rank ?? 'organisation-admin', rankOf(actor)] as const
  // The same again, as Terraform sends it, takes nothing from the one that set it, and an owner confirms it so.
  if (!isSame(before, values) || !isAtLeast(rank, own)) before.rank = own
  // Also when no other field changes: discovered data is thrown away.
  return Object.assign(before, { ...values, lastUpdatedAt: new Date(deps.clock.now()) })
}

type PutCall = Call<unknown, unknown, PutProvider> & { readonly found: OrganisationPlace }

/**
 * Returns true if a provider's claims about people are unchanged: a client that sends the same again, such as Terraform, takes nothing from the one
 * that set it.
 */
const isSame = (before: IdentityProvider, values: ClaimSource): boolean => isDeepStrictEqual(claimSourceOf(values), claimSourceOf(before))

type ClaimSource = Pick<IdentityProvider, 'type' | 'issuer' | 'clientId' | 'settings'>

/** The path by which people come back changes no claim about them. */
const claimSourceOf = ({ type, issuer, clientId, settings }: ClaimSource): unknown =>
  JSON.parse(JSON.stringify([type, issuer, clientId, { ...settings, callback: null }]))

function oidcValues(before: IdentityProvider | null, body: PutOidc, standing: OrganisationPlace): TypedValues {
  const secret = secretIn(body)
  const keeps = secret === null && body.token_endpoint_auth_method !== 'none'
  if (keeps && !mayKeep(before, body))
    throw new ApiError('AB01', 'The secret that is stored goes only where it was set for. Send it again.', { param: secretField(body) })
  return {
    type: 'oidc',
    name: body.name ?? new URL(body.issuer).host,
    issuer: body.issuer,
    clientId: body.client_id,
    secret: keeps ? undefined : secret,
    settings: {
      scopes: body.scopes ?? [],
      token_endpoint_auth_method: body.token_endpoint_auth_method,
      callback: callbackOf(before, body, standing),
      authorization_endpoint: body.authorization_endpoint,
      token_endpoint: body.token_endpoint,
      jwks_uri: body.jwks_uri,
      userinfo_endpoint: body.userinfo_endpoint,
      end_session_endpoint: body.end_session_endpoint,
      post_logout_redirect_uri: body.post_logout_redirect_uri,
      ca: body.ca,
      email_verified_claim: body.email_verified_claim,
    },
  }
}

const addresses = [...neededEndpoints, 'userinfo_endpoint'] as const

/** Returns true if people still sign in at the same provider. */
const isSameProvider = (before: IdentityProvider | null, body: PutOidc): boolean =>
  before !== null &&
  before.type === 'oidc' &&
  before.issuer === body.issuer &&
  before.clientId === body.client_id &&
  addresses.every((name) => before.settings[name] === body[name])

/** Returns the callback of a provider. One that was set while all organisations shared a callback keeps it until it is another provider. */
function callbackOf(before: IdentityProvider | null, body: PutOidc, standing: OrganisationPlace): Callback {
  const stays = before?.settings.callback === 'organisation' || isSameProvider(before, body)
  const kept = stays ? (before?.settings.callback ?? 'shared') : usualCallback(standing)
  const wanted = body.callback ?? kept
  if (wanted === 'organisation' || kept === 'shared' || standing.isFirst) return wanted
  throw new ApiError('AB01', sharedCallback, { param: 'callback' })
}

const sharedCallback = 'The shared callback is for the first organisation: a code for it could arrive in a sign-in of another one.'

const secretField = ({ token_endpoint_auth_method: method }: PutOidc) => (method === 'private_key_jwt' ? 'client_jwks' : 'client_secret')

/** Returns the secret or the private key that a body has; null: neither. */
function secretIn(body: PutOidc): string | null {
  if (body.token_endpoint_auth_method === 'none') return null
  if (body.token_endpoint_auth_method !== 'private_key_jwt') return body.client_secret ?? null
  return body.client_jwks === undefined ? null : JSON.stringify(privateKeyOf(JSON.stringify(body.client_jwks)))
}

/** A stored secret goes to no other token endpoint, is shown in no other way, and is kept for no person for whom another authority vouches. */
function mayKeep(before: IdentityProvider | null, body: PutOidc): boolean {
  if (before === null || before.type !== 'oidc' || !before.clientSecret) return false
  const { settings } = before
  return (
    before.issuer === body.issuer &&
    before.clientId === body.client_id &&
    settings.token_endpoint === body.token_endpoint &&
    (settings.ca ?? null) === body.ca &&
    (settings.token_endpoint_auth_method === 'private_key_jwt') === (body.token_endpoint_auth_method === 'private_key_jwt')
  )
}

async function settle(em: EntityManager, deps: Deps, actor: Actor) {
  const { organisationId } = actor
  await hold(em, organisationId)
  return settlePlaces(em, deps, { organisationId, userIds: null, by: { actor, param: 'role_mappings' } })
}
