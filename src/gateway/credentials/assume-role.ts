import { hash } from 'node:crypto'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { cachesOf } from './auth-caches.ts'
import type { AuthDeps } from './auth-request.ts'
import { awsHost } from './aws-endpoints.ts'
import { fingerprint } from './credential.ts'
import type { ExpiringValue } from '../../lib/expiring-cache.ts'
import { amzTimestamp, signV4, type AwsKeys } from './sigv4.ts'
import { failed, formType, postForm } from './token-endpoint.ts'

/** A role, and the keys of the identity that takes it on. */
export interface RoleRequest {
  readonly keys: AwsKeys
  readonly region: string
  readonly roleArn: string
  readonly externalId: string | null
}

const issuer = 'AWS STS'
/** The cache renews them minutes before; until then, and while that fails, they serve. */
const marginMs = 30_000

/** Temporary keys of a role, from AWS STS; kept until half a minute before they expire, and renewed minutes before. */
export function assumeRole(role: RoleRequest, deps: AuthDeps): MaybePromise<AwsKeys> {
  const { keys, region, roleArn, externalId } = role
  const key = fingerprint('aws', keys.accessKeyId, keys.secretAccessKey, keys.sessionToken, region, roleArn, externalId)
  return cachesOf(deps.egress).roles.get(key, deps.now(), () => fetchKeys(role, deps))
}

async function fetchKeys({ keys, region, roleArn, externalId }: RoleRequest, deps: AuthDeps): Promise<ExpiringValue<AwsKeys>> {
  const form = new URLSearchParams({ Action: 'AssumeRole', Version: '2011-06-15', RoleArn: roleArn, RoleSessionName: 'gatehouse' })
  if (externalId !== null) form.set('ExternalId', externalId)
  const origin = awsHost('sts', region, deps.workload)
  const body = form.toString()
  const headers = signedHeaders({ host: new URL(origin).host, body, timestamp: amzTimestamp(deps.now()) }, keys, region)
  return readRoleKeys(await postForm(deps.egress, { issuer, url: `${origin}/`, form: body, headers }))
}

function signedHeaders(call: { host: string; body: string; timestamp: string }, keys: AwsKeys, region: string): Record<string, string> {
  const own: Record<string, string> = { 'content-type': formType, 'x-amz-date': call.timestamp }
  if (keys.sessionToken !== null) own['x-amz-security-token'] = keys.sessionToken
  const request = {
    method: 'POST',
    path: '/',
    headers: [['host', call.host] as const, ...Object.entries(own)],
    payloadHash: hash('sha256', call.body),
  }
  return { ...own, authorization: signV4(request, keys, { region, service: 'sts', timestamp: call.timestamp }) }
}

/** Returns the keys in an XML answer of STS: four plain elements, none of which can hold markup. */
export function readRoleKeys(xml: string): ExpiringValue<AwsKeys> {
  const element = (name: string): string => new RegExp(`<${name}>([^<&]*)</${name}>`).exec(xml)?.[1]?.trim() ?? ''
  const keys = { accessKeyId: element('AccessKeyId'), secretAccessKey: element('SecretAccessKey'), sessionToken: element('SessionToken') }
  const expiresAt = Date.parse(element('Expiration'))
  if (Object.values(keys).includes('') || Number.isNaN(expiresAt)) throw failed(issuer, 'gave no credentials')
  return { value: keys, usableUntil: expiresAt - marginMs }
}
