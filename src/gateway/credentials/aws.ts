import { hash } from 'node:crypto'
import { ApiError } from '../../lib/errors.ts'
import type { Credential } from '../providers/provider.ts'
import { assumeRole } from './assume-role.ts'
import type { AuthDeps, Authorized, AuthRequest } from './auth-request.ts'
import { field, malformed, requireField, requireKey } from './credential.ts'
import { amzTimestamp, signV4, type AwsKeys, type SigningScope } from './sigv4.ts'
import { eachHeader } from '../wire/header-list.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'

/** Signs with the given keys, or with those of the role that they may take on. A Bedrock API key goes as a bearer token. */
export function authorizeAws(request: AuthRequest, service: string, deps: AuthDeps): MaybePromise<Authorized> {
  const { credential, url } = request
  if (service === 'bedrock' && credential.key !== null && field(credential, 'aws_access_key_id') === null) {
    return { headers: ['authorization', `Bearer ${requireKey(credential)}`], path: url.path }
  }
  const scope = { region: regionOf(credential), service }
  const keys = keysOf(credential, scope.region, deps)
  return settled(keys, (taken) => signed(request, taken, { ...scope, timestamp: amzTimestamp(deps.now()) }))
}

function keysOf(credential: Credential, region: string, deps: AuthDeps): MaybePromise<AwsKeys> {
  const type = field(credential, 'aws_auth_type')
  if (type === 'serviceRole') {
    throw new ApiError('invalid_request', 'aws_auth_type serviceRole is not available here. Use accessKey or assumedRole.', {
      param: 'aws_auth_type',
    })
  }
  const keys: AwsKeys = {
    accessKeyId: accessKeyId(credential),
    secretAccessKey: requireField(credential, 'aws_secret_access_key'),
    sessionToken: field(credential, 'aws_session_token'),
  }
  const roleArn = type === 'assumedRole' ? requireField(credential, 'aws_role_arn') : field(credential, 'aws_role_arn')
  if (type === 'accessKey' || roleArn === null) return keys
  return assumeRole({ keys, region, roleArn, externalId: field(credential, 'aws_external_id') }, deps)
}

function signed({ method, url, headers, body }: AuthRequest, keys: AwsKeys, scope: SigningScope): Authorized {
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

/** Of the caller's headers, those that mean something to AWS. Proxies may change the others on the way. */
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

function regionOf(credential: Credential): string {
  const region = field(credential, 'aws_region') ?? 'us-east-1'
  if (/^[a-z0-9-]{1,40}$/.test(region)) return region
  throw malformed('aws_region', 'is not a region')
}
