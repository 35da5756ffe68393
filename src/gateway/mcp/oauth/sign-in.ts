import { createHash, randomBytes } from 'node:crypto'
import { hostOf, type IssuerLine, signInFailed } from './ask-issuer.ts'
import { type Issuer, readIssuer } from './issuer-metadata.ts'
import { readProtectedResource } from './resource-metadata.ts'

/** The settings of an integration for its sign-in by OAuth. */
export interface OAuthSettings {
  /** The authorization server; null: the one that the server names. */
  readonly issuer: string | null
  /** Null: those that the server names. */
  readonly scopes: readonly string[] | null
  /** False: the server is named by scopes alone, as Microsoft Entra wants it. */
  readonly sendsResource: boolean
}

/** All that is known of a sign-in before it begins. */
export interface SignInFacts {
  readonly issuer: Issuer
  /** Null: it is not named. */
  readonly resource: string | null
  readonly scopes: readonly string[]
}

/** Finds the authorization server of a server of MCP, by its settings and by its metadata. */
export async function discoverSignIn(line: IssuerLine, serverUrl: string, settings: OAuthSettings): Promise<SignInFacts> {
  const found = await readProtectedResource(line, serverUrl)
  const named = settings.issuer ?? found.issuers[0]
  if (named === undefined) throw signInFailed('the server names no authorization server')
  const issuer = await readIssuer(line, named)
  return {
    issuer,
    resource: settings.sendsResource ? found.resource : null,
    scopes: settings.scopes ?? found.scopes ?? [],
  }
}

/** Returns the fields by which a request names its scopes and its server. */
export const aimOf = ({ resource, scopes }: Pick<SignInFacts, 'resource' | 'scopes'>): Readonly<Record<string, string>> => ({
  ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  ...(resource !== null && { resource }),
})

/** A request that goes by the browser of a person. */
export interface AuthorizationRequest {
  readonly url: string
  readonly state: string
  readonly verifier: string
}

interface PersonRequest {
  readonly facts: SignInFacts
  readonly clientId: string
  readonly redirectUri: string
  /** False: its metadata need not list S256. */
  readonly demandsChallenge: boolean
}

/** Makes the request for the leave of a person, with PKCE (RFC 7636). Throws for an authorization server that does not take it. */
export function askPerson({ facts, clientId, redirectUri, demandsChallenge }: PersonRequest): AuthorizationRequest {
  const { issuer } = facts
  if (issuer.authorizationEndpoint === null) throw signInFailed(`${hostOf(issuer.issuer)} has no page on which a person could sign in`)
  const takesChallenge = issuer.challengeMethods === null ? !demandsChallenge : issuer.challengeMethods.includes('S256')
  if (!takesChallenge) throw signInFailed(`${hostOf(issuer.issuer)} does not protect its codes (PKCE with S256)`)
  const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
  const url = new URL(issuer.authorizationEndpoint)
  const fields = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...aimOf(facts),
  }
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
  return { url: url.href, state, verifier }
}
