import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { authorize } from '../../../../src/gateway/credentials/authorize.ts'
import { type Auth, sigv4 } from '../../../../src/gateway/providers/provider.ts'
import { ApiError } from '../../../../src/lib/errors.ts'
import { testSigning } from '../../../support/gateway.ts'
import { fakeEgress, ok } from './fake-egress.ts'

/** To which hosts the identity of the process is shown, when the operator names none. */
const clouds = {
  aws: { auth: sigv4('bedrock'), fields: { aws_auth_type: 'serviceRole' } },
  azure: { auth: { kind: 'azure' }, fields: { azure_auth_mode: 'workload', azure_entra_tenant_id: 't', azure_workload_client_id: 'c' } },
  google: { auth: { kind: 'google' }, fields: { vertex_auth_type: 'workload' } },
} satisfies Readonly<Record<string, { readonly auth: Auth; readonly fields: Readonly<Record<string, string>> }>>

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-hosts-'))
const token = path.join(folder, 'token')
writeFileSync(token, 'a.token')
test.after.always(() => rmSync(folder, { recursive: true }))

const { workload } = testSigning({
  AWS_ACCESS_KEY_ID: 'AKID',
  AWS_SECRET_ACCESS_KEY: 's',
  AZURE_FEDERATED_TOKEN_FILE: token,
  GCP_WIF_AUDIENCE: '//iam.googleapis.com/p',
  GCP_WIF_TOKEN_FILE: token,
})

async function isShown(cloud: keyof typeof clouds, origin: string): Promise<boolean> {
  const { auth, fields } = clouds[cloud]
  const egress = fakeEgress(() => ok({ access_token: 'given', expires_in: 3600 }))
  const request = { auth, credential: { key: null, fields }, method: 'POST', url: { origin, path: '/' }, headers: [], body: null }
  try {
    await authorize(request, { egress, now: Date.now, workload, storedBy: 'an-organisation' })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'forbidden' && egress.asked.length === 0) return false
    throw error
  }
}

for (const [cloud, origin] of [
  ['aws', 'https://bedrock-runtime.eu-west-1.amazonaws.com'],
  ['aws', 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn'],
  ['aws', 'https://bedrock-agent-runtime.us-gov-west-1.amazonaws.com'],
  ['aws', 'https://vpce-0198.bedrock-runtime.eu-west-1.vpce.amazonaws.com'],
  ['aws', 'https://runtime.sagemaker.eu-west-1.amazonaws.com'],
  ['azure', 'https://team.openai.azure.com'],
  ['azure', 'https://team.services.ai.azure.com'],
  ['azure', 'https://team.openai.azure.us'],
  ['azure', 'https://model.eastus2.inference.ai.azure.com'],
  ['google', 'https://aiplatform.googleapis.com'],
  ['google', 'https://europe-west4-aiplatform.googleapis.com'],
  ['google', 'https://aiplatform.eu.rep.googleapis.com'],
] as const)
  test(`the identity is shown to the cloud that gave it: ${origin}`, async (t) => t.true(await isShown(cloud, origin)))

for (const [cloud, origin] of [
  ['aws', 'http://bedrock-runtime.eu-west-1.amazonaws.com'],
  ['aws', 'https://evil.execute-api.eu-west-1.amazonaws.com'],
  ['aws', 'https://bedrock-runtime.elb.eu-west-1.amazonaws.com'],
  ['aws', 'https://bedrock-runtime.s3.eu-west-1.amazonaws.com'],
  ['aws', 'https://ec2-1-2-3-4.eu-west-1.compute.amazonaws.com'],
  ['aws', 'https://bedrock-runtime.eu-west-1.amazonaws.com.evil.example'],
  ['aws', 'https://bedrock-runtime.eu-west-1.xamazonaws.com'],
  ['aws', 'https://secretsmanager.evil.example'],
  ['azure', 'https://team.azure-api.net'],
  ['azure', 'https://team.eastus2.inference.ml.azure.com'],
  ['azure', 'https://openai.azure.com.evil.example'],
  ['azure', 'https://evilopenai.azure.com'],
  ['azure', 'https://team.blob.core.windows.net'],
  ['azure', 'https://team.vault.azure.net'],
  ['google', 'https://storage.googleapis.com'],
  ['google', 'https://secretmanager.googleapis.com'],
  ['google', 'https://evil-aiplatform.googleapis.com.evil.example'],
  ['google', 'https://aiplatform.evil.example'],
] as const)
  test(`the identity is shown to nobody else: ${origin}`, async (t) => t.false(await isShown(cloud, origin)))
