import { generateKeyPairSync } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { operations } from '../../../src/gateway/operations/operations.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { createCaller, errorOf, headerText, providerHeaders } from '../../support/caller.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { type Gatehouse, startGatehouse } from '../../support/process.ts'
import { addressFields, catalogue, fieldsOf, neededFields, urlFields } from '../../support/routes.ts'
import { rebindingCases, ssrfCorpus, type SsrfCase } from '../../support/ssrf-corpus.ts'
import { startTraps, type Traps } from '../../support/traps.ts'

let emulator: Emulator
let traps: Traps
let gatehouse: Gatehouse
/** Answers with the guard's code so far: each must be in the metric and in the log. */
let refusals = 0

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const dnsOfTheCorpus = new URL('../../support/corpus-dns.ts', import.meta.url).href

test.before(async () => {
  emulator = await startEmulator()
  traps = await startTraps()
  gatehouse = await startGatehouse({
    env: { NODE_OPTIONS: `--import ${dnsOfTheCorpus}`, TRUSTED_CUSTOM_HOSTS: `127.0.0.1:${emulator.port}, 192.0.2.77` },
  })
  await storeBefore()
})
test.after.always(async () => {
  await gatehouse?.stop()
  await traps?.close()
  await emulator?.stop()
})

type Sent = Promise<RawAnswer>
type Fields = Readonly<Record<string, unknown>>
const { call, chat, manage } = createCaller(() => gatehouse.origin)

const account = (tokenUri: string) => ({ client_email: 'a@b', private_key: pem, token_uri: tokenUri })

/** A surface that takes URLs: one request that brings one in. It is stored only if the URL is accepted. */
interface Surface {
  readonly name: string
  readonly inHeader: boolean
  readonly bring: (url: string) => Sent
}

const inHeader = (name: string, bring: Surface['bring']): Surface => ({ name, inHeader: true, bring })
const needed = (id: string): Fields => {
  const found = catalogue.find(([name]) => name === id)
  if (found === undefined) throw new Error(`no provider ${id}`)
  return neededFields(...found)
}

/** Fields of the control plane: the created resource, the provider, and the place of the URL in the configurations. */
const stored: readonly (readonly [field: string, id: string, configure: (url: string) => Fields])[] = [
  ['custom_host', 'openai', (url) => ({ custom_host: url })],
  ...urlFields.map(({ providerId, field }) => [field, providerId, (url: string) => ({ ...needed(providerId), [field]: url })] as const),
  [
    'token_uri',
    'vertex-ai',
    (url) => ({ vertex_auth_type: 'serviceAccount', vertex_region: 'global', vertex_service_account_json: account(url) }),
  ],
]

const createIntegration = (id: string, configurations: Fields) =>
  manage('/integrations', { name: 'evil', ai_provider_id: id, key: 'k', configurations })
const createVirtualKey = (id: string, configurations: Fields) =>
  manage('/virtual-keys', { name: 'evil', provider: id, key: 'k', configurations })

/** Parameters of guardrails' checks. */
const ofChecks = [
  ['default.webhook', 'webhookURL'],
  ['default.jwt', 'jwksUri'],
  ['default.jwt', 'introspectEndpoint'],
  ['promptfoo.guard', 'baseUrl'],
] as const

const createGuardrail = (id: string, parameters: Fields) =>
  manage('/guardrails', { name: 'evil', checks: [{ id, parameters }], actions: { onFail: 'block' } })

const ssoFields = ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'end_session_endpoint'] as const

const identityProvider = {
  type: 'oidc',
  client_id: 'a',
  client_secret: 'b',
  issuer: 'https://login.invalid',
  authorization_endpoint: 'https://login.invalid/authorize',
  token_endpoint: 'https://login.invalid/token',
  jwks_uri: 'https://login.invalid/keys',
}

