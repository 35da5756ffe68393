import type { SAML } from '@node-saml/node-saml'
import type { IdpMetadata, Provider } from '../../identity-providers/index.ts'
import { acceptedClockSkewMs } from './verify.ts'

interface CachedClient {
  readonly provider: Provider
  readonly metadata: IdpMetadata
  /** PEM; null: there is none. */
  readonly key: string | null
}

/** Makes the client of the library for one request. It sends no request itself: requests and answers travel by the browser. */
export async function samlClient({ provider, metadata, key }: CachedClient, requestId?: string): Promise<SAML> {
  const { SAML, ValidateInResponseTo } = await import('./packages.ts')
  const signs = key !== null && signsRequests(provider, metadata)
  return new SAML({
    issuer: provider.clientId,
    audience: provider.clientId,
    callbackUrl: provider.redirectUri,
    entryPoint: metadata.ssoUrl,
    idpIssuer: metadata.entityId,
    idpCert: [...metadata.certificates],
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs,
    // The provider chooses how it names and authenticates people.
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    signatureAlgorithm: 'sha256',
    // The journey keeps the ids of its requests.
    validateInResponseTo: ValidateInResponseTo.never,
    ...(requestId !== undefined && { generateUniqueId: () => requestId }),
    ...(signs && { privateKey: key }),
    ...(key !== null && { decryptionPvk: key }),
  })
}

/** Returns true if requests to a provider are signed. */
export const signsRequests = ({ saml }: Provider, { wantsSignedRequests }: IdpMetadata): boolean =>
  saml?.sign_requests ?? (wantsSignedRequests && saml?.sp_certificate !== null)
