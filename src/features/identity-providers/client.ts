import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  PrivateKeyJwt,
  type ClientAuth,
  type CustomFetch,
  type ServerMetadata,
} from 'openid-client'
import { importJWK } from 'jose'
import { z } from 'zod'
import type { Egress } from '../../gateway/ports/egress.ts'
import { tenantEgress } from '../../app/tenant-egress.ts'
import { createLru, type Lru } from '../../lib/collections/lru.ts'
import { ApiError } from '../../lib/errors.ts'
import { callsTo } from './calls.ts'
import { endpointsOf, hasAll } from './endpoints.ts'
import type { Provider } from './provider.ts'

const timeoutMs = 10_000

/** Called for each request to a provider: before it, and with the status of its answer. */
export type ProviderCallObserver = (url: string, status: number | null) => void

/** Returns how the library calls a provider: through the egress guard. */
const fetchOf =
  (egress: Egress, provider: Provider, asked: ProviderCallObserver): CustomFetch =>
  async (url, { method, headers, body }) => {
    asked(url, null)
    const text =
      body === undefined || body === null ? {} : { body: body instanceof URLSearchParams ? body.toString() : z.string().parse(body) }
    const answer = await tenantEgress(egress, provider).exchange({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...text,
      timeoutMs,
      ...callsTo(provider),
    })
    asked(url, answer.status)
    const kept = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] satisfies [string, string]],
    )
    return new Response(answer.bytes.length === 0 ? null : new Uint8Array(answer.bytes), { status: answer.status, headers: kept })
  }

interface HeldClient {
  readonly client: Promise<Configuration>
  /** Epoch milliseconds. */
  until: number
}

const maxHeld = 500
const keptMs = 3_600_000
const failedMs = 5_000

/** The clients of each process, by version of the provider. */
const held = new WeakMap<Egress, Lru<HeldClient>>()

/**
 * Returns the client of a provider, with the contents of its discovery document. It is kept for an hour, as long as the provider stays as it is; a
 * failure for five seconds, so that callers cannot make us call a provider that is away again and again.
 */
export function clientOf(egress: Egress, provider: Provider): Promise<Configuration> {
  const known = held.get(egress) ?? createLru<HeldClient>(maxHeld)
  held.set(egress, known)
  const key = `${provider.organisationId} ${provider.version}`
  const now = performance.now()
  const before = known.get(key)
  if (before !== undefined && before.until > now) return before.client
  const made: HeldClient = { client: makeClient(egress, provider), until: now + keptMs }
  made.client.catch(() => (made.until = performance.now() + failedMs))
  known.set(key, made)
  return made.client
}

/** Makes the client of a provider, and fetches the provider's discovery document. */
export async function makeClient(egress: Egress, provider: Provider, asked: ProviderCallObserver = () => {}): Promise<Configuration> {
  const { issuer, clientId, redirectUri } = provider
  const authentication = await authenticationOf(provider)
  const metadata = { redirect_uris: [redirectUri], response_types: ['code'] }
  const fetch = fetchOf(egress, provider, asked)
  // Every ID token is checked against the keys of the issuer. The egress guard decides where plain http may go.
  const always = issuer.startsWith('http:') ? [allowInsecureRequests, enableNonRepudiationChecks] : [enableNonRepudiationChecks]
  const withEndpoints = (server: ServerMetadata): Configuration => {
    const client = new Configuration(server, clientId, metadata, authentication)
    client[customFetch] = fetch
    client.timeout = timeoutMs / 1000
    for (const extend of always) extend(client)
    return client
  }
  const byHand = endpointsOf(provider)
  if (hasAll(byHand)) return withEndpoints({ issuer, ...byHand })
  const found = await discovery(new URL(issuer), clientId, metadata, authentication, {
    [customFetch]: fetch,
    timeout: timeoutMs / 1000,
    execute: always,
  })
  const told = found.serverMetadata().issuer
  // The library accepts that Entra and B2C name an issuer for all tenants; then any tenant could decide who may sign in.
  if (new URL(told).href !== new URL(issuer).href)
    throw new ApiError('upstream_bad_response', `The discovery document of ${issuer} names another issuer, ${told.slice(0, 200)}.`, {
      param: 'issuer',
    })
  // Without the functions that the library adds to the provider's document.
  const described = Object.fromEntries(Object.entries(found.serverMetadata()).filter(([, value]) => typeof value !== 'function'))
  return Object.keys(byHand).length === 0 ? found : withEndpoints({ ...described, issuer: told, ...byHand })
}

async function authenticationOf({ token_endpoint_auth_method: method, secret }: Provider): Promise<ClientAuth> {
  if (method === 'none') return None()
  const shown = (await secret()) ?? ''
  if (method === 'client_secret_post') return ClientSecretPost(shown)
  if (method === 'client_secret_basic') return ClientSecretBasic(shown)
  const { kid, alg, crv, ...members } = privateKeyOf(shown)
  const key = await importJWK({ ...members, ...(crv !== undefined && { crv }) }, alg ?? usualAlgorithm(members.kty, crv))
  if (key instanceof Uint8Array) throw new ApiError('credential_failed', 'The key of the client is not a private key.')
  return PrivateKeyJwt(kid === undefined ? key : { key, kid })
}

const jwk = z.looseObject({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  d: z.string(),
  kid: z.string().optional(),
  alg: z.string().optional(),
  crv: z.string().optional(),
})
const jwks = z.object({ keys: z.array(z.unknown()).min(1) })

/** Returns the private key in a JSON Web Key, or the first one of a set. Throws a ZodError or SyntaxError. */
export function privateKeyOf(text: string): z.output<typeof jwk> {
  const json: unknown = JSON.parse(text)
  return jwk.parse(jwks.safeParse(json).data?.keys[0] ?? json)
}

function usualAlgorithm(kty: string, crv: string | undefined): string {
  if (kty === 'RSA') return 'RS256'
  if (kty === 'OKP') return 'EdDSA'
  return crv === 'P-384' ? 'ES384' : crv === 'P-521' ? 'ES512' : 'ES256'
}
