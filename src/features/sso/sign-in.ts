import { authorizationCodeGrant, buildAuthorizationUrl, calculatePKCECodeChallenge, fetchUserInfo, type Configuration } from 'openid-client'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor, AnonymousCall } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { clientOf, providerError, servingProvider, standingOf, type Provider } from '../identity-providers/index.ts'
import { welcome } from './arrival.ts'
import { claimAt, type Claims } from './claims.ts'
import { farewell } from './departure.ts'
import { begin, destinationOf, end, lost } from './journey.ts'
import type { VouchedPerson } from './people.ts'
import type { CallbackQuery, LoginQuery } from './sso.schema.ts'
import { failed } from './trial/outcome.ts'
import { openTest, testerOf } from './trial/trial.ts'

type LoginCall = Pick<AnonymousCall<{ organisation: string }, LoginQuery, undefined>, 'params' | 'query' | 'headers'>

/** Sends a person to the provider of an organisation. AB08 if it has none. */
export async function depart({ params, query, headers }: LoginCall, deps: Deps): Promise<Actor> {
  const standing = await standingOf(deps, { slug: params.organisation })
  const test = standing === null || query.test === undefined ? undefined : await openTest(deps, standing.id, query.test)
  const provider =
    standing &&
    (await inTenant(deps.orm, standing.id, (em) => servingProvider(em, deps, { ...standing, type: 'oidc', alsoOff: test !== undefined })))
  if (!provider) throw new ApiError('AB08', 'There is no organisation of this name with an identity provider.', { param: 'organisation' })
  const { organisationId } = provider
  const client = await reached(clientOf(deps.egress, provider))
  const { marks, cookie } = begin(deps, headers.cookie, {
    organisationId,
    to: destinationOf(provider),
    returnTo: query.return_to,
    test,
  })
  const url = buildAuthorizationUrl(client, {
    redirect_uri: provider.redirectUri,
    response_type: 'code',
    scope: scopesOf(provider),
    state: marks.state,
    nonce: marks.nonce,
    code_challenge: await calculatePKCECodeChallenge(marks.verifier),
    code_challenge_method: 'S256',
  })
  return farewell(organisationId, { url: url.href, cookie })
}

const usualScopes = ['openid', 'profile', 'email']

const scopesOf = ({ scopes }: Provider): string => [...new Set(['openid', ...(scopes.length === 0 ? usualScopes : scopes)])].join(' ')

type CallbackCall = Pick<AnonymousCall<{ organisation: string } | undefined, CallbackQuery, undefined>, 'params' | 'query' | 'headers'>

/** Identifies the person who comes back from a provider. AB05 if that cannot be verified, AB03 if the provider refuses. */
export async function arrive({ params, query, headers }: CallbackCall, deps: Deps): Promise<Actor> {
  const { journey, marks } = end(deps, headers.cookie, query.state)
  const standing = await standingOf(deps, { id: journey.organisationId })
  const { test } = journey
  const provider =
    standing &&
    (await inTenant(deps.orm, standing.id, (em) => servingProvider(em, deps, { ...standing, type: 'oidc', alsoOff: test !== undefined })))
  if (!provider || destinationOf(provider) !== journey.to)
    throw new ApiError('AB05', 'The identity provider of the organisation has changed meanwhile. Begin again.', { param: 'state' })
  // A code for another organisation would else go to the token endpoint of this one (RFC 9700, section 4.4).
  if (params?.organisation !== (provider.callback === 'shared' ? undefined : standing.slug)) throw lost('state')
  const client = await reached(clientOf(deps.egress, provider))
  const vouched = await vouch(client, provider, { query, marks }).catch((error: unknown) => {
    deps.log.warn({ err: error, org: provider.organisationId, issuer: provider.issuer }, 'a sign-in by an identity provider failed')
    return providerError(error)
  })
  if (!(vouched instanceof ApiError))
    return welcome(deps, {
      provider,
      vouched,
      returnTo: journey.returnTo,
      once: [{ mark: `sso-used:${marks.state}`, until: journey.expiresAt }],
      test,
    })
  if (test !== undefined) return testerOf(provider.organisationId, { id: test, outcome: failed(provider, vouched) })
  throw vouched
}

interface CallbackReturn {
  readonly query: CallbackQuery
  readonly marks: ReturnType<typeof end>['marks']
}

async function vouch(client: Configuration, provider: Provider, { query, marks }: CallbackReturn): Promise<VouchedPerson> {
  const url = new URL(provider.redirectUri)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
  const tokens = await authorizationCodeGrant(client, url, {
    pkceCodeVerifier: marks.verifier,
    expectedState: marks.state,
    expectedNonce: marks.nonce,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (claims === undefined) throw new Error('there is no ID token')
  const { iss: issuer, sub: subject, sid } = claims
  const isEnough = needed(provider).every((path) => claimAt(claims, path) !== undefined)
  const more =
    isEnough || client.serverMetadata().userinfo_endpoint === undefined ? {} : await fetchUserInfo(client, tokens.access_token, subject)
  return {
    identity: { issuer, subject },
    session: typeof sid === 'string' ? sid : null,
    endsAt: null,
    token: tokens.id_token,
    claims: merged(more, claims),
  }
}

const needed = ({ email_verified_claim, group_claim }: Provider): readonly string[] => [
  'email',
  email_verified_claim,
  ...(group_claim === null ? [] : [group_claim]),
]

/** Returns the claims of both; those that are signed go first. */
const merged = (more: Claims, signed: Claims): Claims => ({ ...more, ...signed })

const reached = async <T>(client: Promise<T>): Promise<T> => {
  try {
    return await client
  } catch (error) {
    throw error instanceof ApiError ? error : unreachable(error)
  }
}

/** While only the provider's discovery document is fetched, no fault is the person's. */
function unreachable(error: unknown): ApiError {
  const told = providerError(error)
  if (told.status !== 401) return told
  return new ApiError('upstream_bad_response', 'The identity provider does not describe itself as OpenID Connect asks.', { cause: error })
}
