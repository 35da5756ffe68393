import { ApiError } from '../../../lib/errors.ts'
import type { Fields } from '../../../lib/json/fields.ts'
import { eachHeader } from '../../wire/header-list.ts'
import { modernRevisions } from '../protocol/revisions.ts'
import { withEnvelope } from '../protocol/envelope.ts'
import { requestText } from '../protocol/messages.ts'
import { namedHeaders } from '../protocol/named-headers.ts'
import { askIssuer, hostOf, type IssuerLine, signInFailed, textAt, textsAt } from './ask-issuer.ts'

/** The facts that a server states about its sign-in (RFC 9728). */
export interface ProtectedResource {
  /** The name of the server in requests for tokens (RFC 8707). */
  readonly resource: string
  /** The authorization servers, the one that is preferred first. */
  readonly issuers: readonly string[]
  /** The scopes to ask for, unless the integration names others; null: the server names none. */
  readonly scopes: readonly string[] | null
}

/** The parts of a challenge that matter here (RFC 6750, RFC 9728). */
export interface BearerChallenge {
  readonly metadataUrl: string | null
  readonly scopes: readonly string[] | null
}

const noChallenge: BearerChallenge = { metadataUrl: null, scopes: null }

const parameter = (header: string, name: string): string | null =>
  new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"([^"]{0,2048})"|([^\\s",]{1,2048}))`, 'i').exec(header)?.slice(1).find(Boolean) ?? null

/** Reads the header `WWW-Authenticate` of a refusal. */
export function readChallenge(header: string | undefined): BearerChallenge {
  const text = (header ?? '').slice(0, 8192)
  if (!/(?:^|,)\s*bearer(?:\s|$)/i.test(text)) return noChallenge
  const scopes = parameter(text, 'scope')?.split(' ').filter(Boolean) ?? null
  return { metadataUrl: parameter(text, 'resource_metadata'), scopes }
}

/** Asks a server without a credential, so that it refuses and names its metadata. One that does something else may have them all the same. */
async function challengeOf(line: IssuerLine, url: string): Promise<BearerChallenge> {
  const [revision] = modernRevisions
  const params = withEnvelope({}, { capabilities: {}, info: { name: 'gatehouse', version: '1' }, version: revision, logLevel: null })
  const call = { method: 'server/discover', params }
  const headers: Record<string, string> = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  eachHeader(namedHeaders(call, revision), (name, value) => void (headers[name] = value))
  try {
    const answer = await askIssuer(line, { url, method: 'POST', headers, body: requestText(1, call) })
    return answer.status === 401 || answer.status === 403 ? readChallenge(answer.headers['www-authenticate']) : noChallenge
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === 'blocked_host') throw thrown
    return noChallenge
  }
}

/** Returns the address of a well-known document with the path of its owner behind it. */
export const wellKnown = (url: URL, name: string): string =>
  `${url.origin}/.well-known/${name}${url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '')}`

/**
 * Finds out where one signs in at a server: by the metadata that its refusal names, else by those at the known addresses. A server without metadata
 * is its own authorization server, as before 2025-06-18.
 */
export async function readProtectedResource(line: IssuerLine, serverUrl: string): Promise<ProtectedResource> {
  const { metadataUrl, scopes } = await challengeOf(line, serverUrl)
  const url = new URL(serverUrl)
  if (metadataUrl !== null) {
    const named = URL.parse(metadataUrl)
    if (named === null || !/^https?:$/.test(named.protocol)) throw signInFailed('the server names its metadata at no address of HTTP')
    const { status, body } = await askIssuer(line, { url: named.href })
    if (status !== 200 || body === null) throw signInFailed(`the metadata that the server names could not be read (HTTP ${status})`)
    return resourceOf(body, { url, scopes })
  }
  for (const known of new Set([wellKnown(url, 'oauth-protected-resource'), `${url.origin}/.well-known/oauth-protected-resource`])) {
    const { status, body } = await askIssuer(line, { url: known })
    if (status === 200 && body !== null) return resourceOf(body, { url, scopes })
  }
  return { resource: canonical(url), issuers: [url.origin], scopes }
}

interface AskedServer {
  readonly url: URL
  readonly scopes: readonly string[] | null
}

/** Reads the metadata of a server. Throws for those of another one: tokens for it would be given out here. */
function resourceOf(document: Fields, { url, scopes }: AskedServer): ProtectedResource {
  const resource = textAt(document, 'resource')
  if (resource === null || !covers(resource, url))
    throw signInFailed(`the metadata of ${url.host} name another resource (${resource === null ? 'none' : hostOf(resource)})`)
  const issuers = textsAt(document, 'authorization_servers') ?? []
  if (issuers.length === 0) throw signInFailed(`the metadata of ${url.host} name no authorization server`)
  return { resource, issuers, scopes: scopes ?? textsAt(document, 'scopes_supported') }
}

/** Returns whether a resource is this server, or all of a path above it. */
function covers(resource: string, url: URL): boolean {
  const named = URL.parse(resource)
  if (named === null || named.origin !== url.origin || named.hash !== '' || named.search !== '') return false
  const path = named.pathname.replace(/\/$/, '')
  return url.pathname === named.pathname || url.pathname === path || url.pathname.startsWith(`${path}/`)
}

const canonical = (url: URL): string => (url.pathname === '/' ? url.origin : url.href)
