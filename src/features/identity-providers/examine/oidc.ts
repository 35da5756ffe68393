import { createHash, randomBytes } from 'node:crypto'
import { genericGrantRequest, ResponseBodyError, WWWAuthenticateChallengeError, type Configuration } from 'openid-client'
import { z } from 'zod'
import type { Deps } from '../../../app/deps.ts'
import type { SmallResponse } from '../../../gateway/ports/egress.ts'
import { tenantEgress } from '../../../app/tenant-egress.ts'
import { ApiError } from '../../../lib/errors.ts'
import { callsTo } from '../calls.ts'
import { endpointsOf, hasAll } from '../endpoints.ts'
import { makeClient } from '../client.ts'
import { providerError } from '../provider-error.ts'
import type { Provider } from '../provider.ts'
import { careful, wrong, type SsoFinding } from './finding.ts'

type Needs = Pick<Deps, 'egress' | 'clock'>

/** The fields of a discovery document that matter here. */
const document = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string().optional(),
  token_endpoint: z.string().optional(),
  jwks_uri: z.string().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
  scopes_supported: z.array(z.string()).optional(),
})
type Document = z.output<typeof document>

/** Examines an OpenID provider as a sign-in would meet it. Never rejects. */
export async function examineOidc(deps: Needs, provider: Provider): Promise<readonly SsoFinding[]> {
  const found = await discover(deps, provider)
  if ('finding' in found) return [...found.clock, found.finding]
  const { said, clock } = found
  const ends = endpointFindings(provider, said)
  const findings = [...clock, ...ends, ...offerFindings(provider, said)]
  if (ends.length > 0) return findings
  const keys = await keyFindings(deps, provider, said.jwks_uri ?? '')
  try {
    const client = await makeClient(deps.egress, provider)
    return [...findings, ...keys, ...(await startFindings(deps, provider, said)), ...(await clientFindings(client, provider))]
  } catch (error) {
    return [...findings, ...keys, wrong('sso-discovery', sentence(providerError(error)))]
  }
}

type DiscoveryOutcome = { readonly clock: readonly SsoFinding[] } & ({ readonly said: Document } | { readonly finding: SsoFinding })

async function discover(deps: Needs, provider: Provider): Promise<DiscoveryOutcome> {
  const { issuer } = provider
  const byHand = endpointsOf(provider)
  if (hasAll(byHand)) return { clock: [], said: { issuer, ...byHand } }
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const answer = await ask(deps, provider, url)
  if (answer instanceof ApiError) return { clock: [], finding: wrong('sso-unreachable', failedAt(url, answer)) }
  const clock = clockFindings(deps, answer)
  if (answer.status !== 200) return { clock, finding: wrong('sso-discovery', `${url} answered ${answer.status}`) }
  const said = document.safeParse(toJson(answer.text)).data
  if (said === undefined) return { clock, finding: wrong('sso-discovery', `the answer of ${url} is no discovery document`) }
  // As a sign-in compares them: the text of a URL may end with a slash or not.
  if (URL.parse(said.issuer)?.href !== new URL(issuer).href)
    return { clock, finding: wrong('sso-issuer-differs', `it is set as ${issuer}, and the document names ${said.issuer.slice(0, 200)}`) }
  return { clock, said }
}

const timeoutMs = 10_000

/** Asks a provider through the egress guard; an ApiError gives the reason why it cannot be asked. */
async function ask({ egress }: Needs, provider: Provider, url: string): Promise<SmallResponse | ApiError> {
  try {
    return await tenantEgress(egress, provider).exchange({
      url,
      method: 'GET',
      headers: { accept: 'application/json, text/html' },
      timeoutMs,
      ...callsTo(provider),
    })
  } catch (error) {
    return error instanceof ApiError ? error : new ApiError('upstream_bad_response', `The answer of ${url} could not be read.`)
  }
}

const sentence = ({ message }: ApiError): string => message.replace(/\.$/, '')
const failedAt = (url: string, error: ApiError): string => `${url}: ${sentence(error)}`

function clockFindings({ clock }: Needs, { headers }: SmallResponse): readonly SsoFinding[] {
  const theirs = Date.parse(headers.date ?? '')
  const apart = Number.isNaN(theirs) ? 0 : Math.round(Math.abs(theirs - clock.now()) / 1000)
  if (apart <= 10) return []
  return [(apart > 60 ? wrong : careful)('sso-clock', `the clocks are ${apart} seconds apart`)]
}

