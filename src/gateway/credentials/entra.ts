import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { SignJWT } from 'jose'
import type { ExpiringValue } from '../../lib/expiring-cache.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { cachesOf } from './auth-caches.ts'
import type { AuthDeps } from './auth-request.ts'
import { fingerprint, malformed, pemText } from './credential.ts'
import { postForm, readAccessToken } from './token-endpoint.ts'

/** How an application proves to Entra that it is the one. */
export type EntraProof =
  | { readonly kind: 'secret'; readonly secret: string }
  /** A certificate and its private key, in PEM. */
  | { readonly kind: 'certificate'; readonly pem: string }
  /** The token of another issuer that the application trusts; read anew for each renewal. */
  | { readonly kind: 'assertion'; readonly file: string; readonly read: () => Promise<string> }

/** A grant of client credentials. `scope`: `https://vault.azure.net/.default`. */
export interface EntraGrant {
  readonly tenant: string
  readonly clientId: string
  readonly scope: string
  readonly proof: EntraProof
}

const issuer = 'Microsoft Entra'
const publicAuthority = 'https://login.microsoftonline.com'
const marginMs = 60_000

/** Returns an access token, kept until a minute before it expires. The authority is the operator's: a stored secret goes to no other. */
export function entraToken(grant: EntraGrant, deps: AuthDeps): MaybePromise<string> {
  const { tenant, clientId, scope, proof } = grant
  if (!/^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/.test(tenant)) throw malformed('azure_entra_tenant_id', 'is not a tenant id')
  const shown = proof.kind === 'secret' ? proof.secret : proof.kind === 'certificate' ? proof.pem : proof.file
  const key = fingerprint('azure', tenant, clientId, scope, proof.kind, shown)
  return cachesOf(deps.egress).tokens.get(key, deps.now(), () => fetchToken(grant, deps))
}

async function fetchToken({ tenant, clientId, scope, proof }: EntraGrant, deps: AuthDeps): Promise<ExpiringValue<string>> {
  const url = `${deps.workload?.azure.authority ?? publicAuthority}/${tenant}/oauth2/v2.0/token`
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    ...(await proofOf(proof, { url, clientId, now: deps.now() })),
    scope,
  }).toString()
  const { token, expiresInMs } = readAccessToken(issuer, await postForm(deps.egress, { issuer, url, form }))
  return { value: token, usableUntil: deps.now() + expiresInMs - marginMs }
}

interface SigningInput {
  readonly url: string
  readonly clientId: string
  readonly now: number
}

async function proofOf(proof: EntraProof, signing: SigningInput): Promise<Readonly<Record<string, string>>> {
  if (proof.kind === 'secret') return { client_secret: proof.secret }
  const assertion = proof.kind === 'assertion' ? await proof.read() : await signedAssertion(proof.pem, signing)
  return { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion: assertion }
}

/** learn.microsoft.com/entra/identity-platform/certificate-credentials */
async function signedAssertion(given: string, { url, clientId, now }: SigningInput): Promise<string> {
  const { key, thumbprint } = readCertificate(pemText(given))
  const issuedAt = Math.floor(now / 1000)
  return new SignJWT({})
    .setProtectedHeader({ alg: 'PS256', typ: 'JWT', 'x5t#S256': thumbprint })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(url)
    .setJti(uuidv7())
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt)
    .setExpirationTime(issuedAt + 600)
    .sign(key)
}

function readCertificate(pem: string) {
  const name = 'azure_entra_client_certificate'
  try {
    const key = createPrivateKey(pem)
    const thumbprint = createHash('sha256').update(new X509Certificate(pem).raw).digest('base64url')
    if (key.asymmetricKeyType === 'rsa') return { key, thumbprint }
  } catch {
    // The fault is reported below, without the key.
  }
  throw malformed(name, 'is not a certificate with its RSA key, both in PEM')
}
