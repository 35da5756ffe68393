import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { createLocalJWKSet, exportJWK, importX509, jwtVerify } from 'jose'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, keyView, startGateway, testSigning, workspaceKey } from '../../support/gateway.ts'
import { type MetadataMood, type MetadataServices, startMetadataServices } from '../../support/metadata-services.ts'
import { awsKeys, type FakeAws, type FakeAzure, startFakeAws, startFakeAzure } from '../../support/secret-managers.ts'

/** Requests to providers that the identity of the process itself signs, through the whole data plane. */
let metadata: MetadataServices
let aws: FakeAws
let azure: FakeAzure
let emulator: Emulator
let folder: string
let certificate: string

type Fields = Readonly<Record<string, string>>

test.before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-identities-'))
  ;[metadata, aws, azure, emulator] = await Promise.all([
    startMetadataServices(),
    startFakeAws(),
    startFakeAzure((form) => form.get('client_assertion') !== 'wrong-token'),
    startEmulator(),
  ])
  emulator.script({ path: '/anything', behaviour: { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' } })
  aws.know(metadata.awsKeys)
  await writeFile(file('pod-token'), `${metadata.containerToken}\n`)
  await writeFile(file('token'), 'token-of-the-pod\n')
  const [key, pem] = [file('key.pem'), file('cert.pem')]
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', pem, '-days', '2', '-subj', '/CN=gatehouse']
  execFileSync('openssl', made, { stdio: 'ignore' })
  certificate = (await readFile(key, 'utf8')) + (await readFile(pem, 'utf8'))
})
test.after.always(async () => {
  await Promise.all([metadata?.stop(), aws?.stop(), azure?.stop(), emulator?.stop()])
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})
test.beforeEach(() => {
  metadata.mood = 'well'
})

const file = (name: string): string => path.join(folder, name)

/** The settings of a process with all of these services, which trusts hosts of this machine with its identity. */
const env = (more: Fields = {}): Fields => ({
  CLOUD_IDENTITY_HOSTS: '127.0.0.1',
  AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url,
  AZURE_POD_IDENTITY_AUTHORITY_HOST: metadata.url,
  GCE_METADATA_HOST: metadata.url,
  AWS_ENDPOINT_URL_STS: aws.url,
  AZURE_AUTHORITY_HOST: azure.url,
  ...more,
})

type Cloud = 'bedrock' | 'azure-openai' | 'vertex-ai'

/** The requests to each cloud, and the place of its provider. */
const clouds = {
  bedrock: { path: '/model/amazon.nova-micro-v1:0/converse', host: () => aws.url },
  'azure-openai': { path: '/chat/completions', host: () => emulator.url },
  'vertex-ai': { path: '/anything', host: () => emulator.url },
}

interface Asked {
  readonly status: number
  readonly text: string
  /** The request as the provider got it; null: none reached it. */
  readonly authorization: string | null
}

function providerCalls(cloud: Cloud): readonly { readonly headers: { readonly authorization?: string | undefined } }[] {
  return cloud === 'bedrock' ? aws.calls.filter(({ url }) => url.startsWith('/model/')) : emulator.requests
}

async function ask(bed: GatewayBed, cloud: Cloud, headers: Fields = {}): Promise<Asked> {
  const before = providerCalls(cloud).length
  const answer = await fetch(`${bed.origin}/v1${clouds[cloud].path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': workspaceKey, 'x-service-provider': '@stored', ...headers },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }),
  })
  const text = await answer.text()
  return { status: answer.status, text, authorization: providerCalls(cloud)[before]?.headers.authorization ?? null }
}

interface Given {
  readonly cloud: Cloud
  readonly fields: Fields
  readonly env?: Fields
  readonly host?: string
}

const open = ({ cloud, fields, env: given = env(), host = clouds[cloud].host() }: Given): Promise<GatewayBed> =>
  startGateway({
    providers: { stored: { provider: cloud, credential: { key: null, fields }, customHost: host } },
    signing: testSigning(given),
  })

async function within<T>(given: Given, work: (bed: GatewayBed) => Promise<T>): Promise<T> {
  const bed = await open(given)
  try {
    return await work(bed)
  } finally {
    await bed.stop()
  }
}

const service: Fields = { aws_auth_type: 'serviceRole', aws_region: 'eu-west-1' }

for (const [title, more, id] of [
  ['of the instance, by IMDSv2', () => ({}), 'ASIAINSTANCE'],
  [
    'of the pod (EKS Pod Identity), with the token in a file',
    () => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${metadata.url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('pod-token'),
    }),
    'ASIAINSTANCE',
  ],
  [
    'of the service account (IRSA)',
    () => ({ AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod', AWS_WEB_IDENTITY_TOKEN_FILE: file('token') }),
    /^ASIA\d+$/,
  ],
  ['of the variables', () => ({ AWS_ACCESS_KEY_ID: awsKeys.id, AWS_SECRET_ACCESS_KEY: awsKeys.secret }), awsKeys.id],
] as const)
  test.serial(`Bedrock takes what is signed by the role ${title}`, async (t) => {
    const { status, text, authorization } = await within({ cloud: 'bedrock', fields: service, env: env(more()) }, (bed) =>
      ask(bed, 'bedrock'),
    )
    t.is(status, 200, text)
    const [, signedBy = ''] = /Credential=(\w+)\/\d+\/eu-west-1\/bedrock\//.exec(authorization ?? '') ?? []
    if (typeof id === 'string') t.is(signedBy, id)
    else t.regex(signedBy, id)
  })

test.serial('Bedrock takes what is signed by the role of the task (ECS), which a path at a fixed address gives', async (t) => {
  const secretPath = '/v2/credentials/7f1a2b3c-0000-4000-8000-000000000000'
  const signing = testSigning(env({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: secretPath }))
  const origins: string[] = []
  const bed = await startGateway({
    providers: { stored: { provider: 'bedrock', credential: { key: null, fields: service }, customHost: aws.url } },
    signing: {
      ...signing,
      workload: {
        ...signing.workload,
        metadata: {
          ask(question) {
            origins.push(question.origin)
            return signing.workload.metadata.ask({ ...question, origin: metadata.url })
          },
        },
      },
    },
  })
  t.teardown(() => bed.stop())
  const before = metadata.asked.length
  const answers = [await ask(bed, 'bedrock'), await ask(bed, 'bedrock')]
  for (const { status, text, authorization } of answers) {
    t.is(status, 200, text)
    t.regex(authorization ?? '', /Credential=ASIAINSTANCE\//)
  }
  t.deepEqual([origins, metadata.asked.slice(before)], [['http://169.254.170.2'], [`GET ${secretPath}`]])
})

test.serial('keys of the instance are asked for once for all requests, by a session of IMDSv2', async (t) => {
  const before = metadata.asked.length
  await within({ cloud: 'bedrock', fields: service }, async (bed) => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(bed, 'bedrock')))
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
  })
  const roles = '/latest/meta-data/iam/security-credentials/'
  t.deepEqual(metadata.asked.slice(before), ['PUT /latest/api/token', `GET ${roles}`, `GET ${roles}gateway-role`])
})

test.serial('a role of another account is taken on by the own one, with its external id', async (t) => {
  const before = aws.assumed.length
  const fields = {
    aws_auth_type: 'assumedRole',
    aws_role_arn: 'arn:aws:iam::2:role/models',
    aws_external_id: 'from-us',
    aws_region: 'us-west-2',
  }
  const { status, text } = await within({ cloud: 'bedrock', fields }, (bed) => ask(bed, 'bedrock'))
  t.is(status, 200, text)
  t.like(Object.fromEntries(aws.assumed[before] ?? []), { Action: 'AssumeRole', RoleArn: fields.aws_role_arn, ExternalId: 'from-us' })
})

test.serial('the operator can set keys and a role aside by which roles of providers are taken on', async (t) => {
  const before = aws.assumed.length
  const [questions, calls] = [metadata.asked.length, aws.calls.length]
  const more = {
    AWS_ASSUME_ROLE_ACCESS_KEY_ID: awsKeys.id,
    AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: awsKeys.secret,
    AWS_ASSUME_ROLE_SOURCE_ARN: 'arn:aws:iam::1:role/source',
    AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID: 'source-id',
    AWS_ASSUME_ROLE_REGION: 'ap-south-1',
  }
  const fields = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::2:role/models', aws_region: 'us-west-2' }
  const { status, text } = await within({ cloud: 'bedrock', fields, env: env(more) }, (bed) => ask(bed, 'bedrock'))
  t.is(status, 200, text)
  t.deepEqual(
    aws.assumed.slice(before).map((form) => [form.get('RoleArn'), form.get('ExternalId')]),
    [
      [more.AWS_ASSUME_ROLE_SOURCE_ARN, 'source-id'],
      [fields.aws_role_arn, null],
    ],
  )
  t.deepEqual(
    aws.calls.slice(calls).map(({ headers }) => /Credential=\w+\/\d+\/([\w-]+\/\w+)/.exec(headers.authorization ?? '')?.[1]),
    ['ap-south-1/sts', 'us-west-2/sts', 'us-west-2/bedrock'],
  )
  t.is(metadata.asked.length, questions)
})

const appService = (): Fields => ({ IDENTITY_ENDPOINT: `${metadata.url}/msi/token`, IDENTITY_HEADER: metadata.appServiceHeader })

for (const [title, fields, more, expected] of [
  ['the machine', { azure_auth_mode: 'managed' }, () => ({}), /^Bearer azure-system-https:\/\/cognitiveservices\.azure\.com-\d+$/],
  [
    'a user-assigned identity',
    { azure_auth_mode: 'managed', azure_managed_client_id: 'an-identity' },
    () => ({}),
    /^Bearer azure-an-identity-https:/,
  ],
  [
    'a user-assigned identity of the settings, for a scope of its own',
    { azure_auth_mode: 'managed', azure_entra_scope: 'https://ai.azure.com/.default' },
    () => ({ AZURE_MANAGED_CLIENT_ID: 'set' }),
    /^Bearer azure-set-https:\/\/ai\.azure\.com-/,
  ],
  ['App Service', { azure_auth_mode: 'managed' }, appService, /^Bearer azure-system-https:/],
  [
    'the workload, by the token in its file',
    { azure_auth_mode: 'workload' },
    () => ({ AZURE_TENANT_ID: 'tenant', AZURE_CLIENT_ID: 'application', AZURE_FEDERATED_TOKEN_FILE: file('token') }),
    /^Bearer entra-/,
  ],
] as const)
  test.serial(`Azure OpenAI gets a token of ${title}`, async (t) => {
    const grants = azure.grants.length
    const { status, text, authorization } = await within({ cloud: 'azure-openai', fields, env: env(more()) }, (bed) =>
      ask(bed, 'azure-openai'),
    )
    t.is(status, 200, text)
    t.regex(authorization ?? '', expected)
    if (fields.azure_auth_mode === 'workload')
      t.like(Object.fromEntries(azure.grants[grants] ?? []), { client_id: 'application', client_assertion: 'token-of-the-pod' })
  })

test.serial('an application proves itself by its certificate, and the private key stays here', async (t) => {
  const grants = azure.grants.length
  const fields = {
    azure_auth_mode: 'entra',
    azure_entra_tenant_id: 'tenant',
    azure_entra_client_id: 'application',
    azure_entra_client_certificate: certificate,
  }
  const { status, text } = await within({ cloud: 'azure-openai', fields }, (bed) => ask(bed, 'azure-openai'))
  t.is(status, 200, text)
  const form = azure.grants[grants]
  const jwk = {
    ...(await exportJWK(await importX509(certificate.slice(certificate.indexOf('-----BEGIN CERT')), 'PS256', { extractable: true }))),
    alg: 'PS256',
  }
  const { payload, protectedHeader } = await jwtVerify(form?.get('client_assertion') ?? '', createLocalJWKSet({ keys: [jwk] }), {
    audience: `${azure.url}/tenant/oauth2/v2.0/token`,
    issuer: 'application',
    subject: 'application',
  })
  t.is(typeof protectedHeader['x5t#S256'], 'string')
  t.true((payload.exp ?? 0) - (payload.iat ?? 0) <= 600)
  t.false([...(form?.values() ?? [])].some((value) => value.includes('PRIVATE')))
})

test.serial('Vertex gets a token of the metadata server, which is renewed before its end', async (t) => {
  await within({ cloud: 'vertex-ai', fields: { vertex_auth_type: 'workload', vertex_project_id: 'p' } }, async (bed) => {
    const first = await ask(bed, 'vertex-ai')
    t.regex(first.authorization ?? '', /^Bearer google-\d+$/, first.text)
    t.is((await ask(bed, 'vertex-ai')).authorization, first.authorization)
  })
  metadata.lifeS = 60
  await within({ cloud: 'vertex-ai', fields: { vertex_auth_type: 'workload' } }, async (bed) => {
    const first = await ask(bed, 'vertex-ai')
    t.not((await ask(bed, 'vertex-ai')).authorization, first.authorization)
  }).finally(() => (metadata.lifeS = 3600))
})

const everyCloud: readonly Given[] = [
  { cloud: 'bedrock', fields: service },
  { cloud: 'azure-openai', fields: { azure_auth_mode: 'managed' } },
  { cloud: 'vertex-ai', fields: { vertex_auth_type: 'workload' } },
]

for (const mood of ['hang', 'throttled', 'denied', 'odd'] satisfies MetadataMood[])
  for (const given of everyCloud)
    test.serial(
      `a metadata service that is ${mood}: ${given.cloud} is asked for nothing, and the caller is told; then it works`,
      async (t) => {
        await within(given, async (bed) => {
          metadata.mood = mood
          const began = performance.now()
          const { status, text, authorization } = await ask(bed, given.cloud)
          t.is(status, 502, text)
          t.like(JSON.parse(text), { error: { code: 'credential_failed' } })
          t.is(authorization, null)
          t.true(performance.now() - began < 3500)
          t.notRegex(text, /canary|session|169\.254|127\.0\.0\.1/)
          metadata.mood = 'well'
          t.is((await ask(bed, given.cloud)).status, 200)
        })
      },
    )

test.serial('a token that is held serves on while the service is away', async (t) => {
  for (const given of everyCloud)
    await within(given, async (bed) => {
      t.is((await ask(bed, given.cloud)).status, 200)
      metadata.mood = 'hang'
      t.is((await ask(bed, given.cloud)).status, 200)
      metadata.mood = 'well'
    })
})

test.serial('the token of the pod is read anew: a file that is replaced counts, and one that is gone is told', async (t) => {
  const more = { AZURE_TENANT_ID: 'tenant', AZURE_CLIENT_ID: 'app', AZURE_FEDERATED_TOKEN_FILE: file('replaced') }
  const given: Given = { cloud: 'azure-openai', fields: { azure_auth_mode: 'workload' }, env: env(more) }
  await within(given, async (bed) => {
    const missing = await ask(bed, 'azure-openai')
    t.like(JSON.parse(missing.text), { error: { code: 'credential_failed' } })
    await writeFile(file('replaced'), 'wrong-token')
    const refused = await ask(bed, 'azure-openai')
    t.is(refused.status, 502)
    t.notRegex(refused.text, /wrong-token|canary/)
    await writeFile(file('replaced'), 'new-token')
    t.is((await ask(bed, 'azure-openai')).status, 200)
    t.is(azure.grants.at(-1)?.get('client_assertion'), 'new-token')
  })
})

/** Everything by which a caller could ask for the identity of the process. */
const wishes: readonly (readonly [cloud: Cloud, headers: Fields])[] = [
  ['bedrock', { 'x-service-aws-auth-type': 'serviceRole' }],
  ['bedrock', { 'x-service-aws-auth-type': 'assumedRole', 'x-service-aws-role-arn': 'arn:aws:iam::2:role/models' }],
  ['azure-openai', { 'x-service-azure-auth-mode': 'managed' }],
  ['azure-openai', { 'x-service-azure-auth-mode': 'workload' }],
  ['azure-openai', { 'x-service-azure-auth-mode': 'entraFederated' }],
  ['vertex-ai', { 'x-service-vertex-auth-type': 'workload' }],
  ['vertex-ai', { 'x-service-vertex-auth-type': 'workload', 'x-service-vertex-wif-audience': '//iam.googleapis.com/x' }],
]

const named = (headers: Fields): Fields =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace('x-service-', '').replaceAll('-', '_'), value]))

for (const [cloud, wish] of wishes)
  test.serial(`a caller without a stored credential never gets the identity: ${cloud} ${JSON.stringify(wish)}`, async (t) => {
    const stored: Given = { cloud: 'azure-openai', fields: {} }
    await within(stored, async (bed) => {
      const questions = metadata.asked.length
      const calls = aws.calls.length
      const grants = azure.grants.length
      const host = { 'x-service-custom-host': clouds[cloud].host() }
      const config = { provider: cloud, custom_host: clouds[cloud].host(), ...named(wish) }
      for (const headers of [
        { 'x-service-provider': cloud, ...host, ...wish },
        { 'x-service-provider': cloud, ...wish },
        { 'x-service-provider': '', 'x-service-config': JSON.stringify(config) },
      ]) {
        const { status, text, authorization } = await ask(bed, cloud, headers)
        t.true(status === 403 || status === 400, `${status} ${text}`)
        t.is(authorization, null)
      }
      t.is(metadata.asked.length, questions)
      t.is(aws.calls.length, calls)
      t.is(azure.grants.length, grants)
    })
  })

test.serial('a caller cannot turn a stored key into the identity, whatever headers or config say', async (t) => {
  const given: Given = { cloud: 'bedrock', fields: { aws_access_key_id: awsKeys.id, aws_secret_access_key: awsKeys.secret } }
  await within(given, async (bed) => {
    const questions = metadata.asked.length
    const config = JSON.stringify({ provider: '@stored', aws_auth_type: 'serviceRole' })
    for (const headers of [{ 'x-service-aws-auth-type': 'serviceRole' }, { 'x-service-provider': '', 'x-service-config': config }]) {
      const { authorization } = await ask(bed, 'bedrock', headers)
      if (authorization !== null) t.true(authorization.includes(`Credential=${awsKeys.id}/`))
    }
    t.is(metadata.asked.length, questions)
  })
})

/** Asks a process that offers its identity to these organisations. */
const askFor = (given: Given, organisations: string): Promise<Asked> =>
  within({ ...given, env: env({ CLOUD_IDENTITY_ORGANISATIONS: organisations }) }, (bed) => ask(bed, given.cloud))

for (const given of everyCloud) {
  test.serial(`an operator who offers no identity: ${given.cloud} is refused`, async (t) => {
    const questions = metadata.asked.length
    const { status, text } = await within({ ...given, env: env({ CLOUD_IDENTITIES: 'OFF' }) }, (bed) => ask(bed, given.cloud))
    t.is(status, 403)
    t.true(text.includes('CLOUD_IDENTITIES'))
    t.is(metadata.asked.length, questions)
  })

  test.serial(`the identity is kept for the organisations that the operator names: ${given.cloud}`, async (t) => {
    const questions = metadata.asked.length
    const { status, text } = await askFor(given, randomUUID())
    t.is(status, 403)
    t.true(text.includes('CLOUD_IDENTITY_ORGANISATIONS'))
    t.is(metadata.asked.length, questions)
    t.is((await askFor(given, `${randomUUID()},${keyView.organisationId.toUpperCase()}`)).status, 200)
  })

  test.serial(`neither keys nor tokens of the identity are in the log: ${given.cloud}`, async (t) => {
    await within(given, async (bed) => {
      t.is((await ask(bed, given.cloud)).status, 200)
      t.is(bed.logged.length, 1)
      t.notRegex(JSON.stringify(bed.logged), /a secret of the instance|session-of-the-instance|azure-system|google-\d/)
    })
  })

  test.serial(`who stores a host of theirs gets no proof of the identity: ${given.cloud}`, async (t) => {
    const { CLOUD_IDENTITY_HOSTS: _, ...untrusting } = env()
    const questions = metadata.asked.length
    const { status, text, authorization } = await within({ ...given, env: untrusting }, (bed) => ask(bed, given.cloud))
    t.is(status, 403)
    t.true(text.includes('CLOUD_IDENTITY_HOSTS'))
    t.is(authorization, null)
    t.is(metadata.asked.length, questions)
  })

  test.serial(`metadata services are reached by nothing else: ${given.cloud}`, async (t) => {
    for (const host of ['http://169.254.169.254', 'http://169.254.170.2', 'http://[fd00:ec2::254]', 'http://metadata.google.internal']) {
      const stored = await within({ ...given, host, env: env({ CLOUD_IDENTITY_HOSTS: '127.0.0.1,169.254.169.254' }) }, (bed) =>
        ask(bed, given.cloud),
      )
      t.like(JSON.parse(stored.text), { error: { code: 'blocked_host' } })
    }
  })
}