const surfaces: readonly Surface[] = [
  {
    name: 'jwks_url of the organisation',
    inHeader: false,
    bring: (url) => manage('/admin/organisation', { settings: { jwt: { jwks_url: url } } }, { method: 'PUT' }),
  },
  {
    name: 'base_url of a plugin',
    inHeader: false,
    bring: (url) => manage('/plugins', { plugin: 'sydelabs', credentials: { apiKey: 'k' }, base_url: url }),
  },
  {
    name: 'vault_addr of a secret reference',
    inHeader: false,
    bring: (url) =>
      manage('/secret-references', {
        name: 'evil',
        manager_type: 'hashicorp_vault',
        secret_path: 'secret/team',
        auth_config: { vault_auth_type: 'token', vault_addr: url, vault_token: 't' },
      }),
  },
  ...ssoFields.map((field): Surface => ({
    name: `${field} of an identity provider`,
    inHeader: false,
    bring: (url) => manage('/admin/organisation/sso', { ...identityProvider, [field]: url }, { method: 'PUT' }),
  })),
  {
    name: 'url of a webhook of alerts',
    inHeader: false,
    bring: (url) => manage('/alert-webhooks', { name: 'evil', url }),
  },
  {
    name: 'url of an MCP integration',
    inHeader: false,
    bring: (url) => manage('/mcp-integrations', { name: 'evil', url, transport: 'http', auth_type: 'none' }),
  },
  ...ofChecks.map(([id, field]): Surface => ({
    name: `${field} of a guardrail`,
    inHeader: false,
    bring: (url) => createGuardrail(id, { [field]: url }),
  })),
  inHeader('x-service-custom-host', (url) => call({ 'x-service-provider': 'openai', 'x-service-custom-host': headerText(url) })),
  inHeader('x-portkey-custom-host', (url) => chat({ 'x-portkey-provider': 'anthropic', 'x-portkey-custom-host': headerText(url) })),
  inHeader('token_uri in a header', (url) =>
    call(providerHeaders('vertex-ai', { vertex_service_account_json: JSON.stringify(account(url)) })),
  ),
  ...urlFields.map(({ providerId, field }) =>
    inHeader(`${field} in a header`, (url) => call(providerHeaders(providerId, { ...needed(providerId), [field]: url }))),
  ),
  ...(['custom_host', 'azure_foundry_url', 'huggingface_base_url'] as const).map((field) =>
    inHeader(`${field} of a config in a header`, (url) => call({ 'x-service-config': headerText(JSON.stringify(configWith(field, url))) })),
  ),
  ...(['custom_host', 'azure_foundry_url', 'huggingface_base_url'] as const).map((field): Surface => ({
    name: `${field} of a target of a stored config`,
    inHeader: false,
    bring: (url) => manage('/configs', { name: 'evil', config: { strategy: { mode: 'single' }, targets: [configWith(field, url)] } }),
  })),
  ...stored.flatMap(([field, id, configure]): Surface[] => [
    { name: `${field} of a new integration`, inHeader: false, bring: (url) => createIntegration(id, configure(url)) },
    { name: `${field} of a new virtual key`, inHeader: false, bring: (url) => createVirtualKey(id, configure(url)) },
    {
      name: `${field} of a changed integration`,
      inHeader: false,
      bring: (url) => manage(`/integrations/changed-${field}`, { key: 'k', configurations: configure(url) }, { method: 'PUT' }),
    },
    {
      name: `${field} of a changed virtual key`,
      inHeader: false,
      bring: (url) =>
        manage(`/virtual-keys/changed-${field.replaceAll('_', '-')}`, { key: 'k', configurations: configure(url) }, { method: 'PUT' }),
    },
  ]),
]

const configProviders = { custom_host: 'openai', azure_foundry_url: 'azure-ai', huggingface_base_url: 'huggingface' } as const

function configWith(field: keyof typeof configProviders, url: string): Fields {
  const provider = configProviders[field]
  const { custom_host: _, ...others } = needed(provider)
  return { provider, api_key: 'k', ...others, [field]: url }
}

/** The fields of the changes. */
async function storeBefore(): Promise<void> {
  for (const [field, id, configure] of stored) {
    const configurations = configure('https://before.example/v1')
    const made = [
      await manage('/integrations', { name: field, slug: `changed-${field}`, ai_provider_id: id, key: 'k', configurations }),
      await manage('/virtual-keys', { name: `changed ${field.replaceAll('_', ' ')}`, provider: id, key: 'k', configurations }),
    ]
    for (const { status, text } of made) if (status !== 200) throw new Error(text)
  }
}

const aimable = (why: string) => !['ports of other services', 'one URL, two readings', 'schemes'].includes(why)

