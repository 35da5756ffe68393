// An installation reaches its configured hosts, and no other.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { root } from '../../support/cli.ts'
import { openBrowser, publicUrl } from '../../support/oidc/browser.ts'
import { startFaultyIssuer } from '../../support/oidc/faulty-issuer.ts'
import { awsKeys, azureApplication, startFakeAws, startFakeAzure, startFakeVault } from '../../support/secret-managers.ts'
import { openSamlBrowser } from '../../support/saml/browser.ts'
import { samlpIdp } from '../../support/saml/real-idps.ts'
import { startEmulator, type Emulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { startMetadataServices } from '../../support/metadata-services.ts'
import { adminKey, startGatehouse, workspaceKey } from '../../support/process.ts'

const recorder = path.join(root, 'test/support/connection-recorder.mjs')

/** The arguments of a recorded program, and its actions so far. */
function recording(t: ExecutionContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-connections-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'connections')
  writeFileSync(file, '')
  return {
    env: { NODE_OPTIONS: `--import=${recorder}`, CONNECTIONS: file },
    read: () => [...new Set(readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean))].toSorted(),
  }
}

test('the recorder sees what goes out, in whatever way', async (t) => {
  const { env, read } = recording(t)
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const script = `
    import http from 'node:http'; import net from 'node:net'; import tls from 'node:tls'; import dgram from 'node:dgram'; import dns from 'node:dns'
    const quiet = (emitter) => emitter.on('error', () => {})
    quiet(http.get('http://127.0.0.1:1/')); quiet(net.connect(2, '127.0.0.1')); quiet(new net.Socket()).connect(3, '127.0.0.1'); quiet(tls.connect({ port: 4, host: '127.0.0.1' }))
    dns.lookup('a.invalid', () => {}); dns.promises.resolve4('b.invalid').catch(() => {})
    const socket = dgram.createSocket('udp4'); socket.send('x', 5, '127.0.0.1', () => socket.close())
    await fetch('http://127.0.0.1:${port}/')
    await fetch('http://c.invalid/').catch(() => {})`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH: process.env['PATH'], ...env },
    timeout: 20_000,
  })
  const seen = read()
  const expected = ['connect 127.0.0.1:1', 'connect 127.0.0.1:2', 'connect 127.0.0.1:3', 'connect 127.0.0.1:4', `connect 127.0.0.1:${port}`]
  for (const line of [...expected, 'resolve a.invalid', 'resolve b.invalid', 'connect c.invalid:80', 'datagram 5:127.0.0.1'])
    t.true(seen.includes(line), line)
})

