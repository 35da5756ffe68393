import { readFile } from 'node:fs/promises'
import type { ExpiringValue } from '../../lib/expiring-cache.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { readRoleKeys } from './assume-role.ts'
import { cachesOf } from './auth-caches.ts'
import type { AuthDeps } from './auth-request.ts'
import { awsHost } from './aws-endpoints.ts'
import { fingerprint } from './credential.ts'
import type { AwsKeys } from './sigv4.ts'
import { failed, postForm } from './token-endpoint.ts'

/** A role that a workload takes on by the token that its platform writes into a file (IRSA). */
export interface WebIdentity {
  readonly region: string
  readonly roleArn: string
  readonly tokenFile: string
}

const issuer = 'AWS STS'

/** Returns temporary keys of the role, kept until five minutes before they expire. The file is read again for each renewal. */
export function assumeRoleByToken(identity: WebIdentity, deps: AuthDeps): MaybePromise<AwsKeys> {
  const { region, roleArn, tokenFile } = identity
  const key = fingerprint('web identity', region, roleArn, tokenFile)
  return cachesOf(deps.egress).roles.get(key, deps.now(), () => fetchKeys(identity, deps))
}

async function fetchKeys({ region, roleArn, tokenFile }: WebIdentity, { egress, workload }: AuthDeps): Promise<ExpiringValue<AwsKeys>> {
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'gatehouse',
    WebIdentityToken: await readToken(tokenFile, issuer),
  })
  return readRoleKeys(await postForm(egress, { issuer, url: `${awsHost('sts', region, workload)}/`, form: form.toString() }))
}

/** Returns the token in a file that a platform keeps fresh. Rejects with `credential_failed` when there is none. */
export async function readToken(file: string, forWhom: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw failed(forWhom, `cannot be asked: the token file ${file} cannot be read`, error)
  })
  const token = text.trim()
  if (token === '' || /[^\x21-\x7e]/.test(token)) throw failed(forWhom, `cannot be asked: the token file ${file} holds no token`)
  return token
}
