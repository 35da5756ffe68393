import { inTenant } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import type { Actor, AnonymousCall } from '../../../app/route.ts'
import { ApiError } from '../../../lib/errors.ts'
import {
  metadataIn,
  servingProvider,
  standingOf,
  type IdpMetadata,
  type Provider,
  type SamlSettings,
} from '../../identity-providers/index.ts'
import { welcome } from '../arrival.ts'
import { farewell } from '../departure.ts'
import { destinationOf, ownPath } from '../journey.ts'
import type { Identity } from '../../users/index.ts'
import { home, type AcsBody, type LoginQuery } from '../sso.schema.ts'
import type { Assertion } from './assertion.ts'
import { claimsIn, formatOf } from './attributes.ts'
import { samlClient } from './client.ts'
import { beginSaml, endSaml, forgottenCookie } from './journey.ts'
import { failed } from '../trial/outcome.ts'
import { openTest, testerOf } from '../trial/trial.ts'
import { SamlFault } from './saml-fault.ts'
import { verifyResponse } from './verify.ts'

type Params = { readonly organisation: string }

/** A provider of SAML with the values for its requests and answers. */
export interface SamlProvider {
  readonly provider: Provider
  readonly settings: SamlSettings
  readonly metadata: IdpMetadata
  readonly key: string | null
}

/** Returns the provider of SAML of an organisation. AB08 if it has none. `alsoOff`: one that is turned off too. */
export async function samlProviderOf(deps: Deps, { organisation }: Params, alsoOff = false): Promise<SamlProvider> {
  const standing = await standingOf(deps, { slug: organisation })
  const provider =
    standing && (await inTenant(deps.orm, standing.id, (em) => servingProvider(em, deps, { ...standing, type: 'saml', alsoOff })))
  if (!provider?.saml) throw none()
  const metadata = metadataIn(provider.saml.metadata_xml, 'metadata_xml')
  return { provider, settings: provider.saml, metadata, key: await provider.secret() }
}

const none = () =>
  new ApiError('AB08', 'There is no organisation of this name with an identity provider of SAML.', { param: 'organisation' })

type LoginCall = Pick<AnonymousCall<Params, LoginQuery, undefined>, 'params' | 'query'>

/** Sends a person to the provider of an organisation. */
export async function departBySaml({ params, query }: LoginCall, deps: Deps): Promise<Actor> {
  const known = await samlProviderOf(deps, params, query.test !== undefined)
  const { organisationId } = known.provider
  const test = query.test === undefined ? undefined : await openTest(deps, organisationId, query.test)
  const { requestId, cookie } = beginSaml(deps, { organisationId, to: destinationOf(known.provider), returnTo: query.return_to, test })
  const client = await samlClient(known, requestId)
  return farewell(organisationId, { url: await client.getAuthorizeUrlAsync('', undefined, {}), cookie })
}

type AcsCall = Pick<AnonymousCall<Params, undefined, AcsBody>, 'params' | 'body' | 'headers'>

/** Identifies the person who comes back from a provider. AB05 if that cannot be verified, AB03 if the provider refuses. */
export async function arriveBySaml({ params, body, headers }: AcsCall, deps: Deps): Promise<Actor> {
  const known = await samlProviderOf(deps, params, true)
  const { provider, settings } = known
  const { organisationId, issuer } = provider
  const client = await samlClient(known)
  const assertion = await verifyResponse(body.SAMLResponse, { client, provider, key: known.key, nowMs: deps.clock.now() }).catch(
    (error: unknown) => {
      deps.log.warn({ err: error, org: organisationId, issuer }, 'a sign-in by an identity provider failed')
      throw refusal(error)
    },
  )
  const way = wayOf(deps, known, { assertion, body, cookies: headers.cookie })
  const { test } = way
  if (!provider.enabled && test === undefined) throw none()
  const identity = identityIn(assertion, settings, issuer)
  if (identity instanceof ApiError) {
    if (test !== undefined) return testerOf(organisationId, { id: test, outcome: failed(provider, identity) })
    throw identity
  }
  return welcome(deps, {
    provider,
    returnTo: way.returnTo,
    test,
    once: [...way.once, { mark: `saml-assertion:${organisationId}:${issuer}:${assertion.id}`, until: assertion.until }],
    ...(way.cookie !== undefined && { cookie: way.cookie }),
    vouched: {
      identity,
      session: assertion.sessionIndex?.slice(0, 320) ?? null,
      endsAt: assertion.endsAt,
      token: undefined,
      claims: claimsIn(assertion, { email_claim: settings.email_claim, group_claim: provider.group_claim }),
    },
  })
}

function refusal(error: unknown): unknown {
  if (!(error instanceof SamlFault)) return error
  const { message, isRefusal } = error
  if (isRefusal) return new ApiError('AB03', `The identity provider refused the sign-in: ${message}.`, { cause: error })
  return new ApiError('AB05', `The answer of the identity provider could not be verified: ${message}. Begin again.`, {
    param: 'SAMLResponse',
    cause: error,
  })
}

interface AcsReturn {
  readonly assertion: Assertion
  readonly body: AcsBody
  readonly cookies: string | undefined
}

/** Returns where the person goes on, and the marks of their way that serve once. */
function wayOf(deps: Deps, { provider, settings }: SamlProvider, { assertion, body, cookies }: AcsReturn) {
  const { inResponseTo } = assertion
  if (inResponseTo === null) {
    if (!settings.allow_idp_initiated)
      throw new ApiError('AB05', 'Sign-ins begin here, not at the identity provider: open the sign-in page of Gatehouse.', {
        param: 'InResponseTo',
      })
    return { returnTo: ownPath(body.RelayState ?? home) ?? home, once: [], cookie: undefined, test: undefined }
  }
  const { organisationId, to, returnTo, expiresAt, test } = endSaml(deps, cookies, inResponseTo)
  if (organisationId !== provider.organisationId || to !== destinationOf(provider))
    throw new ApiError('AB05', 'The identity provider of the organisation has changed meanwhile. Begin again.', { param: 'InResponseTo' })
  return { returnTo, once: [{ mark: `saml-request:${inResponseTo}`, until: expiresAt }], cookie: forgottenCookie(deps, inResponseTo), test }
}

const longestSubject = 320

/** Returns a person's identity at a provider; AB03 if it is not a lasting one. */
function identityIn({ attributes, nameId, nameIdFormat }: Assertion, { subject_claim }: SamlSettings, issuer: string): Identity | ApiError {
  const values = subject_claim === null ? [nameId] : (attributes.get(subject_claim) ?? [])
  const [subject] = values
  if (subject === null || subject === undefined || values.length > 1)
    return new ApiError(
      'AB03',
      `The identity provider does not identify you: ${subject_claim ?? 'NameID'} is missing, or has several values.`,
    )
  if (subject.length > longestSubject)
    return new ApiError('AB03', `${subject_claim ?? 'NameID'} is longer than ${longestSubject} characters.`)
  if (subject_claim === null && formatOf(nameIdFormat) === 'transient')
    return new ApiError('AB03', 'NameID is another one each time (transient): the identity provider has to send a persistent one.')
  return { issuer, subject }
}
