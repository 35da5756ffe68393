import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { ConfigError, formatProblems, loadConfig, settingNames, settings, type Problem } from '../../../src/config/index.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-config-'))
test.after.always(() => rmSync(folder, { recursive: true }))

function problemsOf(env: Record<string, string>): readonly Problem[] {
  try {
    loadConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

function file(name: string, content: string): string {
  const at = path.join(folder, name)
  writeFileSync(at, content)
  return at
}

test('an empty environment gives the defaults of the documents', (t) => {
  const config = loadConfig({})
  t.like(config, {
    host: '127.0.0.1',
    port: 8787,
    dataDir: path.resolve('.data'),
    encryptionKey: null,
    workers: 1,
    logLevel: 'info',
    requestTimeoutMs: 600_000,
    streamIdleTimeoutMs: 120_000,
    streamOpensAfterMs: 5000,
    connectTimeoutMs: 10_000,
    maxJsonBytes: 10 * 1024 * 1024,
    drainDelayMs: 0,
    publicUrl: null,
    logRetentionDays: 90,
  })
  t.true(config.database.embedded)
  t.is(config.database.ssl.mode, 'DISABLED')
  t.deepEqual([...config.roles], ['gateway', 'control', 'jobs'])
  t.true(Object.values(config.flags).every(Boolean))
  t.regex(config.version, /^\d+\.\d+\.\d+$/)
})

test('with DB_HOST the given database is used, and the drain waits for load balancers', (t) => {
  const config = loadConfig({ DB_HOST: 'db.example.com', DB_PORT: '6432', DB_PASS: 'pa:ss@/word', DB_SSL: 'verify_ca' })
  t.like(config.database, { embedded: false, host: 'db.example.com', port: 6432, user: 'gatehouse', name: 'gatehouse', poolSize: 12 })
  t.is(config.database.password?.reveal(), 'pa:ss@/word')
  t.is(config.database.ssl.mode, 'VERIFY_CA')
  t.is(config.drainDelayMs, 5_000)
})

const accepts = test.macro(
  (t, name: string, value: string, read: (config: ReturnType<typeof loadConfig>) => unknown, expected: unknown) => {
    t.deepEqual(read(loadConfig({ [name]: value })), expected)
  },
)

test('a bare number is milliseconds', accepts, 'REQUEST_TIMEOUT', '1500', (config) => config.requestTimeoutMs, 1_500)
test('seconds', accepts, 'REQUEST_TIMEOUT', '30s', (config) => config.requestTimeoutMs, 30_000)
test('minutes with a fraction', accepts, 'CACHE_MAX_STALE', '1.5m', (config) => config.cacheMaxStaleMs, 90_000)
test('days', accepts, 'CACHE_MAX_STALE', '1D', (config) => config.cacheMaxStaleMs, 86_400_000)
test('a size with a fraction', accepts, 'MAX_JSON_PAYLOAD_SIZE_IN_MB', '0.5', (config) => config.maxJsonBytes, 524_288)
test('no bodies in logs', accepts, 'MAX_LOG_BODY_SIZE_IN_KB', '0', (config) => config.maxLogBodyBytes, 0)
test('a switch that is off', accepts, 'SCIM_ENABLED', 'off', (config) => config.flags.SCIM_ENABLED, false)
test('a switch that is false', accepts, 'POLICY_ENABLED', 'False', (config) => config.flags.POLICY_ENABLED, false)
test('a switch that is on', accepts, 'POLICY_ENABLED', 'true', (config) => config.flags.POLICY_ENABLED, true)
/** Secrets of proxies as they are, once they are read. */
const proxyOf = ({ proxies }: ReturnType<typeof loadConfig>) => proxies && [proxies.https?.reveal(), proxies.http?.reveal()]
test('a proxy without a scheme', accepts, 'HTTPS_PROXY', 'proxy:3128', proxyOf, ['http://proxy:3128/', undefined])
test('a proxy in the lower case that other programs read', accepts, 'http_proxy', 'http://[::1]:8080/', proxyOf, [
  undefined,
  'http://[::1]:8080/',
])
test('hosts without a proxy alone', accepts, 'no_proxy', '*', proxyOf, null)

test('proxies: the upper-case name goes first, and the list is read with commas and blanks', (t) => {
  const { proxies } = loadConfig({
    https_proxy: 'http://other:1',
    HTTPS_PROXY: 'http://proxy:1',
    no_proxy: ' localhost,.Example.com  10.0.0.0/8,[::1]:80 ',
  })
  t.is(proxies?.https?.reveal(), 'http://proxy:1/')
  t.deepEqual(proxies?.direct, ['localhost', 'example.com', '10.0.0.0/8', '[::1]:80'])
  t.throws(() => loadConfig({ https_proxy: 'socks5://secret@x' }), { message: /HTTPS_PROXY names a proxy of the kind socks5:/ })
})

test('an empty value is absent', accepts, 'PORT', '', (config) => config.port, 8787)
test('blanks around a value', accepts, 'PORT', ' 80 ', (config) => config.port, 80)
test('any free port', accepts, 'PORT', '0', (config) => config.port, 0)
test('an IPv6 address in brackets', accepts, 'HOST', '[::1]', (config) => config.host, '::1')
test('a URL loses its last slash', accepts, 'PUBLIC_URL', 'https://a.example/gw/', (config) => config.publicUrl, 'https://a.example/gw')
test('one role', accepts, 'ROLES', 'gateway', (config) => [...config.roles], ['gateway'])
test('header prefixes', accepts, 'HEADER_ALIASES', 'Portkey, acme,portkey', (config) => config.headerAliases, ['portkey', 'acme'])
test(
  'a malformed encryption key starts sealed, later',
  accepts,
  'ENCRYPTION_KEY',
  'nonsense',
  (config) => config.encryptionKey?.reveal(),
  'nonsense',
)
test(
  'trusted hosts with a port keep it',
  accepts,
  'TRUSTED_CUSTOM_HOSTS',
  'Ollama:11434, *.corp.example:8080, 10.0.0.0/8:5432, [fd00::1]:8080',
  (config) => config.trustedCustomHosts,
  ['ollama:11434', '*.corp.example:8080', '10.0.0.0/8:5432', '[fd00::1]:8080'],
)
test(
  'every form of a trusted host',
  accepts,
  'TRUSTED_CUSTOM_HOSTS',
  'ollama, *.svc.cluster.local,10.0.0.0/8, fd00::/8,192.168.1.7,[::1], A.Example',
  (config) => config.trustedCustomHosts,
  ['ollama', '*.svc.cluster.local', '10.0.0.0/8', 'fd00::/8', '192.168.1.7', '::1', 'a.example'],
)
for (const mode of ['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY', 'MANAGED'] as const) {
  test(`DB_SSL ${mode}`, (t) => t.is(loadConfig({ DB_HOST: 'db', DB_SSL: mode }).database.ssl.mode, mode))
}
test('DB_SSL "Amazon RDS" is the managed mode', (t) =>
  t.is(loadConfig({ DB_HOST: 'db', DB_SSL: 'Amazon RDS' }).database.ssl.mode, 'MANAGED'))

const refuses = test.macro({
  exec: (t, name: string, value: string, fault: RegExp) => {
    const [problem, ...others] = problemsOf({ [name]: value })
    t.deepEqual(others, [])
    t.is(problem?.name, name)
    t.regex(problem?.fault ?? '', fault)
    t.truthy(problem?.example)
  },
  title: (given, name: string, value: string) => given ?? `refuses ${name}=${value.slice(0, 40)}`,
})

test(refuses, 'PORT', 'http', /"http" is not a whole number from 0 to 65535/)
test(refuses, 'PORT', '65536', /whole number/)
test(refuses, 'PORT', '80.5', /whole number/)
test(refuses, 'PORT', '0x50', /whole number/)
test(refuses, 'PORT', '-1', /whole number/)
test(refuses, 'HOST', 'http://localhost', /not a host name/)
test(refuses, 'HOST', '10.0.0.256', /not a host name/)
test(refuses, 'HOST', 'localhost:80', /not a host name/)
test(refuses, 'DB_HOST', 'postgres://db/gatehouse', /not a host name/)
test(refuses, 'DB_PORT', '0', /whole number from 1/)
test(refuses, 'DB_POOL_SIZE', '0', /whole number from 1/)
test(refuses, 'DB_SSL', 'verify-full', /"verify-full" is none of DISABLED, PREFERRED/)
test(refuses, 'DB_SSL_CA', '/no/such/file.pem', /neither PEM text nor the path/)
test(refuses, 'DB_SSL_CA', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /certificate \(number 1\)/)
test(refuses, 'DB_SSL_KEY', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', /no private key/)
test(refuses, 'WORKERS', '0', /whole number from 1/)
test(refuses, 'WORKERS', 'auto', /whole number/)
test(refuses, 'LOG_LEVEL', 'verbose', /none of fatal/)
test(refuses, 'ROLES', 'gateway,web', /"web" is none of gateway, control, jobs/)
test(refuses, 'ROLES', ',', /names no role/)
test(refuses, 'REQUEST_TIMEOUT', 'soon', /"soon" is not a duration/)
test(refuses, 'REQUEST_TIMEOUT', '0', /not between 1 ms/)
test(refuses, 'REQUEST_TIMEOUT', '-5s', /not a duration/)
test(refuses, 'STREAM_IDLE_TIMEOUT', '30d', /24 days/)
test(refuses, 'TERMINATION_GRACE', '1w', /not a duration/)
test(refuses, 'MAX_JSON_PAYLOAD_SIZE_IN_MB', '10MB', /not a number/)
test(refuses, 'MAX_JSON_PAYLOAD_SIZE_IN_MB', '0', /not a number from 0.001/)
test(refuses, 'MAX_UPLOAD_SIZE_IN_MB', '1e99', /not a number/)
test(refuses, 'SCIM_ENABLED', 'nope', /"nope" is none of ON, OFF/)
test(refuses, 'GUARDRAILS_ENABLED', '0', /none of ON, OFF/)
test(refuses, 'PUBLIC_URL', 'gateway.example.com', /not an absolute http/)
test(refuses, 'PUBLIC_URL', 'ftp://gateway.example.com', /not an absolute http/)
test(refuses, 'PUBLIC_URL', 'https://me:hunter2@gateway.example.com', /^holds a user name or a password$/)
test(refuses, 'PUBLIC_URL', 'https://gateway.example.com/?a=1', /query/)
test(refuses, 'TRUSTED_PROXIES', 'proxy.local', /"proxy.local" is not an address or a CIDR/)
test('every wrong item of a list is named', refuses, 'TRUSTED_PROXIES', '10.0.0.0/8,10.0.0.0/33,x', /"10.0.0.0\/33" is not .*; "x" is not/)
test(refuses, 'TRUSTED_CUSTOM_HOSTS', 'https://ollama:11434', /not a host name, a \*\.suffix/)
test(refuses, 'TRUSTED_CUSTOM_HOSTS', 'ollama:70000', /not a host name, a \*\.suffix/)
test(refuses, 'TRUSTED_CUSTOM_HOSTS', '*', /not a host name, a \*\.suffix/)
test(refuses, 'TRUSTED_CUSTOM_HOSTS', 'a.*.example', /not a host name, a \*\.suffix/)
test(refuses, 'HTTPS_PROXY', 'http://', /not the URL of an HTTP proxy/)
test(refuses, 'HTTPS_PROXY', 'proxy:port', /not the URL of an HTTP proxy/)
test(refuses, 'HTTPS_PROXY', 'socks5://proxy:1080', /socks5:/)
test(refuses, 'HTTP_PROXY', 'http://proxy:3128/path', /holds a path/)
test(refuses, 'HTTP_PROXY', 'http://me:50%@proxy:3128', /^holds a user name or a password with a %/)
test(refuses, 'HTTP_PROXY', 'http://a%3Ab:c@proxy:3128', /colon/)
test(refuses, 'NO_PROXY', 'a.example, http://b.example', /"http:\/\/b.example" is not a host name, a .suffix/)
test(refuses, 'NO_PROXY', '10.0.0.0/33', /is not a host name/)
test(refuses, 'NO_PROXY', 'a.*', /is not a host name/)
test(refuses, 'PROXY_NAMES', 'never', /none of checked, pinned, unchecked/)
test(refuses, 'HEADER_ALIASES', 'x-portkey-', /not a word/)
test(refuses, 'HEADER_ALIASES', 'forwarded', /taken/)
test(refuses, 'HEADER_ALIASES', 'service', /taken/)
test(refuses, 'INIT_ADMIN_API_KEY', 'x'.repeat(31), /^has 31 characters, at least 32 are needed$/)
test(refuses, 'INIT_ADMIN_API_KEY', `${'x'.repeat(32)}\n`, /no HTTP header/)
test(refuses, 'INIT_WORKSPACE_API_KEY', `${'x'.repeat(32)}ü`, /no HTTP header/)
test(refuses, 'INIT_WORKSPACE_API_KEY', ` ${'x'.repeat(40)}`, /space/)
test(refuses, 'INIT_ORG_NAME', 'a\u0007b', /control character/)
test(refuses, 'INIT_ORG_NAME', 'a'.repeat(121), /121 characters, at most 120/)
test(refuses, 'LOG_RETENTION_DAYS', '0', /whole number from 1/)
test(refuses, 'LOG_SPOOL_MAX_MB', '0', /not a number from 1/)

test('all problems are reported at once, one line each', (t) => {
  const problems = problemsOf({ PORT: 'x', WORKERS: '0', DB_SSL: 'yes', SCIM_ENABLED: 'no', INIT_ADMIN_API_KEY: 'short' })
  t.deepEqual(problems.map(({ name }) => name).toSorted(), ['DB_SSL', 'INIT_ADMIN_API_KEY', 'PORT', 'SCIM_ENABLED', 'WORKERS'])
  const lines = formatProblems(problems).split('\n')
  t.is(lines.length, 6)
  t.is(lines[0], '5 settings cannot be used:')
  t.is(lines[1], '  PORT "x" is not a whole number from 0 to 65535. Example: PORT=8080')
})

test('the two first keys must differ', (t) => {
  const [problem] = problemsOf({ INIT_ADMIN_API_KEY: 'k'.repeat(32), INIT_WORKSPACE_API_KEY: 'k'.repeat(32) })
  t.deepEqual([problem?.name, problem?.fault], ['INIT_WORKSPACE_API_KEY', 'is the same as INIT_ADMIN_API_KEY'])
})

test('a provider of SAML comes from text or a file, and counts only where the type says so', (t) => {
  const xml = '<EntityDescriptor><IDPSSODescriptor/></EntityDescriptor>'
  for (const SAML_METADATA_XML of [xml, file('idp-metadata.xml', xml)]) {
    const { saml, oidc } = loadConfig({ AUTH_SSO_TYPE: 'saml', SAML_METADATA_XML, OIDC_ISSUER: 'https://login.example.com' })
    t.is(saml?.metadataXml, xml)
    t.is(oidc, null)
  }
  t.is(loadConfig({ SAML_METADATA_XML: xml }).saml, null)
})

const issuer = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'gatehouse', OIDC_CLIENT_SECRET: 's' }

const oidcFaults: readonly (readonly [Readonly<Record<string, string>>, string, string])[] = [
  [
    { ...issuer, OIDC_TOKEN_ENDPOINT: 'https://login.example.com/token' },
    'OIDC_JWKS_URI',
    'is missing although OIDC_TOKEN_ENDPOINT is given',
  ],
  [{ ...issuer, OIDC_CA: 'no certificate' }, 'OIDC_CA', 'is neither PEM text nor the path of a file that can be read'],
]

const samlFaults: readonly (readonly [Readonly<Record<string, string>>, string, string])[] = [
  [{ AUTH_SSO_TYPE: 'saml' }, 'SAML_METADATA_XML', 'is missing although AUTH_SSO_TYPE is saml'],
  [{ SAML_METADATA_XML: '/nowhere/metadata.xml' }, 'SAML_METADATA_XML', 'is neither XML nor the path of a file that can be read'],
  [
    { SAML_METADATA_XML: '<EntityDescriptor/>' },
    'SAML_METADATA_XML',
    'holds no IDPSSODescriptor, so it is no metadata of an identity provider',
  ],
  [{ SAML_SP_KEY: '/nowhere/saml.key' }, 'SAML_SP_KEY', 'is neither PEM text nor the path of a file that can be read'],
]

const ssoFaults = [...samlFaults, ...oidcFaults]

for (const [env, name, fault] of ssoFaults)
  test(`${JSON.stringify(env)}: ${name} ${fault}`, (t) => {
    const problems = problemsOf(env)
    t.deepEqual(
      problems.filter((problem) => problem.name === name).map((problem) => problem.fault),
      [fault],
    )
  })

const pemKeys = new Set(['DB_SSL_KEY', 'TLS_KEY', 'SAML_SP_KEY'])

/** The settings without which a secret cannot be. */
const besideSecret: Partial<Record<string, Readonly<Record<string, string>>>> = {
  AWS_SECRET_ACCESS_KEY: { AWS_ACCESS_KEY_ID: 'a' },
  AWS_SESSION_TOKEN: { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' },
  AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: { AWS_ASSUME_ROLE_ACCESS_KEY_ID: 'a' },
  IDENTITY_HEADER: { IDENTITY_ENDPOINT: 'http://127.0.0.1:4000/msi/token' },
  OIDC_CLIENT_SECRET: { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'gatehouse' },
  OIDC_CLIENT_JWKS: {
    OIDC_ISSUER: 'https://login.example.com',
    OIDC_CLIENTID: 'gatehouse',
    OIDC_TOKEN_ENDPOINT_AUTH_METHOD: 'private_key_jwt',
  },
}

for (const name of settingNames.filter((candidate) => settings[candidate].secret && !pemKeys.has(candidate))) {
  const canary = `canary-${'s'.repeat(40)}`
  const value = name === 'OIDC_CLIENT_JWKS' ? JSON.stringify({ kty: 'EC', d: canary }) : canary
  test(`${name}_FILE gives ${name}, without its last line end`, (t) => {
    const config = loadConfig({
      [`${name}_FILE`]: file(`${name}.txt`, `${value}\r\n`),
      ...besideSecret[name],
      DB_HOST: 'db',
      SMTP_HOST: 'mail',
      LOG_STORE: 'local',
      LOG_STORE_LOCAL_PATH: '/l',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector',
    })
    const { encryptionKey, encryptionKeyPrevious, init, database, mail, metricsToken, logStore, spanExport, identity, oidc, proxies } =
      config
    const read = {
      DB_PASS: database.password,
      HTTPS_PROXY: proxies?.https,
      HTTP_PROXY: proxies?.http,
      OIDC_CLIENT_SECRET: oidc?.clientSecret,
      OIDC_CLIENT_JWKS: oidc?.clientJwks,
      ENCRYPTION_KEY: encryptionKey,
      ENCRYPTION_KEY_PREVIOUS: encryptionKeyPrevious,
      INIT_ADMIN_API_KEY: init.adminApiKey,
      INIT_WORKSPACE_API_KEY: init.workspaceApiKey,
      INIT_OWNER_PASSWORD: init.ownerPassword,
      METRICS_TOKEN: metricsToken,
      SMTP_PASSWORD: mail?.password,
      OTEL_EXPORTER_OTLP_HEADERS: spanExport?.otlpHeaders,
      LOG_STORE_ACCESS_KEY: logStore?.accessKey,
      LOG_STORE_SECRET_KEY: logStore?.secretKey,
      AZURE_STORAGE_KEY: logStore?.accountKey,
      AZURE_ENTRA_CLIENT_SECRET: logStore?.clientSecret,
      AWS_SECRET_ACCESS_KEY: identity.aws.keys?.secretAccessKey,
      AWS_SESSION_TOKEN: identity.aws.keys?.sessionToken,
      AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: identity.aws.assuming?.keys.secretAccessKey,
      IDENTITY_HEADER: identity.azure.endpoint?.header,
    }
    const revealed = new Map(Object.entries(read)).get(name)?.reveal()
    t.is(name.endsWith('_PROXY') ? URL.parse(revealed ?? '')?.host : revealed, value)
  })
  test(`${name} and ${name}_FILE together are refused`, (t) => {
    const [problem, ...others] = problemsOf({ [name]: value, [`${name}_FILE`]: file(`${name}.both`, value) })
    t.deepEqual(others, [])
    t.is(problem?.name, `${name}_FILE`)
    t.regex(problem?.fault ?? '', new RegExp(`although ${name} is`))
  })
}

test('only the last line end of a secret file goes', (t) => {
  t.is(loadConfig({ DB_HOST: 'db', DB_PASS_FILE: file('pass', ' a\n\n') }).database.password?.reveal(), ' a\n')
})

test('a secret file that cannot be read is named without its path', (t) => {
  const [problem] = problemsOf({ DB_PASS_FILE: '/no/such/canary' })
  t.deepEqual([problem?.name, problem?.fault], ['DB_PASS_FILE', 'names a file that cannot be read (ENOENT)'])
  t.is(problemsOf({ DB_PASS_FILE: folder })[0]?.fault, 'names a file that cannot be read (EISDIR)')
  t.is(problemsOf({ DB_PASS_FILE: file('empty', '\n') })[0]?.fault, 'names an empty file')
})

test('no problem holds the value of a secret', (t) => {
  const env = {
    INIT_ADMIN_API_KEY: 'canary-short',
    INIT_WORKSPACE_API_KEY: 'canary-ü-long-enough-for-the-check',
    DB_SSL_KEY: 'canary-no-pem',
    ENCRYPTION_KEY_FILE: '/canary',
  }
  const problems = problemsOf(env)
  t.is(problems.length, 4)
  t.notRegex(formatProblems(problems), /canary/)
})

test('the configuration is frozen, all of it', (t) => {
  const config = loadConfig({})
  const objects = [config, config.database, config.database.ssl, config.init, config.flags, config.trustedProxies, config.roles]
  t.true(objects.every((value) => Object.isFrozen(value)))
  t.throws(() => (config.roles as Set<string>).add('jobs'), { message: /frozen/ })
})

test('a grace that the drain delay uses up is refused', (t) => {
  const [problem] = problemsOf({ DRAIN_DELAY: '10s', TERMINATION_GRACE: '10s' })
  t.deepEqual([problem?.name, problem?.fault], ['TERMINATION_GRACE', 'is not longer than DRAIN_DELAY, so no request could finish'])
})

test('half an identity is refused by the name of the other half', (t) => {
  for (const [given, missing] of [
    ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    ['AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID'],
    ['AWS_ASSUME_ROLE_ACCESS_KEY_ID', 'AWS_ASSUME_ROLE_SECRET_ACCESS_KEY'],
    ['IDENTITY_HEADER', 'IDENTITY_ENDPOINT'],
  ] as const) {
    const [problem, ...others] = problemsOf({ [given]: 'given' })
    t.deepEqual(others, [])
    t.deepEqual([problem?.name, problem?.fault], [missing, `is missing although ${given} is given`])
  }
})

test('metadata services are at link-local and loopback addresses alone', (t) => {
  for (const address of [
    'https://169.254.169.254',
    'http://10.0.0.1',
    'http://8.8.8.8',
    'http://metadata.evil.example',
    'http://user@127.0.0.1',
    'http://[fd00::1]',
  ])
    t.is(problemsOf({ AWS_EC2_METADATA_SERVICE_ENDPOINT: address })[0]?.name, 'AWS_EC2_METADATA_SERVICE_ENDPOINT', address)
  for (const [address, read] of [
    ['169.254.169.254', 'http://169.254.169.254'],
    ['http://[fd00:ec2::254]/', 'http://[fd00:ec2::254]'],
    ['metadata.google.internal', 'http://169.254.169.254'],
    ['http://localhost:8080', 'http://127.0.0.1:8080'],
  ] as const)
    t.is(loadConfig({ GCE_METADATA_HOST: address }).identity.google.instance, read)
})

test('the service for containers is that of ECS by a path, that of EKS by an address; the instance can be left out', (t) => {
  const { aws } = loadConfig({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/x', AWS_EC2_METADATA_DISABLED: 'true' }).identity
  t.deepEqual([aws.container?.url, aws.instance], ['http://169.254.170.2/v2/x', null])
  const { container } = loadConfig({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials' }).identity.aws
  t.is(container?.url, 'http://169.254.170.23/v1/credentials')
})
