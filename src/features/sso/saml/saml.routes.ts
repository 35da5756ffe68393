import { Readable } from 'node:stream'
import { hash } from 'node:crypto'
import { z } from 'zod'
import { redirect, stream } from '../../../app/answer-shapes.ts'
import { LaterAnswer, route, type Actor } from '../../../app/route.ts'
import type { Deps } from '../../../app/deps.ts'
import { actorOf } from '../actor.ts'
import { enter } from '../arrival.ts'
import { leave } from '../departure.ts'
import { acsBody, comeBack, loginParams, loginQuery, sentOn } from '../sso.schema.ts'
import { signsRequests } from './client.ts'
import { arriveBySaml, departBySaml, samlProviderOf, type SamlProvider } from './sign-in.ts'

export const loginBySaml = route({
  method: 'GET',
  path: '/auth/saml/:organisation/login',
  below: '/',
  summary: 'Send the browser to the SAML identity provider of an organisation',
  permission: [],
  answers: redirect,
  identify: departBySaml,
  params: loginParams,
  query: loginQuery,
  response: sentOn,
})(leave)

/** An answer of a provider is up to a million characters long, and its base64 longer in a form. */
const mostAnswerBytes = 2 * 1024 * 1024

export const returnBySaml = route({
  method: 'POST',
  path: '/auth/saml/:organisation/acs',
  below: '/',
  summary: 'Sign in with the answer of a SAML identity provider, and go on where the person wanted to',
  permission: [],
  answers: redirect,
  identify: arriveBySaml,
  takes: 'form',
  mostBytes: mostAnswerBytes,
  resource: 'session',
  action: 'sign-in',
  params: loginParams,
  body: acsBody,
  response: comeBack,
})(enter)

const mediaType = 'application/samlmetadata+xml'

const found = new WeakMap<Actor, SamlProvider>()

export const samlMetadata = route({
  method: 'GET',
  path: '/auth/saml/:organisation/metadata',
  below: '/',
  summary: 'Read the metadata of Gatehouse for a SAML identity provider',
  permission: [],
  identify: async ({ params }: { readonly params: { readonly organisation: string } }, deps: Deps) => {
    const known = await samlProviderOf(deps, params)
    const { organisationId } = known.provider
    const actor = actorOf(organisationId, { type: 'invite', id: organisationId, name: null })
    found.set(actor, known)
    return actor
  },
  params: loginParams,
  answers: stream([mediaType]),
  response: z.unknown().meta({ description: 'Metadata of SAML 2.0.' }),
})(async ({ actor }) => {
  const known = found.get(actor)
  if (known === undefined) throw new Error('the caller was not identified by an organisation')
  const xml = await describe(known)
  return new LaterAnswer(async () => ({
    status: 200,
    headers: ['content-type', `${mediaType}; charset=utf-8`],
    body: Readable.from([xml]),
  }))
})

async function describe({ provider, settings, metadata, key }: SamlProvider): Promise<string> {
  const { generateServiceProviderMetadata } = await import('./packages.ts')
  const certificate = settings.sp_certificate
  return generateServiceProviderMetadata({
    issuer: provider.clientId,
    callbackUrl: provider.redirectUri,
    identifierFormat: null,
    wantAssertionsSigned: true,
    generateUniqueId: () => `_${hash('sha256', provider.clientId, 'hex')}`,
    ...(key !== null && certificate !== null && { decryptionPvk: key, decryptionCert: certificate }),
    ...(key !== null && certificate !== null && signsRequests(provider, metadata) && { privateKey: key, publicCerts: certificate }),
  })
}
