import { authorize } from '../../credentials/authorize.ts'
import { awsHost, regionOf } from '../../credentials/aws-endpoints.ts'
import { parseRecord } from '../../credentials/token-endpoint.ts'
import { sigv4 } from '../../providers/provider.ts'
import { headerRecord } from '../../wire/header-list.ts'
import { secretFault } from '../fault.ts'
import type { SecretReference } from '../secret-reference.ts'
import { askManager, type ManagerDeps, refusedBy } from './ask-manager.ts'

const manager = 'AWS Secrets Manager'

/** Reads a secret of AWS Secrets Manager. `path`: its name or ARN; `version`: a version id, or a stage such as `AWSPREVIOUS`. */
export async function readAwsSecret({ auth, path, version }: SecretReference, deps: ManagerDeps): Promise<string> {
  const credential = { key: null, fields: auth }
  const origin = awsHost('secretsmanager', regionOf(credential, deps.workload), deps.workload)
  const body = JSON.stringify({ SecretId: path, ...versionOf(version) })
  const headers = ['content-type', 'application/x-amz-json-1.1', 'x-amz-target', 'secretsmanager.GetSecretValue']
  const signed = await authorize(
    { auth: sigv4('secretsmanager'), credential, method: 'POST', url: { origin, path: '/' }, headers, body: Buffer.from(body) },
    deps,
  )
  const request = { url: `${origin}/`, method: 'POST', headers: headerRecord([...headers, ...signed.headers]), body } as const
  const { status, text } = await askManager(manager, { ...request, named: 'by catalogue' }, deps)
  const answer = parseRecord(text)
  if (status !== 200) throw failure(status, answer?.['__type'])
  const { SecretString: secret, SecretBinary: bytes } = answer ?? {}
  if (typeof secret === 'string') return secret
  if (typeof bytes === 'string') return Buffer.from(bytes, 'base64').toString('utf8')
  throw secretFault('odd', `${manager} gave an answer without a secret.`)
}

function versionOf(version: string | null): Readonly<Record<string, string>> {
  if (version === null) return {}
  return /^AWS[A-Z]+$/.test(version) ? { VersionStage: version } : { VersionId: version }
}

/** Every refusal of AWS is a 400; its type decides which. */
function failure(status: number, type: unknown) {
  const code = typeof type === 'string' ? (/([A-Za-z]{1,64})$/.exec(type)?.[1] ?? null) : null
  if (code === 'ResourceNotFoundException') return refusedBy(manager, 404, code)
  if (code !== null && /AccessDenied|UnrecognizedClient|InvalidSignature|InvalidClientTokenId|ExpiredToken|IncompleteSignature/.test(code))
    return refusedBy(manager, 403, code)
  if (code === 'ThrottlingException' || code === 'DecryptionFailure') return refusedBy(manager, 503, code)
  return refusedBy(manager, status, code)
}
