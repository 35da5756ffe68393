import { hash } from 'node:crypto'
import { z } from 'zod'
import type { ExpiringValue } from '../../lib/expiring-cache.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { cachesOf } from './auth-caches.ts'
import type { AuthDeps } from './auth-request.ts'
import { fingerprint } from './credential.ts'
import { amzTimestamp, signV4, type AwsKeys } from './sigv4.ts'
import { failed, parseRecord, postForm, readAccessToken } from './token-endpoint.ts'

/** A workload of another cloud that acts as a Google service account (workload identity federation). */
export interface FederatedIdentity {
  /** `//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q` */
  readonly audience: string
  /** The service account that it acts as; null: the federated identity itself. */
  readonly serviceAccount: string | null
  /** Returns the proof of identity, made anew for each renewal. */
  readonly subject: () => Promise<SubjectToken>
}

/** A proof that Google's token service takes, and its type by RFC 8693. */
export interface SubjectToken {
  readonly type: string
  readonly token: string
}

const issuer = 'Google'
const scope = 'https://www.googleapis.com/auth/cloud-platform'
const marginMs = 60_000

/** Returns an access token, kept until a minute before it expires. */
export function federatedToken(identity: FederatedIdentity, deps: AuthDeps): MaybePromise<string> {
  const key = fingerprint('google federation', identity.audience, identity.serviceAccount)
  return cachesOf(deps.egress).tokens.get(key, deps.now(), () => fetchToken(identity, deps))
}

async function fetchToken({ audience, serviceAccount, subject }: FederatedIdentity, deps: AuthDeps): Promise<ExpiringValue<string>> {
  const proof = await subject()
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience,
    scope,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token: proof.token,
    subject_token_type: proof.type,
  }).toString()
  const { token, expiresInMs } = readAccessToken(
    issuer,
    await postForm(deps.egress, { issuer, url: 'https://sts.googleapis.com/v1/token', form }),
  )
  if (serviceAccount === null) return { value: token, usableUntil: deps.now() + expiresInMs - marginMs }
  return impersonate(serviceAccount, token, deps)
}

const impersonated = z.object({ accessToken: z.string().regex(/^[\x21-\x7e]+$/), expireTime: z.iso.datetime() })

async function impersonate(account: string, token: string, { egress }: AuthDeps): Promise<ExpiringValue<string>> {
  const text = await postForm(egress, {
    issuer,
    url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`,
    form: JSON.stringify({ scope: [scope] }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  })
  const { success, data } = impersonated.safeParse(parseRecord(text))
  if (!success) throw failed(issuer, 'gave no access token')
  return { value: data.accessToken, usableUntil: Date.parse(data.expireTime) - marginMs }
}

/** Returns the proof of an AWS identity: a signed request to AWS, by which Google asks AWS for the signer. */
export function awsSubject(keys: AwsKeys, { region, audience, now }: { region: string; audience: string; now: number }): SubjectToken {
  const host = `sts.${region}.amazonaws.com`
  const path = '/?Action=GetCallerIdentity&Version=2011-06-15'
  const timestamp = amzTimestamp(now)
  const headers: (readonly [string, string])[] = [
    ['host', host],
    ['x-amz-date', timestamp],
    ['x-goog-cloud-target-resource', audience],
    ...(keys.sessionToken === null ? [] : [['x-amz-security-token', keys.sessionToken] as const]),
  ]
  const signature = signV4({ method: 'POST', path, headers, payloadHash: hash('sha256', '') }, keys, { region, service: 'sts', timestamp })
  const all = [...headers, ['authorization', signature] as const].map(([key, value]) => ({ key, value }))
  const request = JSON.stringify({ url: `https://${host}${path}`, method: 'POST', headers: all })
  return { type: 'urn:ietf:params:aws:token-type:aws4_request', token: encodeURIComponent(request) }
}
