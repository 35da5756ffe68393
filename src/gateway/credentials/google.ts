import { importPKCS8, SignJWT } from 'jose'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { cachesOf } from './auth-caches.ts'
import type { Credential } from '../providers/provider.ts'
import type { AuthDeps, AuthProof, AuthRequest } from './auth-request.ts'
import { field, fingerprint, malformed, requireKey } from './credential.ts'
import type { ExpiringValue } from '../../lib/expiring-cache.ts'
import { parseRecord, postForm, readAccessToken } from './token-endpoint.ts'
import { googleIdentity, type GoogleIdentityRequest } from './workload/google-identity.ts'
import { demandTrusted, demandWorkload } from './workload/trusted-host.ts'

const issuer = 'Google'
const scope = 'https://www.googleapis.com/auth/cloud-platform'
const lifeS = 3600
const marginMs = 60_000
const accountField = 'vertex_service_account_json'

/**
 * A service account's access token (RFC 7523), kept until a minute before it expires; one of the workload's own identity; else the key,
 * which is an access token itself.
 */
export function authorizeGoogle({ credential, url }: AuthRequest, deps: AuthDeps): MaybePromise<AuthProof> {
  if (field(credential, 'vertex_auth_type') === 'workload') {
    const workload = demandWorkload(deps, 'vertex_auth_type')
    demandTrusted(url.origin, { param: 'vertex_auth_type', services: vertexHosts }, workload)
    return settled(googleIdentity(federationOf(credential), workload, deps), (fetched) => withToken(url.path, fetched))
  }
  const json = field(credential, accountField)
  if (json === null) return withToken(url.path, requireKey(credential))
  const token = cachesOf(deps.egress).tokens.get(fingerprint('google', json), deps.now(), () => fetchToken(json, deps))
  return settled(token, (fetched) => withToken(url.path, fetched))
}

const vertexHosts = /^(?:(?:[a-z0-9-]+-)?aiplatform|aiplatform\.[a-z0-9-]+\.rep)\.googleapis\.com$/

/** Returns the identity that the workload takes on at Google: that of the fields, else that of the settings. */
function federationOf(credential: Credential): GoogleIdentityRequest {
  const audience = field(credential, 'vertex_wif_audience')
  if (audience !== null && !audience.startsWith('//iam.googleapis.com/'))
    throw malformed('vertex_wif_audience', 'is not an audience of Google')
  return { audience, serviceAccount: field(credential, 'vertex_wif_service_account_email') }
}

const withToken = (path: string, token: string): AuthProof => ({ headers: ['authorization', `Bearer ${token}`], path })

async function fetchToken(json: string, deps: AuthDeps): Promise<ExpiringValue<string>> {
  const account = readAccount(json)
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await assertion(account, deps.now()),
  })
  const text = await postForm(deps.egress, {
    issuer,
    url: account.tokenUri,
    form: form.toString(),
    named: account.tokenUri === ownTokenUri ? 'by catalogue' : 'by data',
  })
  const { token, expiresInMs } = readAccessToken(issuer, text)
  return { value: token, usableUntil: deps.now() + expiresInMs - marginMs }
}

const ownTokenUri = 'https://oauth2.googleapis.com/token'

interface ServiceAccount {
  readonly email: string
  readonly privateKey: string
  readonly keyId: string | null
  readonly tokenUri: string
}

/** The parts of a service account file that a grant needs; `token_uri` may lead only where the egress guard allows. */
function readAccount(json: string): ServiceAccount {
  const file = parseRecord(json)
  if (file === null) throw malformed(accountField, 'is not a JSON object')
  const text = (name: string): string | null => (typeof file[name] === 'string' && file[name] !== '' ? file[name] : null)
  const email = text('client_email')
  const privateKey = text('private_key')
  if (email === null || privateKey === null) throw malformed(accountField, 'lacks client_email or private_key')
  return { email, privateKey, keyId: text('private_key_id'), tokenUri: text('token_uri') ?? ownTokenUri }
}

async function assertion({ email, privateKey, keyId, tokenUri }: ServiceAccount, now: number): Promise<string> {
  const issuedAt = Math.floor(now / 1000)
  const jwt = new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) })
    .setIssuer(email)
    .setAudience(tokenUri)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifeS)
  try {
    return await jwt.sign(await importPKCS8(privateKey, 'RS256'))
  } catch {
    throw malformed(accountField, 'holds a private key that is not a PKCS#8 RSA key')
  }
}