/** The URL, aimed at a trap's port where it names none and keeps its trick. */
function aimed({ url, why }: SsrfCase): string {
  const parsed = aimable(why) ? URL.parse(url) : null
  return parsed !== null && parsed.port === '' && parsed.protocol.startsWith('http')
    ? url.replace(/^(\w+:[/\\]*[^/\\?#]+)/, `$1:${traps.port}`)
    : url
}

/** Characters that no header can carry: a client or the parser stops them before us. */
// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const uncarriable = /^$|[\u0000-\u001f\u007f]/

for (const { name, inHeader: carried, bring } of surfaces) {
  test.serial(`${name}: a public URL is taken, none of the corpus is`, async (t) => {
    const welcome = await bring('https://provider.example/v1')
    t.true([200, 502].includes(welcome.status), `${welcome.status} ${welcome.text}`)
    const cases = ssrfCorpus.filter(({ url }) => !carried || !uncarriable.test(url))
    t.true(cases.length >= 120)
    await inParallel(cases, 8, async (entry) => {
      const url = aimed(entry)
      const answer = await bring(url)
      t.is(answer.status, 400, `${JSON.stringify(url.slice(0, 99))} (${entry.why}): ${answer.status} ${answer.text}`)
      const { code, param } = errorOf(answer)
      t.true(['blocked_host', 'invalid_request', 'AB01'].includes(code), `${url}: ${code}`)
      t.truthy(param)
      if (code === 'blocked_host') refusals += 1
    })
    t.is(traps.connections, 0)
  })
}

test('every field of the documents that sounds like an address is among the surfaces', async (t) => {
  const { text } = await send(`${gatehouse.origin}/openapi.json`)
  const known = new Set([
    'x-service-custom-host',
    'provider_endpoint',
    'request_url',
    'url',
    // A filter of the audit trail.
    'uri',
    // A picture of a message, which the provider fetches.
    'image_url',
    // The path of the requests in a batch.
    'endpoint',
    'jwks_url',
    'base_url',
    ...ssoFields,
    // A word.
    'token_endpoint_auth_method',
    // Ours, to which browsers go.
    'acs_url',
    'metadata_url',
    'redirect_uri',
    'login_url',
    'logout_url',
    // A URL of a provider of SAML, to which browsers go: it is not called from here.
    'sso_url',
    // A URL of a provider of OpenID Connect: where it sends browsers on that have signed out there.
    'post_logout_redirect_uri',
    ...Object.keys(configProviders),
    'amzn_sagemaker_target_container_hostname',
    // Names a receiver of alerts.
    'webhook_id',
    // Ours, to a file of ours.
    'signed_url',
    // Stored with a config, and not read.
    'azure_endpoint_name',
    // Bounds the destinations of others, and is not called.
    'allowed_custom_hosts',
    // Ours, as callers see us.
    'public_url',
    // The place where a session was last used.
    'client_address',
    // The url of an MCP integration, in its servers.
    'mcp_integration_url',
    // Where a person signs in at an MCP server, by the browser; it was checked before.
    'authorize_url',
    // The name of a group of resources at an MCP server.
    'uri_template',
    // The kind of a path of ours.
    'callback',
    // A cookie.
    '__Host-gatehouse',
    // The host that vouches for a program, and the one to which its answer goes by the browser.
    'host',
  ])
  const names = new Set(
    [...text.matchAll(/"([\w-]+)":\{|"name":"([\w-]+)"/g)].map(([, property, parameter]) => property ?? parameter ?? ''),
  )
  t.true(names.has('request_url'))
  const addresses = /(?:^|[_-])(?:base)?(?:ur[li]|host|endpoint|webhook|callback|address)s?(?:$|[_-])/i
  t.deepEqual(
    [...names].filter((name) => addresses.test(name) && !known.has(name)),
    [],
  )
})

/** Values that would end a host, leave a path or begin another part of a URL. */
const injections = [
  '127.0.0.1#',
  'x/../y',
  '..',
  'a?b=c',
  'a#b',
  'a%2fb',
  'a\\b',
  'x@127.0.0.1',
  'a:80',
  '[::1]',
  'a b',
  'a..b',
  '.a',
  'a.',
  '\u00e9',
  'a'.repeat(300),
]

for (const { providerId, field, operation } of addressFields.filter(({ field: name }) => !name.endsWith('_url'))) {
  test.serial(`${providerId}: ${field} cannot change where a request goes`, async (t) => {
    const { method, path } = operation === null ? { method: 'GET', path: '/probe' } : operations[operation]
    for (const value of injections) {
      const headers = providerHeaders(providerId, { ...needed(providerId), [field]: value })
      const answer = await (method === 'POST' ? chat(headers) : call(headers, path))
      t.is(answer.status, 400, `${value}: ${answer.status} ${answer.text}`)
      t.is(errorOf(answer).param, field, `${value}: ${answer.text}`)
      if (operation !== null) continue
      const created = await createIntegration(providerId, { ...needed(providerId), [field]: value })
      t.is(created.status, 400, `${value}: ${created.text}`)
      t.is(errorOf(created).param, `configurations.${field}`)
    }
    t.is(traps.connections, 0)
  })
}

/** The parts that signing code puts into addresses of its own. */
const tenant = { azure_auth_mode: 'entra', azure_resource_name: 'r', azure_entra_client_id: 'c', azure_entra_client_secret: 's' }
const role = { aws_access_key_id: 'AKIAEXAMPLE', aws_secret_access_key: 's', aws_role_arn: 'arn:aws:iam::123456789012:role/r' }
for (const [providerId, field, fields] of [
  ['azure-openai', 'azure_entra_tenant_id', tenant],
  ['bedrock', 'aws_region', role],
] as const) {
  test(`${field} cannot change where a token comes from`, async (t) => {
    for (const value of injections.slice(0, -1)) {
      const answer = await call(providerHeaders(providerId, { ...fields, [field]: value }))
      t.is(answer.status, 400, `${value}: ${answer.text}`)
      t.is(errorOf(answer).param, field)
    }
  })
}

test.serial('no field of any provider connects to a trap', async (t) => {
  const places = catalogue.flatMap(([id, provider]) => fieldsOf(id, provider).map((field) => ({ id, field })))
  t.true(places.length > catalogue.length)
  await inParallel(places, 8, async ({ id, field }) => {
    for (const value of [
      `http://127.0.0.1:${traps.port}/`,
      `127.0.0.1:${traps.port}/`,
      `x@127.0.0.2:${traps.port}#`,
      `[::1]:${traps.port}/`,
    ]) {
      const fields = { ...needed(id), aws_access_key_id: 'AKIAEXAMPLE', aws_secret_access_key: 's', [field]: value }
      for (const answer of [await call(providerHeaders(id, fields)), await chat(providerHeaders(id, fields))])
        t.true([400, 502].includes(answer.status), `${id} ${field}=${value}: ${answer.status} ${answer.text}`)
      const slug = `${id}-${field}-${value.length}`.toLowerCase()
      const made = await manage('/integrations', {
        name: slug,
        slug,
        default_provider_slug: slug,
        ai_provider_id: id,
        key: 'k',
        configurations: { ...needed(id), [field]: value },
      })
      if (made.status !== 200) continue
      const used = await call({ 'x-service-provider': `@${slug}` })
      t.true([400, 502].includes(used.status), `${slug}: ${used.status} ${used.text}`)
    }
  })
  t.is(traps.connections, 0)
})

test.serial('a name that turns to a trap after it was stored is refused when it is used', async (t) => {
  for (const [at, { url }] of rebindingCases.entries()) {
    const slug = `rebound-${at}`
    const custom_host = url.replace('/v1', `:${traps.port}/v1`)
    const made = await manage('/integrations', {
      name: slug,
      default_provider_slug: slug,
      ai_provider_id: 'openai',
      key: 'k',
      configurations: { custom_host },
    })
    t.is(made.status, 200, made.text)
  }
  await sleep(1100) // The answers' time to live.
  for (const at of rebindingCases.keys()) {
    const answer = await call({ 'x-service-provider': `@rebound-${at}` })
    t.is(answer.status, 400, answer.text)
    t.is(errorOf(answer).code, 'blocked_host')
    refusals += 1
  }
  t.is(traps.connections, 0)
})

test.serial('a provider that redirects to a trap is neither followed nor passed on', async (t) => {
  const location = `http://127.0.0.1:${traps.port}/`
  const behaviour = { status: 302, headers: { location }, answer: 'empty' } as const
  const remove = emulator.script({ path: '/redirected', behaviour })
  const answer = await call({ 'x-service-provider': 'openai', 'x-service-custom-host': emulator.url }, '/redirected')
  remove()
  t.is(answer.status, 502)
  t.is(answer.headers.location, undefined)
  t.is(traps.connections, 0)
})

test.serial('a stored credential goes nowhere else, however the provider is named', async (t) => {
  const slug = 'bound'
  await manage('/integrations', {
    name: slug,
    default_provider_slug: slug,
    ai_provider_id: 'openai',
    key: 'sk-bound-credential',
    configurations: { custom_host: 'https://elsewhere.example' },
  })
  const elsewhere = { 'x-service-custom-host': emulator.url }
  const ways = [
    call({ ...elsewhere, 'x-service-provider': `@${slug}` }),
    call({ ...elsewhere, 'x-service-virtual-key': slug }),
    call({ ...elsewhere, 'x-portkey-virtual-key': `@${slug}`, 'x-service-provider': 'openai' }),
    chat(elsewhere, { model: `@${slug}/m`, messages: [] }),
  ]
  for (const answer of await Promise.all(ways)) {
    t.is(answer.status, 400, answer.text)
    t.is(errorOf(answer).code, 'blocked_host')
  }
  t.false(JSON.stringify(emulator.requests.map(({ rawHeaders }) => rawHeaders)).includes('sk-bound-credential'))
})

test.after('every refusal of the guard was counted and logged', async (t) => {
  await sleep(1100) // The metrics are rendered once a second.
  const { text } = await send(`${gatehouse.origin}/metrics`)
  const counted = [...text.matchAll(/^gateway_egress_blocked_total\{[^}]*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
  t.true(refusals > 2000, `${refusals}`)
  t.true(counted >= refusals, `${counted} of ${refusals}`)
  t.is(gatehouse.output().split('a URL was refused by the egress guard').length - 1, counted)
  t.is(traps.connections, 0)
})
