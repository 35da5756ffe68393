import { z } from 'zod'
import type { ExpiringValue } from '../../../lib/expiring-cache.ts'
import type { SettledKeys } from '../../../lib/platform-identity.ts'
import type { MaybePromise } from '../../../lib/maybe-promise.ts'
import type { MetadataAnswer, MetadataQuestion } from '../../egress/metadata-services.ts'
import { assumeRole } from '../assume-role.ts'
import { cachesOf } from '../auth-caches.ts'
import type { AuthDeps } from '../auth-request.ts'
import { fingerprint } from '../credential.ts'
import type { AwsKeys } from '../sigv4.ts'
import { failed, parseRecord } from '../token-endpoint.ts'
import { assumeRoleByToken, readToken } from '../web-identity.ts'
import type { Workload } from './workload.ts'

const issuer = 'AWS'
/** The cache renews them minutes before; until then, and while that fails, they serve. */
const marginMs = 30_000

/**
 * Returns the keys of the workload's own identity, as AWS's SDKs find them: of the variables, by the token of the service account (IRSA),
 * from the service for containers (ECS, EKS Pod Identity), from the instance (IMDSv2). The first that is set up counts.
 */
export function awsIdentity(workload: Workload, region: string, deps: AuthDeps): MaybePromise<AwsKeys> {
  const { keys, webIdentity, container } = workload.aws
  if (keys !== null) return revealKeys(keys)
  if (webIdentity !== null) return assumeRoleByToken({ region, ...webIdentity }, deps)
  const read = container === null ? askInstance : askContainer
  return cachesOf(deps.egress).roles.get(fingerprint('aws workload', container?.url ?? null), deps.now(), () => read(workload))
}

/** Returns the keys that take on the role of a provider: those that the operator set aside for it, else the workload's own. */
export function assumingIdentity(workload: Workload, region: string, deps: AuthDeps): MaybePromise<AwsKeys> {
  const { assuming } = workload.aws
  if (assuming === null) return awsIdentity(workload, region, deps)
  const keys = revealKeys(assuming.keys)
  if (assuming.sourceArn === null) return keys
  return assumeRole({ keys, region: assuming.region ?? region, roleArn: assuming.sourceArn, externalId: assuming.externalId }, deps)
}

const revealKeys = ({ accessKeyId, secretAccessKey, sessionToken }: SettledKeys): AwsKeys => ({
  accessKeyId,
  secretAccessKey: secretAccessKey.reveal(),
  sessionToken: sessionToken?.reveal() ?? null,
})

const answered = z.object({
  AccessKeyId: z.string().min(1),
  SecretAccessKey: z.string().min(1),
  Token: z.string().nullish(),
  Expiration: z.iso.datetime({ offset: true }).nullish(),
})

function readKeys(text: string, from: string): ExpiringValue<AwsKeys> {
  const { success, data } = answered.safeParse(parseRecord(text))
  if (!success) throw failed(from, 'gave no credentials')
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: token, Expiration: end } = data
  const usableUntil = end ? Date.parse(end) - marginMs : Infinity
  return { value: { accessKeyId, secretAccessKey, sessionToken: token ?? null }, usableUntil }
}

async function askContainer({ aws: { container }, metadata }: Workload): Promise<ExpiringValue<AwsKeys>> {
  const from = `${issuer}'s service for containers`
  const { url, tokenFile } = container ?? { url: '', tokenFile: null }
  const { origin, pathname, search } = new URL(url)
  // The platform writes the file anew, so that it is read for each renewal.
  const proof = tokenFile === null ? null : await readToken(tokenFile, from)
  const headers: Record<string, string> = { accept: 'application/json', ...(proof !== null && { authorization: proof }) }
  const answer = await ask(metadata, { origin, method: 'GET', path: pathname + search, headers }, from)
  return readKeys(demandOk(answer, from), from)
}

const roles = '/latest/meta-data/iam/security-credentials/'

/** IMDSv2: a session token first, by which every question is asked. The first version, which needs none, is not used. */
async function askInstance({ aws: { instance }, metadata }: Workload): Promise<ExpiringValue<AwsKeys>> {
  const from = `${issuer}'s instance metadata`
  if (instance === null) throw failed(from, 'is not to be asked (AWS_EC2_METADATA_DISABLED), and no other identity is set up')
  const session = await ask(
    metadata,
    { origin: instance, method: 'PUT', path: '/latest/api/token', headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' } },
    from,
  )
  const headers = { 'x-aws-ec2-metadata-token': demandOk(session, from).trim() }
  const get = async (path: string) => demandOk(await ask(metadata, { origin: instance, method: 'GET', path, headers }, from), from)
  const [role = ''] = (await get(roles)).trim().split('\n', 1)
  if (!/^[\w+=,.@-]{1,128}$/.test(role)) throw failed(from, 'names no role')
  return readKeys(await get(roles + role), from)
}

async function ask(metadata: Workload['metadata'], question: MetadataQuestion, from: string): Promise<MetadataAnswer> {
  return metadata.ask(question).catch((error: unknown) => {
    throw failed(from, 'could not be reached', error)
  })
}

function demandOk({ status, text }: MetadataAnswer, from: string): string {
  if (status === 200) return text
  throw failed(from, `answered ${status}`)
}
