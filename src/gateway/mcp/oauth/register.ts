import { askIssuer, hostOf, type IssuerLine, signInFailed, textAt } from './ask-issuer.ts'
import { authMethodFor, type OAuthClient } from './tokens.ts'

/** The gateway as authorization servers see it. */
export const clientMetadata = (redirectUri: string) => ({
  client_name: 'Gatehouse',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  application_type: 'web',
})

interface Registration {
  readonly endpoint: string
  readonly redirectUri: string
  /** The ways to show a secret that the authorization server takes. */
  readonly authMethods: readonly string[]
}

/** Registers the gateway at an authorization server (RFC 7591). */
export async function registerClient(line: IssuerLine, { endpoint, redirectUri, authMethods }: Registration): Promise<OAuthClient> {
  const isPublic = authMethods.includes('none')
  const asked = isPublic ? 'none' : authMethodFor('a secret', authMethods)
  const { status, body } = await askIssuer(line, {
    url: endpoint,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...clientMetadata(redirectUri), token_endpoint_auth_method: asked }),
  })
  const clientId = body === null ? null : textAt(body, 'client_id')
  if ((status !== 201 && status !== 200) || body === null || clientId === null)
    throw signInFailed(`${hostOf(endpoint)} did not register Gatehouse as a client (HTTP ${status})`)
  const clientSecret = textAt(body, 'client_secret')
  const told = textAt(body, 'token_endpoint_auth_method')
  return { clientId, clientSecret, authMethod: authMethodFor(clientSecret, told === null ? authMethods : [told]) }
}
