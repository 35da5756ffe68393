// Proves the reading of secrets against real managers: `npm run secret-managers`. AWS Secrets Manager and STS are moto (Python), which checks every
// signature and every right as AWS does; HashiCorp Vault is built from its Go module, and OpenBao, its fork, comes as a Python package. SKIPPED where
// the machine has no Python or no Go.
// Azure Key Vault has no server to run; the tests emulate it.
import { spawn } from 'node:child_process'
import { freePort } from '../src/app/database/embedded/port.ts'
import { workloadOf } from '../src/app/secret-managers/workload-of.ts'
import { loadConfig } from '../src/config/index.ts'
import { createEgress } from '../src/gateway/egress/create-egress.ts'
import type { Egress } from '../src/gateway/egress/egress.ts'
import { reasonOf } from '../src/gateway/secrets/fault.ts'
import { readSecret } from '../src/gateway/secrets/read-secret.ts'
import type { ManagerType, SecretReference } from '../src/gateway/secrets/secret-reference.ts'
import { Report } from './report.ts'
import { openBao, vault } from './secret-managers/server.ts'
import { proveVault } from './secret-managers/vault.ts'
import { answering, demand, moto, pythonProgram, reasonIn } from './tools.ts'

const report = new Report('secret managers')

type Fields = Readonly<Record<string, string>>

/** A secret in a manager. */
interface Wanted {
  readonly path: string
  readonly version?: string
  readonly auth: Fields
}

/** Reads secrets of a manager as a process with these settings does, each time with connections and tokens of its own. */
const readerOf = (manager: ManagerType, env: Fields) => {
  const { identity } = loadConfig({ DB_HOST: 'localhost', ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), ...env })
  const workload = workloadOf(identity, new Set())
  return async ({ path, version, auth }: Wanted): Promise<string> => {
    const egress: Egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 5_000 })
    const reference: SecretReference = {
      id: 'a',
      organisationId: 'o',
      slug: 'a',
      manager,
      auth,
      path,
      version: version ?? null,
      secretKey: null,
      fingerprint: 'a',
    }
    try {
      return await readSecret(reference, { egress, now: Date.now, workload, storedBy: 'o', timeoutMs: 10_000 })
    } finally {
      await egress.close()
    }
  }
}

type Read = ReturnType<typeof readerOf>

async function isRefused(read: Read, wanted: Wanted, reason: string): Promise<void> {
  const fault = await read(wanted).then(
    (value) => `it gave ${value}`,
    (error: unknown) => `${reasonOf(error)} (${reasonIn(error)})`,
  )
  demand(fault.startsWith(reason), `it must be ${reason}, and was: ${fault}`)
}

/** Asks moto without a good signature, as long as it takes such requests. */
async function setUp(url: string, service: string, form: Fields, target?: string): Promise<string> {
  const scope = `Credential=setup/20260101/us-east-1/${service}/aws4_request`
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=0`,
      'content-type': target === undefined ? 'application/x-www-form-urlencoded' : 'application/x-amz-json-1.1',
      ...(target !== undefined && { 'x-amz-target': target }),
    },
    body: target === undefined ? new URLSearchParams(form).toString() : JSON.stringify(form),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${service} answered ${answer.status}: ${text.slice(0, 300)}`)
  return text
}

const iam = (url: string, Action: string, fields: Fields): Promise<string> =>
  setUp(url, 'iam', { Action, Version: '2010-05-08', ...fields })
const secretsManager = (url: string, action: string, fields: Fields): Promise<string> =>
  setUp(url, 'secretsmanager', fields, `secretsmanager.${action}`)

const policy = (Action: string, Resource = '*'): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource }] })

const between = (text: string, name: string): string => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1] ?? ''

async function userWith(url: string, UserName: string, rights: string | null): Promise<Fields> {
  await iam(url, 'CreateUser', { UserName })
  if (rights !== null) await iam(url, 'PutUserPolicy', { UserName, PolicyName: 'rights', PolicyDocument: policy(rights) })
  const made = await iam(url, 'CreateAccessKey', { UserName })
  return { aws_access_key_id: between(made, 'AccessKeyId'), aws_secret_access_key: between(made, 'SecretAccessKey') }
}

