import { ApiError } from '../../lib/errors.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import type { Credential } from '../providers/provider.ts'
import { cachesOf } from './auth-caches.ts'
import type { AuthDeps, Authorized, AuthRequest } from './auth-request.ts'
import { field, fingerprint, malformed, requireField, requireKey } from './credential.ts'
import type { Expiring } from '../../lib/expiring-cache.ts'
import { postForm, readAccessToken } from './token-endpoint.ts'

const issuer = 'Microsoft Entra'
const authority = 'https://login.microsoftonline.com'
const defaultScope = 'https://cognitiveservices.azure.com/.default'
const marginMs = 60_000

type KeyHeader = 'api-key' | 'authorization'

/** A given token, a token of Entra client credentials (kept until a minute before it expires), or the resource's key. */
export function authorizeAzure(
  { credential, url }: AuthRequest,
  keyHeaders: readonly KeyHeader[],
  deps: AuthDeps,
): MaybePromise<Authorized> {
  const given = field(credential, 'azure_ad_token')
  if (given !== null) return withToken(url.path, tokenText(given))
  const mode = field(credential, 'azure_auth_mode') ?? 'default'
  if (mode === 'entra') {
    const token = entraToken(credential, deps)
    return settled(token, (fetched) => withToken(url.path, fetched))
  }
  if (mode !== 'default') {
    throw new ApiError(
      'invalid_request',
      `Requests cannot be signed in with azure_auth_mode ${JSON.stringify(mode)} yet: use "default" with a key, or "entra" with a client secret.`,
      {
        param: 'azure_auth_mode',
      },
    )
  }
  const key = requireKey(credential)
  return { headers: keyHeaders.flatMap((name) => [name, name === 'authorization' ? `Bearer ${key}` : key]), path: url.path }
}

const withToken = (path: string, token: string): Authorized => ({ headers: ['authorization', `Bearer ${token}`], path })

function tokenText(given: string): string {
  const token = given.replace(/^Bearer /i, '')
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw malformed('azure_ad_token', 'is not a token')
}

/** The authority is fixed: a stored client secret never goes to an address that a request names. */
function entraToken(credential: Credential, deps: AuthDeps): MaybePromise<string> {
  const tenant = requireField(credential, 'azure_entra_tenant_id')
  if (!/^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/.test(tenant)) throw malformed('azure_entra_tenant_id', 'is not a tenant id')
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: requireField(credential, 'azure_entra_client_id'),
    ...entraProof(credential),
    scope: field(credential, 'azure_entra_scope') ?? defaultScope,
  }).toString()
  return cachesOf(deps.egress).tokens.get(fingerprint('azure', tenant, form), deps.now(), () => fetchToken(tenant, form, deps))
}

/** The secret of the application, or the token of the workload in its place. */
function entraProof(credential: Credential): Readonly<Record<string, string>> {
  const assertion = field(credential, 'azure_entra_client_assertion')
  return assertion === null
    ? { client_secret: requireField(credential, 'azure_entra_client_secret') }
    : { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion: assertion }
}

async function fetchToken(tenant: string, form: string, deps: AuthDeps): Promise<Expiring<string>> {
  const text = await postForm(deps.egress, { issuer, url: `${authority}/${tenant}/oauth2/v2.0/token`, form })
  const { token, expiresInMs } = readAccessToken(issuer, text)
  return { value: token, usableUntil: deps.now() + expiresInMs - marginMs }
}
