import { ApiError } from '../../../lib/errors.ts'
import type { Fields } from '../../../lib/json/fields.ts'
import { askIssuer, hostOf, type IssuerLine, signInFailed, textAt, textsAt } from './ask-issuer.ts'
import { wellKnown } from './resource-metadata.ts'

/** The facts about an authorization server (RFC 8414, OpenID Connect Discovery). */
export interface Issuer {
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly authorizationEndpoint: string | null
  readonly registrationEndpoint: string | null
  /** Whether the address of a document is a client id. */
  readonly takesDocuments: boolean
  /** Whether its answers name it (RFC 9207). */
  readonly namesItself: boolean
  /** The ways to show a secret. */
  readonly authMethods: readonly string[]
  /** Null: it names none. */
  readonly challengeMethods: readonly string[] | null
}

/** Reads the metadata of an authorization server. Rejects for those of another one. */
export async function readIssuer(line: IssuerLine, issuer: string): Promise<Issuer> {
  const url = URL.parse(issuer)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    throw signInFailed('the authorization server has no address of HTTP')
  const below = `${url.origin}${url.pathname.replace(/\/$/, '')}/.well-known/openid-configuration`
  for (const known of new Set([wellKnown(url, 'oauth-authorization-server'), wellKnown(url, 'openid-configuration'), below])) {
    const { status, body } = await askIssuer(line, { url: known })
    if (status === 200 && body !== null) return issuerOf(line, { document: body, issuer })
  }
  throw signInFailed(`${url.host} gives no metadata of an authorization server`)
}

interface IssuerDocument {
  readonly document: Fields
  readonly issuer: string
}

async function issuerOf(line: IssuerLine, { document, issuer }: IssuerDocument): Promise<Issuer> {
  const told = textAt(document, 'issuer')
  if (told !== issuer) throw signInFailed(`the metadata at ${hostOf(issuer)} are of another issuer (${told ?? 'none'}, not ${issuer})`)
  const tokenEndpoint = await endpoint(line, document, 'token_endpoint')
  if (tokenEndpoint === null) throw signInFailed(`${hostOf(issuer)} has no token endpoint`)
  return {
    issuer,
    tokenEndpoint,
    authorizationEndpoint: await endpoint(line, document, 'authorization_endpoint'),
    registrationEndpoint: await endpoint(line, document, 'registration_endpoint'),
    takesDocuments: document['client_id_metadata_document_supported'] === true,
    namesItself: document['authorization_response_iss_parameter_supported'] === true,
    authMethods: textsAt(document, 'token_endpoint_auth_methods_supported') ?? ['client_secret_basic'],
    challengeMethods: textsAt(document, 'code_challenge_methods_supported'),
  }
}

/** Returns an address of the metadata, which the egress has to allow, also where it is for a browser: it is no script and no secret in the clear. */
async function endpoint({ egress }: IssuerLine, document: Fields, name: string): Promise<string | null> {
  const value = textAt(document, name)
  if (value === null) return null
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== '')
    throw signInFailed(`the authorization server names no address of HTTP as its ${name}`)
  try {
    await egress.origin(url.origin, name)
  } catch (thrown) {
    if (thrown instanceof ApiError) throw thrown
    throw signInFailed(`the authorization server names an address as its ${name} that may not be asked`, {}, thrown)
  }
  return url.href
}