/** Makes people, a role and secrets; from then on moto takes signed requests alone. */
async function prepare(url: string) {
  const [reader, assumer, nobody] = [
    await userWith(url, 'reader', 'secretsmanager:GetSecretValue'),
    await userWith(url, 'assumer', 'sts:AssumeRole'),
    await userWith(url, 'nobody', null),
  ]
  const trust = JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { AWS: '*' }, Action: 'sts:AssumeRole' }],
  })
  const role = between(await iam(url, 'CreateRole', { RoleName: 'reader', AssumeRolePolicyDocument: trust }), 'Arn')
  await iam(url, 'PutRolePolicy', { RoleName: 'reader', PolicyName: 'rights', PolicyDocument: policy('secretsmanager:GetSecretValue') })
  const made = JSON.parse(await secretsManager(url, 'CreateSecret', { Name: 'team/key', SecretString: 'first' })) as {
    ARN: string
    VersionId: string
  }
  await secretsManager(url, 'PutSecretValue', { SecretId: 'team/key', SecretString: 'größe ☀' })
  await secretsManager(url, 'CreateSecret', { Name: 'bytes', SecretBinary: Buffer.from('binary').toString('base64') })
  const ends = await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: '0' })
  demand(ends.ok, `moto does not begin to check signatures: ${ends.status}`)
  return { reader, assumer, nobody, role, arn: made.ARN, first: made.VersionId }
}

async function proveAws(): Promise<void> {
  const name = 'AWS Secrets Manager and STS at moto'
  const program = await pythonProgram(moto, 'moto_server').catch((error: unknown) => {
    report.skip(name, `the server cannot be had here: ${reasonIn(error)}`)
    return null
  })
  if (program === null) return
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  try {
    const ready = await report.check(`${name}: starts, with people, a role and secrets`, async () => {
      await answering(url, child)
      return prepare(url)
    })
    if (ready === null) return
    const read = readerOf('aws_sm', { AWS_ENDPOINT_URL_STS: url, AWS_ENDPOINT_URL_SECRETS_MANAGER: url })
    await proveKeys(name, read, ready)
    await proveRoles(name, read, ready)
  } finally {
    child.kill('SIGKILL')
  }
}

type Ready = Awaited<ReturnType<typeof prepare>>

async function proveKeys(name: string, read: Read, { reader, nobody, arn, first }: Ready): Promise<void> {
  const auth = { aws_auth_type: 'accessKey', aws_region: 'us-east-1', ...reader }
  await report.check(`${name}: a key reads a secret by name and by ARN, its bytes, and each of its versions`, async () => {
    for (const [wanted, expected] of [
      [{ path: 'team/key' }, 'größe ☀'],
      [{ path: arn }, 'größe ☀'],
      [{ path: 'team/key', version: 'AWSPREVIOUS' }, 'first'],
      [{ path: 'team/key', version: first }, 'first'],
      [{ path: 'bytes' }, 'binary'],
    ] as const) {
      const value = await read({ ...wanted, auth })
      demand(value === expected, `${JSON.stringify(wanted)} gave ${value}`)
    }
  })
  await report.check(`${name}: a wrong key, one without the right, and a secret that is not there are told apart`, async () => {
    await isRefused(read, { path: 'team/key', auth: { ...auth, aws_secret_access_key: 'another' } }, 'denied')
    await isRefused(read, { path: 'team/key', auth: { ...auth, ...nobody } }, 'denied')
    await isRefused(read, { path: 'nothing', auth }, 'missing')
  })
}

async function proveRoles(name: string, read: Read, { assumer, nobody, role }: Ready): Promise<void> {
  const auth = { aws_auth_type: 'assumedRole', aws_region: 'us-east-1', aws_role_arn: role, aws_external_id: 'gatehouse', ...assumer }
  await report.check(`${name}: a role that a key takes on at STS reads a secret`, async () => {
    const value = await read({ path: 'team/key', auth })
    demand(value === 'größe ☀', `it gave ${value}`)
  })
  await report.check(`${name}: who may not take on the role reads nothing`, () =>
    isRefused(read, { path: 'team/key', auth: { ...auth, ...nobody } }, 'denied'),
  )
}

await proveAws()
for (const kind of [vault, openBao]) await proveVault(report, kind)
report.end()
