import { hash } from 'node:crypto'
import type { Credential } from '../providers/provider.ts'
import { assumeRole } from './assume-role.ts'
import type { AuthDeps, AuthProof, AuthRequest } from './auth-request.ts'
import { regionOf } from './aws-endpoints.ts'
import { field, malformed, requireField, requireKey } from './credential.ts'
import { amzTimestamp, signV4, type AwsKeys, type SigningScope } from './sigv4.ts'
import { eachHeader } from '../wire/header-list.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { assumingIdentity, awsIdentity } from './workload/aws-identity.ts'
import { awsServices } from '../providers/aws-domain.ts'
import { demandTrusted, demandWorkload } from './workload/trusted-host.ts'
import type { Workload } from './workload/workload.ts'

/** Signs with the given keys, or with those of the role that they may take on. A Bedrock API key goes as a bearer token. */
export function authorizeAws(request: AuthRequest, service: string, deps: AuthDeps): MaybePromise<AuthProof> {
  const { credential, url } = request
  if (service === 'bedrock' && credential.key !== null && field(credential, 'aws_access_key_id') === null) {
    return { headers: ['authorization', `Bearer ${requireKey(credential)}`], path: url.path }
  }
  const scope = { region: regionOf(credential, deps.workload), service }
  const keys = keysOf(request, scope, deps)
  return settled(keys, (taken) => signed(request, taken, { ...scope, timestamp: amzTimestamp(deps.now()) }))
}

type Scope = Pick<SigningScope, 'region' | 'service'>

function keysOf({ credential, url }: AuthRequest, { region, service }: Scope, deps: AuthDeps): MaybePromise<AwsKeys> {
  const type = field(credential, 'aws_auth_type')
  if (type === 'serviceRole') return awsIdentity(demandAws({ service, origin: url.origin }, deps), region, deps)
  const roleArn = type === 'assumedRole' ? requireField(credential, 'aws_role_arn') : field(credential, 'aws_role_arn')
  const isOwn = type === 'assumedRole' && field(credential, 'aws_access_key_id') === null
  const keys = isOwn ? assumingIdentity(demandAws({ service, origin: url.origin }, deps), region, deps) : givenKeys(credential)
  if (type === 'accessKey' || roleArn === null) return keys
  const externalId = field(credential, 'aws_external_id')
  return settled(keys, (taken) => assumeRole({ keys: taken, region, roleArn, externalId }, deps))
}

/** Returns the workload, unless its signature would go to a host that is not one of AWS's. */
function demandAws({ service, origin }: { readonly service: string; readonly origin: string }, deps: AuthDeps): Workload {
  const workload = demandWorkload(deps, 'aws_auth_type')
  if (workload.aws.endpoints[service] !== origin) demandTrusted(origin, { param: 'aws_auth_type', services: awsServices }, workload)
  return workload
}

const givenKeys = (credential: Credential): AwsKeys => ({
  accessKeyId: accessKeyId(credential),
  secretAccessKey: requireField(credential, 'aws_secret_access_key'),
  sessionToken: field(credential, 'aws_session_token'),
})

function signed({ method, url, headers, body }: AuthRequest, keys: AwsKeys, scope: SigningScope): AuthProof {
  const payloadHash = hash('sha256', body ?? '')
  const own: [string, string][] = [
    ['x-amz-date', scope.timestamp],
    ['x-amz-content-sha256', payloadHash],
  ]
  if (keys.sessionToken !== null) own.push(['x-amz-security-token', keys.sessionToken])
  const covered: (readonly [string, string])[] = [['host', new URL(url.origin).host], ...own, ...callersOwn(headers)]
  const authorization = signV4({ method, path: url.path, headers: covered, payloadHash }, keys, scope)
  return { headers: [...own.flat(), 'authorization', authorization], path: url.path }
}

/** The caller's headers that mean something to AWS. Proxies may change the others on the way. */
function callersOwn(headers: readonly string[]): (readonly [string, string])[] {
  const kept: (readonly [string, string])[] = []
  eachHeader(headers, (sent, value) => {
    const name = sent.toLowerCase()
    if ((name === 'content-type' || name.startsWith('x-amz')) && !replaced.has(name)) kept.push([name, value])
  })
  return kept
}

/** The headers that we send ourselves, and the trace id, which AWS's own load balancers rewrite. */
const replaced = new Set(['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token', 'x-amzn-trace-id'])

function accessKeyId(credential: Credential): string {
  const id = requireField(credential, 'aws_access_key_id')
  if (/^\w{1,128}$/.test(id)) return id
  throw malformed('aws_access_key_id', 'is not an access key id')
}