test('an installation at work connects to its database and to the provider that it was given', async (t) => {
  const { env, read } = recording(t)
  const emulator = await startEmulator()
  t.teardown(() => emulator.stop())
  const gatehouse = await startGatehouse({ env: { ...env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' } })
  t.teardown(() => gatehouse.stop())
  const call = async (at: string, key: string, body?: object) => {
    const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
    const answer = await fetch(`${gatehouse.origin}${at}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
    t.true(answer.ok, `${at}: ${await answer.clone().text()}`)
    return answer
  }
  await call('/v1/integrations', adminKey, {
    name: 'inside',
    slug: 'inside',
    ai_provider_id: 'openai',
    key: 'sk-of-the-inside-0000000',
    configurations: { custom_host: emulator.url },
    default_provider_slug: 'inside',
  })
  await call('/v1/chat/completions', workspaceKey, { model: '@inside/gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] })
  for (const at of ['/docs', '/openapi.json', '/v1/health', '/metrics']) await call(at, adminKey)
  // The record of the exchange has gone its whole way.
  await eventually(
    async () => ((await (await call('/v1/logs', workspaceKey)).json()) as { data: unknown[] }).data.length > 0,
    20_000,
    'the log',
  )
  await gatehouse.signal('SIGTERM')
  const { host, port } = gatehouse.database
  t.deepEqual(read(), [`connect ${host}:${port}`, `connect 127.0.0.1:${emulator.port}`].toSorted())
})

interface Installed {
  readonly origin: string
  /** The slug of its organisation. */
  readonly slug: string
  readonly provider: Emulator
  /** Asks, and demands that it is well. */
  readonly call: (at: string, key: string, body?: object) => Promise<Readonly<Record<string, unknown>>>
}

/** Something outside of an installation that its operator tells it of. */
interface Outside {
  readonly env: Readonly<Record<string, string>>
  /** The hosts that are called for it. */
  readonly hosts: readonly string[]
  /** Has the installation use it. */
  readonly use: (t: ExecutionContext, installed: Installed) => Promise<void>
}

const hostOf = (url: string): string => new URL(url).host

async function openIdConnect(t: ExecutionContext): Promise<Outside> {
  const issuer = await startFaultyIssuer()
  t.teardown(() => issuer.close())
  issuer.person = { sub: 'ada', email: 'ada@acme.example', email_verified: true }
  return {
    env: {
      OIDC_ISSUER: issuer.issuer,
      OIDC_CLIENT_ID: 'gatehouse',
      OIDC_CLIENT_SECRET: 'secret-of-the-client',
      OIDC_DOMAINS: 'acme.example',
      OIDC_AUTO_PROVISION: 'ON',
    },
    hosts: [hostOf(issuer.issuer), issuer.keysHost],
    use: async (own, { origin, slug, call }) => {
      const browser = openBrowser(origin)
      const back = await browser.signIn(`/auth/oidc/${slug}/login`)
      own.is(back.status, 303, back.text)
      own.true(browser.cookies.has('__Host-gatehouse'))
      own.like(await call('/v1/admin/organisation/sso/test', adminKey, {}), { ok: true })
    },
  }
}

/** The browser alone goes to a provider of SAML. */
async function saml(): Promise<Outside> {
  const idp = await samlpIdp('https://idp.example')
  return {
    env: { AUTH_SSO_TYPE: 'saml', SAML_METADATA_XML: idp.metadata, SAML_DOMAINS: 'acme.example', SAML_AUTO_PROVISION: 'ON' },
    hosts: [],
    use: async (own, { origin, slug, call }) => {
      const browser = openSamlBrowser(origin)
      const url = await browser.leave(`/auth/saml/${slug}/login`)
      const { text: metadata } = await browser.get(`/auth/saml/${slug}/metadata`)
      const SAMLResponse = await idp.answer(url, metadata, { nameId: 'ada', attributes: { email: ['ada@acme.example'] } })
      const back = await browser.post(`/auth/saml/${slug}/acs`, { SAMLResponse })
      own.is(back.status, 303, back.text)
      own.true(browser.cookies.has('__Host-gatehouse'))
      own.like(await call('/v1/admin/organisation/sso/test', adminKey, {}), { ok: true })
    },
  }
}

/** Has a provider take its key from a secret manager. */
const usesSecret =
  (slug: string, reference: Readonly<Record<string, unknown>>): Outside['use'] =>
  async (t, { provider, call }) => {
    const { id } = await call('/v1/secret-references', adminKey, { name: slug, slug, ...reference })
    await call('/v1/integrations', adminKey, {
      name: slug,
      slug,
      ai_provider_id: 'openai',
      secret_mappings: [{ target_field: 'key', secret_reference_id: id }],
      configurations: { custom_host: provider.url },
      default_provider_slug: slug,
    })
    await call('/v1/chat/completions', workspaceKey, { model: `@${slug}/gpt-4o-mini`, messages: [{ role: 'user', content: 'hello' }] })
    t.is(provider.requests.at(-1)?.headers.authorization, `Bearer sk-of-${slug}`)
    t.like(await call('/v1/secret-references/test', adminKey, reference), { passed: true })
  }

async function vault(t: ExecutionContext): Promise<Outside> {
  const manager = await startFakeVault()
  t.teardown(() => manager.stop())
  manager.put('secret/openai', { api_key: 'sk-of-vault' })
  const auth_config = { vault_auth_type: 'token', vault_addr: manager.url, vault_token: manager.rootToken }
  return {
    env: {},
    hosts: [hostOf(manager.url)],
    use: usesSecret('vault', { manager_type: 'hashicorp_vault', auth_config, secret_path: 'secret/openai', secret_key: 'api_key' }),
  }
}

/** AWS Secrets Manager by a role that STS gives, and Bedrock by the role of the instance. */
async function aws(t: ExecutionContext): Promise<Outside> {
  const [services, instance] = [await startFakeAws(), await startMetadataServices()]
  t.teardown(() => Promise.all([services.stop(), instance.stop()]))
  services.put('openai', { text: 'sk-of-aws' })
  services.know(instance.awsKeys)
  const { url } = services
  const region = { aws_region: 'eu-west-1' }
  const auth_config = {
    ...region,
    aws_auth_type: 'assumedRole',
    aws_role_arn: 'arn:aws:iam::222222222222:role/secrets',
    aws_access_key_id: awsKeys.id,
    aws_secret_access_key: awsKeys.secret,
  }
  const readSecret = usesSecret('aws', { manager_type: 'aws_sm', auth_config, secret_path: 'openai' })
  return {
    env: {
      AWS_ENDPOINT_URL_STS: url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: instance.url,
      CLOUD_IDENTITY_HOSTS: '127.0.0.1',
      CLOUD_IDENTITY_ORGANISATIONS: 'all',
    },
    hosts: [hostOf(url), hostOf(instance.url)],
    use: async (own, installed) => {
      await readSecret(own, installed)
      const configurations = { ...region, aws_auth_type: 'serviceRole', custom_host: url }
      const stored = { name: 'bedrock', slug: 'bedrock', ai_provider_id: 'bedrock', configurations, default_provider_slug: 'bedrock' }
      await installed.call('/v1/integrations', adminKey, stored)
      const answer = await fetch(`${installed.origin}/v1/model/amazon.nova-micro-v1:0/converse`, {
        method: 'POST',
        headers: { 'x-service-api-key': workspaceKey, 'x-service-provider': '@bedrock', 'content-type': 'application/json' },
        body: '{}',
      })
      own.is(answer.status, 200, await answer.text())
      own.true(instance.asked.length > 0)
    },
  }
}

async function azure(t: ExecutionContext): Promise<Outside> {
  const services = await startFakeAzure((form) => form.get('client_secret') === azureApplication.secret)
  t.teardown(() => services.stop())
  services.put('openai', 'sk-of-azure')
  const { url } = services
  const auth_config = {
    azure_auth_mode: 'entra',
    azure_entra_tenant_id: azureApplication.tenant,
    azure_entra_client_id: azureApplication.client,
    azure_entra_client_secret: azureApplication.secret,
    azure_vault_url: url,
  }
  return {
    env: { AZURE_AUTHORITY_HOST: url },
    hosts: [hostOf(url)],
    use: usesSecret('azure', { manager_type: 'azure_kv', auth_config, secret_path: 'openai' }),
  }
}

const installations: Readonly<Record<string, readonly ((t: ExecutionContext) => Promise<Outside>)[]>> = {
  'OpenID Connect and HashiCorp Vault': [openIdConnect, vault],
  'SAML, AWS with the identity of its instance, and Azure Key Vault': [saml, aws, azure],
}

for (const [title, told] of Object.entries(installations))
  test(`${title}: these are called and nobody else`, async (t) => {
    const { env, read } = recording(t)
    const provider = await startEmulator()
    t.teardown(() => provider.stop())
    const outside = await Promise.all(told.map((start) => start(t)))
    const gatehouse = await startGatehouse({
      env: {
        ...env,
        PUBLIC_URL: publicUrl,
        TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
        AUTH_MODE: 'SSO',
        ...Object.assign({}, ...outside.map((one) => one.env)),
      },
    })
    t.teardown(() => gatehouse.stop())
    const call: Installed['call'] = async (at, key, body) => {
      const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
      const answer = await fetch(`${gatehouse.origin}${at}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
      const text = await answer.text()
      t.true(answer.ok, `${at}: ${text}`)
      return JSON.parse(text) as Record<string, unknown>
    }
    const { slug } = await call('/v1/admin/organisation', adminKey)
    for (const one of outside) await one.use(t, { origin: gatehouse.origin, slug: String(slug), provider, call })
    await gatehouse.signal('SIGTERM')
    const { host, port } = gatehouse.database
    const called = [`${host}:${port}`, hostOf(provider.url), ...outside.flatMap(({ hosts }) => hosts)]
    t.deepEqual(read(), called.map((at) => `connect ${at}`).toSorted())
  })
