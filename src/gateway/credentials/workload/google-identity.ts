import type { ExpiringValue } from '../../../lib/expiring-cache.ts'
import type { MaybePromise } from '../../../lib/maybe-promise.ts'
import { cachesOf } from '../auth-caches.ts'
import type { AuthDeps } from '../auth-request.ts'
import { fingerprint } from '../credential.ts'
import { awsSubject, federatedToken, type SubjectToken } from '../google-federation.ts'
import { failed, parseRecord, readAccessToken } from '../token-endpoint.ts'
import { readToken } from '../web-identity.ts'
import { awsIdentity } from './aws-identity.ts'
import type { Workload } from './workload.ts'

const issuer = "Google's metadata server"
const marginMs = 60_000
const path = '/computeMetadata/v1/instance/service-accounts/default/token'

/** The identity that the workload takes on at Google; null each: that of the settings. */
export interface GoogleIdentityRequest {
  readonly audience: string | null
  readonly serviceAccount: string | null
}

/**
 * Returns an access token of the workload's own identity: by workload identity federation when an audience is known, with the token in a
 * file or the identity at AWS as its proof; else from the metadata server of GKE and Compute Engine.
 */
export function googleIdentity(asked: GoogleIdentityRequest, workload: Workload, deps: AuthDeps): MaybePromise<string> {
  const { google } = workload
  const audience = asked.audience ?? google.audience
  if (audience === null) return metadataToken(workload, deps)
  const subject = () => workloadSubject({ audience, region: workload.aws.region ?? 'us-east-1' }, workload, deps)
  return federatedToken({ audience, serviceAccount: asked.serviceAccount ?? google.serviceAccount, subject }, deps)
}

/** Returns the proof of the workload's identity for Google: the token in a file or at an address, else its identity at AWS in a region. */
export async function workloadSubject(
  { audience, region }: { readonly audience: string; readonly region: string },
  workload: Workload,
  deps: AuthDeps,
): Promise<SubjectToken> {
  const { tokenFile, tokenUrl } = workload.google
  if (tokenFile !== null) return { type: jwtType, token: await readToken(tokenFile, 'Google') }
  if (tokenUrl !== null) return { type: jwtType, token: await tokenAt(tokenUrl, deps) }
  return awsSubject(await awsIdentity(workload, region, deps), { region, audience, now: deps.now() })
}

const jwtType = 'urn:ietf:params:oauth:token-type:jwt'

/** Asks the address of the operator's that gives the workload its token; over the guard, as everything but metadata services. */
async function tokenAt(url: string, { egress }: AuthDeps): Promise<string> {
  const from = 'the source of the workload token (GCP_WIF_TOKEN_URL)'
  const headers = { accept: 'application/json' }
  const { status, text } = await egress
    .exchange({ url, method: 'GET', headers, timeoutMs: 5000, named: 'by catalogue' })
    .catch((error: unknown) => {
      throw failed(from, 'could not be reached', error)
    })
  if (status !== 200) throw failed(from, `answered ${status}`)
  const { access_token: access, id_token: id, value } = parseRecord(text) ?? {}
  const token = [access, id, value, text.trim()].find((one) => typeof one === 'string' && /^[\x21-\x7e]+$/.test(one))
  if (typeof token !== 'string') throw failed(from, 'gave no token')
  return token
}

/** Returns an access token of the service account that GKE or Compute Engine gives the workload, kept until a minute before its end. */
export const metadataToken = (workload: Workload, deps: AuthDeps): MaybePromise<string> =>
  cachesOf(deps.egress).tokens.get(fingerprint('google metadata'), deps.now(), () => fetchToken(workload, deps))

async function fetchToken({ google, metadata }: Workload, deps: AuthDeps): Promise<ExpiringValue<string>> {
  const answer = await metadata
    .ask({ origin: google.instance, method: 'GET', path, headers: { 'metadata-flavor': 'Google' } })
    .catch((error: unknown) => {
      throw failed(issuer, 'could not be reached', error)
    })
  // An answer without this header comes from another service at this address.
  if (answer.headers['metadata-flavor'] !== 'Google') throw failed(issuer, 'is not what answers at its address')
  if (answer.status !== 200) throw failed(issuer, `answered ${answer.status}`)
  const { token, expiresInMs } = readAccessToken(issuer, answer.text)
  return { value: token, usableUntil: deps.now() + expiresInMs - marginMs }
}