function endpointFindings({ issuer }: Provider, said: Document): readonly SsoFinding[] {
  const { authorization_endpoint, token_endpoint, jwks_uri } = said
  return Object.entries({ authorization_endpoint, token_endpoint, jwks_uri }).flatMap(([name, text]) => {
    const url = text === undefined ? null : URL.parse(text)
    if (url === null) return [wrong('sso-endpoints', text === undefined ? `there is no ${name}` : `${name} is no URL`)]
    return issuer.startsWith('https:') && url.protocol !== 'https:' ? [wrong('sso-endpoints', `${name} is not https`)] : []
  })
}

/** Compares the settings here with the offers in the document, if it has any. */
function offerFindings(provider: Provider, said: Document): readonly SsoFinding[] {
  const { token_endpoint_auth_method: method, scopes } = provider
  const methods = said.token_endpoint_auth_methods_supported ?? [method]
  const missing = said.scopes_supported === undefined ? [] : scopes.filter((scope) => said.scopes_supported?.includes(scope) === false)
  return [
    ...(methods.includes(method) ? [] : [wrong('sso-client-method', `${method} is set, and the provider takes ${methods.join(', ')}`)]),
    ...(said.code_challenge_methods_supported?.includes('S256') === false
      ? [careful('sso-pkce', `it offers ${said.code_challenge_methods_supported.join(', ') || 'none'}`)]
      : []),
    ...(missing.length === 0 ? [] : [careful('sso-scopes', `it does not offer ${missing.join(', ')}`)]),
  ]
}

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string(), use: z.string().optional() })) })

async function keyFindings(deps: Needs, provider: Provider, url: string): Promise<readonly SsoFinding[]> {
  const answer = await ask(deps, provider, url)
  if (answer instanceof ApiError) return [wrong('sso-keys', failedAt(url, answer))]
  const signing = keySet.safeParse(toJson(answer.text)).data?.keys.filter(({ use, kty }) => kty !== 'oct' && (use ?? 'sig') === 'sig')
  if (answer.status === 200 && signing !== undefined && signing.length > 0) return []
  return [
    wrong('sso-keys', signing?.length === 0 ? `${url} has no key to sign with` : `${url} answered ${answer.status} and no set of keys`),
  ]
}

/** Begins a sign-in as a browser does, and goes no further. A provider without this client, or this redirect URI, reports it here. */
async function startFindings(deps: Needs, provider: Provider, said: Document): Promise<readonly SsoFinding[]> {
  const url = new URL(said.authorization_endpoint ?? '')
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url')
  const scope = provider.scopes.length === 0 ? 'openid' : ['openid', ...provider.scopes.filter((one) => one !== 'openid')].join(' ')
  for (const [name, value] of Object.entries({
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: provider.redirectUri,
    scope,
    state: randomBytes(16).toString('base64url'),
    nonce: randomBytes(16).toString('base64url'),
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }))
    url.searchParams.set(name, value)
  const answer = await ask(deps, provider, url.href)
  if (answer instanceof ApiError) return [wrong('sso-redirect-refused', failedAt(url.origin, answer))]
  if (answer.status < 400) return []
  return [wrong('sso-redirect-refused', `it answered ${answer.status} to client ${provider.clientId} and ${provider.redirectUri}`)]
}

/** Shows the token endpoint a made-up code: it complains of the code only if it has accepted the client. */
async function clientFindings(client: Configuration, { redirectUri }: Provider): Promise<readonly SsoFinding[]> {
  const code = `gatehouse-doctor-${randomBytes(16).toString('hex')}`
  try {
    const verifier = randomBytes(32).toString('base64url')
    await genericGrantRequest(client, 'authorization_code', { code, redirect_uri: redirectUri, code_verifier: verifier })
    return [wrong('sso-client-refused', 'the token endpoint gave a token for a made-up code')]
  } catch (error) {
    const said = refusalOf(error)
    if (said === 'invalid_client' || said === 'unauthorized_client')
      return [wrong('sso-client-refused', `the token endpoint answered ${said}`)]
    if (said !== null) return []
    const failure = providerError(error)
    return failure.status === 401 ? [] : [wrong('sso-client-refused', sentence(failure))]
  }
}

function refusalOf(thrown: unknown): string | null {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1)
    if (error instanceof ResponseBodyError) return error.error
    // So it answers a wrong secret that came in the header.
    else if (error instanceof WWWAuthenticateChallengeError) return 'invalid_client'
  return null
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
